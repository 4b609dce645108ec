// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "writer.h"

#include "alignedbuffer.h"
#include "chunkdigest.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

namespace burin {

using namespace std::chrono_literals;

Result<void> writeWithRetries(BlockDevice& device, JobMonitor& monitor, Offset offset,
                              std::span<const std::byte> data)
{
    static constexpr std::array<std::chrono::milliseconds, 3> kDelays{200ms, 800ms, 2400ms};
    for (std::size_t tries = 0;; ++tries) {
        // Two ioctls beside a write of 4 MiB: nothing goes to a card that was swapped in meanwhile.
        if (auto same = device.checkIdentity(); !same) {
            same.error().offset = offset;
            return same;
        }
        auto written = [&] {
            const JobMonitor::InFlight inFlight(monitor);
            return device.writeAt(offset, data);
        }();
        if (written) {
            return written;
        }
        // A swapped card answers with errors of its own; which card it is matters more than what it said.
        if (auto same = device.checkIdentity(); !same) {
            same.error().offset = written.error().offset;
            return same;
        }
        const FlashError& error = written.error();
        const bool mayPass = error.code == ErrorCode::WriteFailed && error.sysErrno == EIO;
        if (!mayPass || tries == kDelays.size()) {
            return written;
        }
        monitor.post(Retrying{.offset = error.offset.value_or(offset), .sysErrno = error.sysErrno});
        if (!monitor.pause(kDelays.at(tries))) {
            return monitor.cancelled() ? Result<void>() : written;
        }
    }
}

Result<void> clearEnds(BlockDevice& device, JobMonitor& monitor)
{
    const auto length = static_cast<std::size_t>(std::min<Bytes>(kMiB, device.size()));
    const AlignedBuffer zeros(length);
    const Offset last = alignDown(device.size() - length, device.logicalBlock());
    if (auto cleared = writeWithRetries(device, monitor, 0, zeros.span()); !cleared) {
        return cleared;
    }
    return writeWithRetries(device, monitor, last, zeros.span());
}

Result<bool> clearEndBehind(BlockDevice& device, JobMonitor& monitor, Bytes imageSize)
{
    const Bytes length = std::min<Bytes>(kMiB, device.size());
    const Offset begin = std::max(alignDown(device.size() - length, device.logicalBlock()),
                                  alignUp(imageSize, device.logicalBlock()));
    if (begin >= device.size()) {
        return false;
    }
    const AlignedBuffer buffer(static_cast<std::size_t>(device.size() - begin));
    const auto read = [&] {
        const JobMonitor::InFlight inFlight(monitor);
        return device.readAt(begin, buffer.span());
    }();
    if (!read && read.error().code != ErrorCode::ReadBackFailed) {
        return std::unexpected(read.error());
    }
    if (read && isZero(buffer.span())) {
        return false;
    }
    std::ranges::fill(buffer.span(), std::byte{0});
    if (auto cleared = writeWithRetries(device, monitor, begin, buffer.span()); !cleared) {
        return std::unexpected(cleared.error());
    }
    return true;
}

} // namespace burin
