// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkcomparer.h"

#include "badranges.h"
#include "chunkdigest.h"

#include <utility>

namespace burin {

ChunkComparer::ChunkComparer(BlockDevice& device, JobMonitor& monitor, std::size_t chunkSize)
    : m_device(device), m_monitor(monitor), m_chunkSize(chunkSize)
{
}

AlignedBuffer ChunkComparer::takeBuffer()
{
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_idle.empty()) {
            AlignedBuffer buffer = std::move(m_idle.back());
            m_idle.pop_back();
            return buffer;
        }
    }
    return AlignedBuffer(m_chunkSize);
}

Result<void> ChunkComparer::read(Offset offset, std::span<std::byte> data)
{
    const JobMonitor::InFlight inFlight(m_monitor);
    return m_device.readAt(offset, data);
}

Result<void> ChunkComparer::mayGoOn(const FlashError& error)
{
    // A swapped card answers with errors of its own; which card it is matters more than what it said.
    if (auto same = m_device.checkIdentity(); !same) {
        same.error().offset = error.offset;
        return same;
    }
    return error.code == ErrorCode::ReadBackFailed ? Result<void>() : std::unexpected(error);
}

Result<std::optional<BadRange>> ChunkComparer::look(const Range& range, std::span<std::byte> data,
                                                    const Matches& matches)
{
    auto done = read(range.offset, data);
    if (!done && done.error().code == ErrorCode::ReadBackFailed) {
        done = read(range.offset, data);
    }
    if (!done) {
        if (auto goOn = mayGoOn(done.error()); !goOn) {
            return std::unexpected(goOn.error());
        }
        return BadRange{.range = range, .unreadable = true, .sysErrno = done.error().sysErrno};
    }
    if (matches(data)) {
        return std::nullopt;
    }
    // A second read tells a drive that lost the data from one that misreads. Different it stays.
    const ChunkDigest seen = digestChunk(data, m_device.logicalBlock());
    const auto again = read(range.offset, data);
    if (!again) {
        if (auto goOn = mayGoOn(again.error()); !goOn) {
            return std::unexpected(goOn.error());
        }
    }
    return BadRange{.range = range, .sameAgain = again && digestChunk(data, m_device.logicalBlock()) == seen};
}

void ChunkComparer::compare(const Range& range, std::size_t length, const Matches& matches)
{
    AlignedBuffer buffer = takeBuffer();
    const auto bad = look(range, buffer.span().first(length), matches);
    if (!bad) {
        m_monitor.fail(bad.error());
        return;
    }
    if (*bad) {
        m_monitor.post(RangeDiffered{**bad});
    }
    m_monitor.acknowledge(range.length);
    const std::scoped_lock lock(m_mutex);
    m_idle.push_back(std::move(buffer));
    ++m_chunksDone;
    if (*bad) {
        addBadRange(m_badRanges, **bad);
    }
    if (!*bad || !(*bad)->unreadable) {
        m_bytesCompared += range.length;
    }
}

} // namespace burin
