// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"
#include "usedblocks.h"

#include <expected>
#include <stop_token>
#include <vector>

namespace burin {

/// The stretches of a file system that it has marked as free, counted from its beginning, in order; only
/// those that are worth leaving out. Whatever isn't as it should be is a doubt, and then nothing is free.
using FreeRanges = std::expected<std::vector<Range>, UsedDoubt>;

/// Shorter ones are passed over: they would be written along (WriteMap::kLeastGap), and so a hostile map
/// can't cost memory.
inline constexpr Bytes kLeastFree = 256 * kKiB;

/// Adds a run behind all others, joined with the last one, which is forgotten if it is short and ended
/// before.
void addFree(std::vector<Range>& free, const Range& run);
void dropShortEnd(std::vector<Range>& free);

/// ext2, ext3 and ext4, through libext2fs.
[[nodiscard]] FreeRanges freeInExt(const FileRange& place, const std::stop_token& stop);
/// FAT12, FAT16 and FAT32. `startSector`: where the partition begins, in blocks of 512 bytes.
[[nodiscard]] FreeRanges freeInFat(const FileRange& place, std::uint64_t startSector,
                                   const std::stop_token& stop);

struct ImageInfo;

/// Fills in what of an image that lies bare at `place` is used, from its partition table and the free maps of
/// its clean file systems. All that isn't known to be free is used: gaps, tables, other file systems.
void findUsedBlocks(ImageInfo& info, const FileRange& place, const std::stop_token& stop);

} // namespace burin
