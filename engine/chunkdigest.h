// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

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
    bool firstBlockConstant = false; ///< one byte over and over: no evidence of anything
    bool constant = false;           ///< the same, of the whole chunk
    std::size_t length = 0;

    bool operator==(const ChunkDigest&) const = default;
};

[[nodiscard]] ChunkDigest digestChunk(std::span<const std::byte> data, std::size_t logicalBlock);
[[nodiscard]] std::uint64_t digestBlock(std::span<const std::byte> block);
[[nodiscard]] bool isConstant(std::span<const std::byte> data);

} // namespace burin
