// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "units.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace burin {

/// An open drive. Every offset, length and buffer address is a multiple of logicalBlock() (buffers: of
/// AlignedBuffer::kAlignment). writeAt and readAt may be called from several threads at once; each
/// transfers all of the span or fails with the offset at which it stopped. Errors: DriveGone (ENODEV,
/// ENXIO, ENOMEDIUM), DriveReadOnly, WriteFailed, ReadBackFailed, FlushFailed.
class BlockDevice
{
public:
    BlockDevice() = default;
    BlockDevice(const BlockDevice&) = delete;
    BlockDevice& operator=(const BlockDevice&) = delete;
    virtual ~BlockDevice() = default;

    /// Bytes that can be written: a multiple of logicalBlock().
    [[nodiscard]] virtual Bytes size() const = 0;
    /// 512 or 4096 (BLKSSZGET).
    [[nodiscard]] virtual std::uint32_t logicalBlock() const = 0;
    [[nodiscard]] virtual Result<void> writeAt(Offset offset, std::span<const std::byte> data) = 0;
    [[nodiscard]] virtual Result<void> readAt(Offset offset, std::span<std::byte> data) = 0;
    /// Asks the drive to empty its own cache (fsync). Returns when the drive has said so.
    [[nodiscard]] virtual Result<void> flush() = 0;
    /// Whether the descriptor still leads to the drive that was opened: a card swapped in a reader keeps
    /// node and descriptor alive. Does no input or output, so it answers while the drive hangs; a drive that
    /// is another one now is watched for up to a second, since it may be about to go. Errors: DriveChanged,
    /// DriveGone.
    [[nodiscard]] virtual Result<void> checkIdentity() = 0;
};

} // namespace burin
