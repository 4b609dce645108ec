// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chunkdigest.h"
#include "flashevent.h"

#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace burin {

/// Finds out from the chunks that came back wrong whether the drive lies about its size. Two kinds are
/// sold: addresses that wrap round (data that belong elsewhere come back) and addresses that lead nowhere
/// (all beyond some point reads as one constant). Not safe to call from several threads at once.
class CounterfeitFinder
{
public:
    CounterfeitFinder(const std::vector<ChunkDigest>& digests, std::size_t chunkSize,
                      std::size_t logicalBlock);

    /// A chunk that differs, and what the drive returned for it.
    void add(std::size_t index, std::span<const std::byte> data);
    /// After the last one. Nothing if the errors look like ordinary ones.
    [[nodiscard]] std::optional<Counterfeit> result() const;

private:
    void lookForOtherData(Offset offset, std::span<const std::byte> data);
    [[nodiscard]] bool allBeyondIsLost() const;

    const std::vector<ChunkDigest>& m_digests;
    std::size_t m_chunkSize;
    std::size_t m_logicalBlock;
    std::unordered_map<std::uint64_t, Offset>
        m_firstBlocks;       // by digest; chunks that begin alike are left out
    Bytes m_period = 0;      // the greatest common divisor of all distances seen
    unsigned m_evidence = 0; // blocks that came back elsewhere; a whole chunk counts for more
    std::vector<bool> m_bad;
    std::vector<bool> m_badConstant;
    Offset m_constantFrom = 0; // in the first bad chunk
    std::optional<std::size_t> m_firstBad;
};

} // namespace burin
