// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "alignedbuffer.h"
#include "blockdevice.h"
#include "flashevent.h"
#include "jobmonitor.h"

#include <cstddef>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace burin {

/// Compares chunks of the drive with what they should be, in several workers at once, and keeps what was
/// found. It goes on over what can't be read; what ends the pass goes to the monitor.
class ChunkComparer
{
public:
    /// Whether this is what should be there. Asked once of each chunk that could be read.
    using Matches = std::function<bool(std::span<const std::byte>)>;

    ChunkComparer(BlockDevice& device, JobMonitor& monitor, std::size_t chunkSize);

    /// `range` is the image's part of the chunk, `length` all that is read of it: whole logical blocks.
    void compare(const Range& range, std::size_t length, const Matches& matches);

    // --- when the workers have come home ---

    [[nodiscard]] const std::vector<BadRange>& badRanges() const { return m_badRanges; }
    /// Of the image, that could be read and were compared.
    [[nodiscard]] Bytes bytesCompared() const { return m_bytesCompared; }
    /// Readable or not.
    [[nodiscard]] std::size_t chunksDone() const { return m_chunksDone; }

private:
    [[nodiscard]] Result<std::optional<BadRange>> look(const Range& range, std::span<std::byte> data,
                                                       const Matches& matches);
    [[nodiscard]] Result<void> read(Offset offset, std::span<std::byte> data);
    [[nodiscard]] Result<void> mayGoOn(const FlashError& error);
    [[nodiscard]] AlignedBuffer takeBuffer();

    BlockDevice& m_device;
    JobMonitor& m_monitor;
    std::size_t m_chunkSize;

    std::mutex m_mutex;
    std::vector<AlignedBuffer> m_idle; // one for each worker, in the end
    std::vector<BadRange> m_badRanges;
    Bytes m_bytesCompared = 0;
    std::size_t m_chunksDone = 0;
};

} // namespace burin
