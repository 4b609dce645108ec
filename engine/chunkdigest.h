// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace burin {

/// What is kept of a chunk for the verify. XXH3-128 is no cryptographic hash: it proves that a drive
/// returned what was written, against every failing or lying drive, not against an enemy who makes drives.
struct ChunkDigest {
    std::array<std::uint64_t, 2> whole{};
    std::uint64_t firstBlock = 0;    ///< of the first logical block: finds data that came back elsewhere
    std::size_t firstBlockAt = 0;    ///< where that block begins in the chunk
    bool firstBlockConstant = false; ///< one byte over and over: no evidence of anything
    bool constant = false;           ///< the same, of the whole chunk
    std::size_t length = 0;          ///< 0: nothing of the chunk has to be on the drive

    /// Of the same bytes, whichever parts counted.
    [[nodiscard]] bool isOfSame(const ChunkDigest& other) const
    {
        return whole == other.whole && length == other.length;
    }
};

[[nodiscard]] ChunkDigest digestChunk(std::span<const std::byte> data, std::size_t logicalBlock);
/// Of a chunk that begins at `offset` and of which only `parts` count: as if there were zeros between them.
[[nodiscard]] ChunkDigest digestParts(std::span<const std::byte> data, Offset offset,
                                      std::span<const Range> parts, std::size_t logicalBlock);
[[nodiscard]] std::uint64_t digestBlock(std::span<const std::byte> block);
[[nodiscard]] bool isConstant(std::span<const std::byte> data);
[[nodiscard]] bool isZero(std::span<const std::byte> data);

} // namespace burin
