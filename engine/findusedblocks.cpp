// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "freemap.h"
#include "imageprobe.h"
#include "rangelist.h"

#include <algorithm>
#include <array>

namespace burin {

namespace {

// Marks that other systems leave at both ends of a partition (RAID, ZFS, btrfs) must not survive in blocks
// that the new file system doesn't use: they would be found before it.
constexpr Bytes kAlwaysAtEnds = kMiB;

struct Found {
    std::vector<Range> free; ///< of the image
    std::optional<UsedDoubt> doubt;
    bool any = false; ///< a file system that can be read
};

bool isExt(const std::string& name)
{
    static constexpr std::array<std::string_view, 3> kNames{"ext2", "ext3", "ext4"};
    return std::ranges::contains(kNames, name);
}

void look(Found& found, const std::string& fileSystem, const FileRange& image, Range range,
          const std::stop_token& stop)
{
    if (!isExt(fileSystem) && fileSystem != "vfat") {
        return;
    }
    found.any = true;
    const FileRange place = image.part(range);
    const auto free = isExt(fileSystem) ? freeInExt(place, stop) : freeInFat(place, range.offset / 512, stop);
    if (!free) {
        found.doubt = free.error();
        return;
    }
    if (range.length <= 2 * kAlwaysAtEnds) {
        return;
    }
    const Range inner{.offset = kAlwaysAtEnds, .length = range.length - 2 * kAlwaysAtEnds};
    for (const auto& part : partsWithin(*free, inner)) {
        found.free.push_back({.offset = range.offset + part.offset, .length = part.length});
    }
}

/// Partitions, in order, each within the image and none over another.
bool areApart(const std::vector<ImagePartition>& partitions, Bytes size)
{
    Offset end = 0;
    for (const auto& partition : partitions) {
        const Range& range = partition.range;
        if (range.offset < end || range.length == 0 || range.length > size
            || range.offset > size - range.length) {
            return false;
        }
        end = range.end();
    }
    return true;
}

} // namespace

void addFree(std::vector<Range>& free, const Range& run)
{
    if (!free.empty() && free.back().end() == run.offset) {
        free.back().length += run.length;
        return;
    }
    dropShortEnd(free);
    free.push_back(run);
}

void dropShortEnd(std::vector<Range>& free)
{
    if (!free.empty() && free.back().length < kLeastFree) {
        free.pop_back();
    }
}

void findUsedBlocks(ImageInfo& info, const FileRange& place, const std::stop_token& stop)
{
    const Bytes size = place.size();
    const bool unusual = info.isoHybrid || info.fileSystem == "iso9660" || info.claimedEnd > size
        || !areApart(info.partitions, size);
    if (unusual) {
        info.usedDoubt = UsedDoubt::UnusualTable;
        return;
    }
    Found found;
    if (info.table == PartitionTable::None) {
        look(found, info.fileSystem, place, {.offset = 0, .length = size}, stop);
    }
    for (const auto& partition : info.partitions) {
        look(found, partition.fileSystem, place, partition.range, stop);
    }
    if (!found.any) {
        found.doubt = UsedDoubt::NoFileSystem;
    }
    info.usedDoubt = found.doubt;
    if (found.free.empty() || stop.stop_requested()) {
        return;
    }
    UsedBlocks used{.source = UsedBlocksSource::FileSystems, .imageSize = size};
    used.ranges = gapsWithin(found.free, {.offset = 0, .length = size});
    info.used = std::make_shared<const UsedBlocks>(std::move(used));
}

} // namespace burin
