// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockdevice.h"
#include "jobmonitor.h"

namespace burin {

/// Writes, and tries again a few times with growing delay where the drive reports an I/O error that may
/// pass. Errors that can't (gone, read-only, full) and a drive that is not the same any more end it at once.
[[nodiscard]] Result<void> writeWithRetries(BlockDevice& device, JobMonitor& monitor, Offset offset,
                                            std::span<const std::byte> data);

/// Zeroes the first and the last MiB (or all of a smaller drive): old partition tables, the backup GPT and
/// most file systems' marks lie there.
[[nodiscard]] Result<void> clearEnds(BlockDevice& device, JobMonitor& monitor);

/// Zeroes what of the drive's last MiB lies behind the image, if it isn't zero already. True if it was
/// written.
[[nodiscard]] Result<bool> clearEndBehind(BlockDevice& device, JobMonitor& monitor, Bytes imageSize);

} // namespace burin
