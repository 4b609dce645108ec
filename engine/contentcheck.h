// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "alignedbuffer.h"
#include "blockdevice.h"
#include "chunkpipeline.h"
#include "jobmonitor.h"

#include <mutex>
#include <vector>

namespace burin {

/// Finds out what the drive holds already. Any thread.
class ContentCheck
{
public:
    ContentCheck(BlockDevice& device, JobMonitor& monitor, std::size_t chunkSize)
        : m_device(device), m_monitor(monitor), m_chunkSize(chunkSize)
    {
    }

    /// Whether all that is to be on the drive of this chunk is there. What can't be read is not.
    [[nodiscard]] Result<bool> holds(const ChunkView& chunk);

private:
    [[nodiscard]] Result<bool> holds(const ChunkView& chunk, std::span<std::byte> buffer);

    BlockDevice& m_device;
    JobMonitor& m_monitor;
    std::size_t m_chunkSize;
    std::mutex m_mutex;
    std::vector<AlignedBuffer> m_idle;
};

} // namespace burin
