// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "verifier.h"

#include "alignedbuffer.h"
#include "badranges.h"
#include "counterfeitfinder.h"

#include <algorithm>
#include <atomic>
#include <mutex>

namespace burin {

namespace {

class Verifier
{
public:
    Verifier(const FlashPlan& plan, const std::vector<ChunkDigest>& digests, Bytes imageSize,
             BlockDevice& device, JobMonitor& monitor, const std::stop_token& skip)
        : m_plan(plan), m_digests(digests), m_imageSize(imageSize), m_device(device), m_monitor(monitor),
          m_skip(skip)
    {
    }

    Result<ReadBack> run();

private:
    void work();
    void check(std::size_t index, std::span<std::byte> buffer);
    [[nodiscard]] Result<void> read(std::size_t index, std::span<std::byte> data);
    void differs(std::size_t index, std::span<std::byte> data, const ChunkDigest& seen);
    void add(std::size_t index, BadRange bad);
    [[nodiscard]] Range rangeOf(std::size_t index) const;

    const FlashPlan& m_plan;
    const std::vector<ChunkDigest>& m_digests;
    Bytes m_imageSize;
    BlockDevice& m_device;
    JobMonitor& m_monitor;
    const std::stop_token& m_skip;

    std::atomic<std::size_t> m_next = 0;
    std::mutex m_mutex;
    ReadBack m_result;
    std::size_t m_checked = 0;
    std::optional<CounterfeitFinder> m_finder;
};

Range Verifier::rangeOf(std::size_t index) const
{
    const Offset offset = Offset{index} * m_plan.chunkSize;
    return {.offset = offset, .length = std::min<Bytes>(m_plan.chunkSize, m_imageSize - offset)};
}

Result<void> Verifier::read(std::size_t index, std::span<std::byte> data)
{
    const JobMonitor::InFlight inFlight(m_monitor);
    return m_device.readAt(Offset{index} * m_plan.chunkSize, data);
}

void Verifier::add(std::size_t index, BadRange bad)
{
    bad.range = rangeOf(index);
    const std::scoped_lock lock(m_mutex);
    addBadRange(m_result.badRanges, bad);
    m_monitor.post(RangeDiffered{bad});
}

void Verifier::differs(std::size_t index, std::span<std::byte> data, const ChunkDigest& seen)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_finder) {
            m_finder.emplace(m_digests, m_plan.chunkSize, m_device.logicalBlock());
        }
        m_finder->add(index, data);
    }
    // A second read tells a drive that lost the data from one that misreads. Different it stays.
    const bool again = read(index, data) && digestChunk(data, m_device.logicalBlock()) == seen;
    add(index, {.sameAgain = again});
}

void Verifier::check(std::size_t index, std::span<std::byte> buffer)
{
    const ChunkDigest& wanted = m_digests[index];
    const auto data = buffer.first(wanted.length);
    auto done = read(index, data);
    if (!done && done.error().code == ErrorCode::ReadBackFailed) {
        done = read(index, data);
    }
    if (!done) {
        if (auto same = m_device.checkIdentity(); !same) {
            m_monitor.fail(same.error());
            return;
        }
        if (done.error().code != ErrorCode::ReadBackFailed) {
            m_monitor.fail(done.error());
            return;
        }
        add(index, {.unreadable = true, .sysErrno = done.error().sysErrno});
        m_monitor.acknowledge(rangeOf(index).length);
        const std::scoped_lock lock(m_mutex);
        ++m_checked;
        return;
    }
    if (const auto seen = digestChunk(data, m_device.logicalBlock()); seen != wanted) {
        differs(index, data, seen);
    }
    const Range range = rangeOf(index);
    m_monitor.acknowledge(range.length);
    const std::scoped_lock lock(m_mutex);
    m_result.bytesRead += range.length;
    ++m_checked;
}

void Verifier::work()
{
    const AlignedBuffer buffer(m_plan.chunkSize);
    while (!m_monitor.stopping() && !m_skip.stop_requested()) {
        const std::size_t n = m_next++;
        if (n >= m_digests.size()) {
            return;
        }
        // The first chunk was written last and is read last.
        check(n + 1 < m_digests.size() ? n + 1 : 0, buffer.span());
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
    m_result.complete = m_checked == m_digests.size();
    if (m_finder) {
        m_result.counterfeit = m_finder->result();
    }
    return m_result;
}

} // namespace

Result<ReadBack> readBack(const FlashPlan& plan, const std::vector<ChunkDigest>& digests, Bytes imageSize,
                          BlockDevice& device, JobMonitor& monitor, const std::stop_token& skip)
{
    return Verifier(plan, digests, imageSize, device, monitor, skip).run();
}

} // namespace burin
