// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "counterfeitfinder.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

namespace burin {

CounterfeitFinder::CounterfeitFinder(const std::vector<ChunkDigest>& digests, std::size_t chunkSize,
                                     std::size_t logicalBlock)
    : m_digests(digests), m_chunkSize(chunkSize), m_logicalBlock(logicalBlock), m_bad(digests.size()),
      m_badConstant(digests.size())
{
    std::unordered_set<std::uint64_t> ambiguous;
    for (std::size_t i = 0; i < digests.size(); ++i) {
        const ChunkDigest& digest = digests[i];
        if (digest.length == 0 || digest.firstBlockConstant) {
            continue;
        }
        if (!m_firstBlocks.emplace(digest.firstBlock, Offset{i} * chunkSize + digest.firstBlockAt).second) {
            ambiguous.insert(digest.firstBlock);
        }
    }
    for (const auto digest : ambiguous) {
        m_firstBlocks.erase(digest);
    }
}

void CounterfeitFinder::add(std::size_t index, std::span<const std::byte> data)
{
    const Offset offset = Offset{index} * m_chunkSize;
    m_bad[index] = true;
    m_badConstant[index] = isConstant(data);
    if (!m_firstBad || index < *m_firstBad) {
        m_firstBad = index;
        // How far back from the chunk's end everything is the same byte.
        const auto last = data.back();
        const auto run =
            std::ranges::find_if(data.rbegin(), data.rend(), [last](std::byte b) { return b != last; });
        const auto constant = static_cast<std::size_t>(run - data.rbegin());
        m_constantFrom =
            offset + (data.size() - constant + m_logicalBlock - 1) / m_logicalBlock * m_logicalBlock;
    }
    lookForOtherData(offset, data);
}

void CounterfeitFinder::lookForOtherData(Offset offset, std::span<const std::byte> data)
{
    for (std::size_t at = 0; at + m_logicalBlock <= data.size(); at += m_logicalBlock) {
        const auto block = data.subspan(at, m_logicalBlock);
        if (isConstant(block)) {
            continue;
        }
        const auto found = m_firstBlocks.find(digestBlock(block));
        const Offset here = offset + at;
        if (found == m_firstBlocks.end() || found->second == here) {
            continue;
        }
        const Bytes distance = std::max(found->second, here) - std::min(found->second, here);
        m_period = std::gcd(m_period, distance);
        ++m_evidence;
        const auto index = static_cast<std::size_t>(found->second / m_chunkSize);
        if (at == 0 && digestChunk(data, m_logicalBlock).isOfSame(m_digests[index])) {
            ++m_evidence;
        }
    }
}

/// From the first bad chunk on, whatever is not constant in the image reads as a constant.
bool CounterfeitFinder::allBeyondIsLost() const
{
    for (std::size_t i = *m_firstBad; i < m_digests.size(); ++i) {
        const bool good = !m_bad[i] && (m_digests[i].constant || m_digests[i].length == 0);
        const bool lost = m_bad[i] && (m_badConstant[i] || (i == *m_firstBad && i + 1 < m_digests.size()));
        if (!good && !lost) {
            return false;
        }
    }
    return m_constantFrom < Offset{*m_firstBad + 1} * m_chunkSize;
}

std::optional<Counterfeit> CounterfeitFinder::result() const
{
    // One block alone may be left from an earlier, similar image.
    if (m_evidence > 1) {
        return Counterfeit{.likelySize = m_period, .wraps = true};
    }
    if (m_firstBad && allBeyondIsLost()) {
        return Counterfeit{.likelySize = m_constantFrom, .wraps = false};
    }
    return {};
}

} // namespace burin
