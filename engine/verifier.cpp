// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "verifier.h"

#include "chunkcomparer.h"
#include "counterfeitfinder.h"
#include "rangelist.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace burin {

namespace {

/// Goes on with the byte before each gap, so that a drive that loses data isn't hidden by gaps that are zero.
void bridgeGaps(const ChunkPlace& place, std::span<std::byte> data)
{
    for (const auto& gap : gapsWithin(place.parts, place.chunk)) {
        const auto at = static_cast<std::size_t>(gap.offset - place.chunk.offset);
        const auto end = at + static_cast<std::size_t>(gap.length);
        const std::byte like = at > 0 ? data[at - 1] : data[end % data.size()];
        std::ranges::fill(data.subspan(at, end - at), like);
    }
}

class Verifier
{
public:
    Verifier(const FlashPlan& plan, const std::vector<ChunkDigest>& digests, const WriteMap& map,
             Bytes imageSize, BlockDevice& device, JobMonitor& monitor, const std::stop_token& skip)
        : m_plan(plan), m_digests(digests), m_map(map), m_imageSize(imageSize), m_device(device),
          m_monitor(monitor), m_skip(skip), m_comparer(device, monitor, plan.chunkSize)
    {
    }

    Result<ReadBack> run();

private:
    void work();
    void check(std::size_t index);
    [[nodiscard]] bool matches(std::size_t index, const ChunkPlace& place, std::span<std::byte> seen);
    [[nodiscard]] ChunkPlace placeOf(std::size_t index) const;

    const FlashPlan& m_plan;
    const std::vector<ChunkDigest>& m_digests;
    const WriteMap& m_map;
    Bytes m_imageSize;
    BlockDevice& m_device;
    JobMonitor& m_monitor;
    const std::stop_token& m_skip;

    std::atomic<std::size_t> m_next = 0;
    std::atomic<std::size_t> m_leftOut = 0;
    ChunkComparer m_comparer;
    std::mutex m_mutex;
    std::optional<CounterfeitFinder> m_finder;
};

ChunkPlace Verifier::placeOf(std::size_t index) const
{
    const Offset offset = Offset{index} * m_plan.chunkSize;
    const Offset end = alignUp(m_imageSize, m_device.logicalBlock());
    const Range chunk{.offset = offset, .length = std::min<Bytes>(m_plan.chunkSize, end - offset)};
    return {.chunk = chunk, .imageEnd = m_imageSize, .parts = m_map.required(chunk)};
}

bool Verifier::matches(std::size_t index, const ChunkPlace& place, std::span<std::byte> seen)
{
    if (digestParts(seen, place.chunk.offset, place.parts, m_device.logicalBlock())
            .isOfSame(m_digests[index])) {
        return true;
    }
    bridgeGaps(place, seen);
    const std::scoped_lock lock(m_mutex);
    if (!m_finder) {
        m_finder.emplace(m_digests, m_plan.chunkSize, m_device.logicalBlock());
    }
    m_finder->add(index, seen);
    return false;
}

void Verifier::check(std::size_t index)
{
    const ChunkPlace place = placeOf(index);
    if (place.parts.empty()) {
        ++m_leftOut;
        return;
    }
    m_comparer.compare(place, [&](std::span<std::byte> seen) { return matches(index, place, seen); });
}

void Verifier::work()
{
    while (!m_monitor.stopping() && !m_skip.stop_requested()) {
        const std::size_t n = m_next++;
        if (n >= m_digests.size()) {
            return;
        }
        // The first chunk was written last and is read last.
        check(n + 1 < m_digests.size() ? n + 1 : 0);
    }
}

Result<ReadBack> Verifier::run()
{
    if (auto same = m_device.checkIdentity(); !same) {
        return std::unexpected(same.error());
    }
    const auto threads = std::min<std::size_t>(m_plan.depth, m_digests.size());
    if (auto ran = m_monitor.run(JobMonitor::Workers(threads, [this] { work(); })); !ran) {
        return std::unexpected(ran.error());
    }
    if (auto same = m_device.checkIdentity(); !same) {
        return std::unexpected(same.error());
    }
    ReadBack result{.badRanges = m_comparer.badRanges(),
                    .counterfeit = {},
                    .bytesRead = m_comparer.bytesCompared(),
                    .chunks = m_comparer.chunksDone(),
                    .complete = m_comparer.chunksDone() + m_leftOut == m_digests.size()};
    if (m_finder) {
        result.counterfeit = m_finder->result();
    }
    return result;
}

} // namespace

Result<ReadBack> readBack(const FlashPlan& plan, const std::vector<ChunkDigest>& digests, const WriteMap& map,
                          Bytes imageSize, BlockDevice& device, JobMonitor& monitor,
                          const std::stop_token& skip)
{
    return Verifier(plan, digests, map, imageSize, device, monitor, skip).run();
}

} // namespace burin
