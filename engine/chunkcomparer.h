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

/// A chunk of the drive that is compared, whole logical blocks, and the parts of it that count.
struct ChunkPlace {
    Range chunk{};
    Offset imageEnd = 0; ///< what lies behind it is padding
    std::vector<Range> parts{};

    /// From the first part to the last one, without padding.
    [[nodiscard]] Range extent() const;
};

/// Compares chunks of the drive with what they should be, in several workers at once, and keeps what was
/// found. It goes on over what can't be read; what ends the pass goes to the monitor.
class ChunkComparer
{
public:
    /// Whether this, with zeros between the parts, is what should be there. Asked once of each chunk that
    /// could be read; may write to what is not in the parts.
    using Matches = std::function<bool(std::span<std::byte>)>;

    ChunkComparer(BlockDevice& device, JobMonitor& monitor, std::size_t chunkSize);

    /// Of a place that has parts.
    void compare(const ChunkPlace& place, const Matches& matches);

    // --- when the workers have come home ---

    [[nodiscard]] const std::vector<BadRange>& badRanges() const { return m_badRanges; }
    /// Of the image, that could be read and were compared.
    [[nodiscard]] Bytes bytesCompared() const { return m_bytesCompared; }
    /// Readable or not.
    [[nodiscard]] std::size_t chunksDone() const { return m_chunksDone; }

private:
    [[nodiscard]] Result<std::optional<BadRange>> look(const ChunkPlace& place, std::span<std::byte> data,
                                                       const Matches& matches);
    [[nodiscard]] Result<void> read(const ChunkPlace& place, std::span<std::byte> data);
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
