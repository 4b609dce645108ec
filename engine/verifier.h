// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockdevice.h"
#include "chunkdigest.h"
#include "flashjob.h"
#include "jobmonitor.h"
#include "writemap.h"

#include <optional>
#include <stop_token>
#include <vector>

namespace burin {

/// What reading the drive back has shown.
struct ReadBack {
    std::vector<BadRange> badRanges;
    std::optional<Counterfeit> counterfeit;
    Bytes bytesRead = 0;    ///< of the image, that were compared
    std::size_t chunks = 0; ///< that were looked at
    bool complete = false;  ///< all that `map` requires was looked at
};

/// Reads every chunk that `map` requires back from the drive, the first one last, and compares it with its
/// digest. Goes on to the end whatever it finds; only a drive that is gone or changed, a cancel or `skip` end
/// it early.
[[nodiscard]] Result<ReadBack> readBack(const FlashPlan& plan, const std::vector<ChunkDigest>& digests,
                                        const WriteMap& map, Bytes imageSize, BlockDevice& device,
                                        JobMonitor& monitor, const std::stop_token& skip);

} // namespace burin
