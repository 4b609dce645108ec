// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkcomparer.h"

#include "badranges.h"
#include "chunkdigest.h"
#include "rangelist.h"

#include <algorithm>
#include <utility>

namespace burin {

Range ChunkPlace::extent() const
{
    const Offset begin = parts.front().offset;
    return {.offset = begin, .length = std::min(parts.back().end(), imageEnd) - begin};
}

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

Result<void> ChunkComparer::read(const ChunkPlace& place, std::span<std::byte> data)
{
    const JobMonitor::InFlight inFlight(m_monitor);
    const auto bytes = [&](const Range& range) {
        return data.subspan(static_cast<std::size_t>(range.offset - place.chunk.offset),
                            static_cast<std::size_t>(range.length));
    };
    for (const auto& gap : gapsWithin(place.parts, place.chunk)) {
        std::ranges::fill(bytes(gap), std::byte{0});
    }
    for (const auto& part : place.parts) {
        if (auto done = m_device.readAt(part.offset, bytes(part)); !done) {
            return done;
        }
    }
    return {};
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

Result<std::optional<BadRange>> ChunkComparer::look(const ChunkPlace& place, std::span<std::byte> data,
                                                    const Matches& matches)
{
    auto done = read(place, data);
    if (!done && done.error().code == ErrorCode::ReadBackFailed) {
        done = read(place, data);
    }
    if (!done) {
        if (auto goOn = mayGoOn(done.error()); !goOn) {
            return std::unexpected(goOn.error());
        }
        return BadRange{.range = place.extent(), .unreadable = true, .sysErrno = done.error().sysErrno};
    }
    if (matches(data)) {
        return std::nullopt;
    }
    // A second read tells a drive that lost the data from one that misreads. Different it stays.
    const auto digest = [&] {
        return digestParts(data, place.chunk.offset, place.parts, m_device.logicalBlock());
    };
    const ChunkDigest seen = digest();
    const auto again = read(place, data);
    if (!again) {
        if (auto goOn = mayGoOn(again.error()); !goOn) {
            return std::unexpected(goOn.error());
        }
    }
    return BadRange{.range = place.extent(), .sameAgain = again && digest().isOfSame(seen)};
}

void ChunkComparer::compare(const ChunkPlace& place, const Matches& matches)
{
    AlignedBuffer buffer = takeBuffer();
    const Bytes length = totalLength(partsWithin(place.parts, {.offset = 0, .length = place.imageEnd}));
    const auto bad = look(place, buffer.span().first(static_cast<std::size_t>(place.chunk.length)), matches);
    if (!bad) {
        m_monitor.fail(bad.error());
        return;
    }
    if (*bad) {
        m_monitor.post(RangeDiffered{**bad});
    }
    m_monitor.acknowledge(length);
    const std::scoped_lock lock(m_mutex);
    m_idle.push_back(std::move(buffer));
    ++m_chunksDone;
    if (*bad) {
        addBadRange(m_badRanges, **bad);
    }
    if (!*bad || !(*bad)->unreadable) {
        m_bytesCompared += length;
    }
}

} // namespace burin
