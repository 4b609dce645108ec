// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The superblock's fields and features: Documentation/filesystems/ext4 of the kernel.
#include "freemap.h"
#include "littleendian.h"

#include <ext2fs/ext2fs.h>

#include <algorithm>
#include <array>
#include <bit>
#include <memory>

namespace burin {

namespace {

constexpr Offset kSuperblockAt = 1024;
// A group is read once or twice; more than this no image of today has, whatever it claims.
constexpr std::uint64_t kMostGroups = 65536;
constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 30U;
constexpr Bytes kMostRead = 2048 * kMiB;

// What doesn't change the meaning of the block bitmap. Left out on purpose: compression, an external
// journal, the multiple-mount block, snapshots, shared blocks, replicas; and what says that the file system
// is not clean: recovery needed, orphans present.
constexpr std::uint32_t kCompat = EXT2_FEATURE_COMPAT_DIR_PREALLOC | EXT2_FEATURE_COMPAT_IMAGIC_INODES
    | EXT3_FEATURE_COMPAT_HAS_JOURNAL | EXT2_FEATURE_COMPAT_EXT_ATTR | EXT2_FEATURE_COMPAT_RESIZE_INODE
    | EXT2_FEATURE_COMPAT_DIR_INDEX | EXT4_FEATURE_COMPAT_SPARSE_SUPER2 | EXT4_FEATURE_COMPAT_FAST_COMMIT
    | EXT4_FEATURE_COMPAT_STABLE_INODES | EXT4_FEATURE_COMPAT_ORPHAN_FILE;
constexpr std::uint32_t kIncompat = EXT2_FEATURE_INCOMPAT_FILETYPE | EXT2_FEATURE_INCOMPAT_META_BG
    | EXT3_FEATURE_INCOMPAT_EXTENTS | EXT4_FEATURE_INCOMPAT_64BIT | EXT4_FEATURE_INCOMPAT_FLEX_BG
    | EXT4_FEATURE_INCOMPAT_EA_INODE | EXT4_FEATURE_INCOMPAT_CSUM_SEED | EXT4_FEATURE_INCOMPAT_LARGEDIR
    | EXT4_FEATURE_INCOMPAT_INLINE_DATA | EXT4_FEATURE_INCOMPAT_ENCRYPT | EXT4_FEATURE_INCOMPAT_CASEFOLD;
constexpr std::uint32_t kReadOnlyCompat = EXT2_FEATURE_RO_COMPAT_SPARSE_SUPER
    | EXT2_FEATURE_RO_COMPAT_LARGE_FILE | EXT4_FEATURE_RO_COMPAT_HUGE_FILE | EXT4_FEATURE_RO_COMPAT_GDT_CSUM
    | EXT4_FEATURE_RO_COMPAT_DIR_NLINK | EXT4_FEATURE_RO_COMPAT_EXTRA_ISIZE | EXT4_FEATURE_RO_COMPAT_QUOTA
    | EXT4_FEATURE_RO_COMPAT_BIGALLOC | EXT4_FEATURE_RO_COMPAT_METADATA_CSUM | EXT4_FEATURE_RO_COMPAT_PROJECT
    | EXT4_FEATURE_RO_COMPAT_VERITY;

/// What libext2fs reads from: a stretch of a file, never more than it may take.
struct Place {
    FileRange range;
    std::stop_token stop;
    Bytes left = kMostRead;
};

// libext2fs opens by a name; the place is handed over beside it.
thread_local Place* openedPlace =
    nullptr; // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): see above

struct Channel {
    struct_io_channel io{};
    Place* place = nullptr;
    std::array<char, 6> name{'i', 'm', 'a', 'g', 'e', 0};
};

errcode_t openChannel(const char* /*name*/, int /*flags*/, io_channel* channel);

errcode_t closeChannel(io_channel channel)
{
    if (--channel->refcount == 0) {
        delete static_cast<Channel*>(channel->private_data);
    }
    return 0;
}

errcode_t setBlockSize(io_channel channel, int size)
{
    channel->block_size = size;
    return 0;
}

errcode_t readBlocks(io_channel channel, unsigned long long block, int count, void* data)
{
    Place& place = *static_cast<Channel*>(channel->private_data)->place;
    const auto blockSize = static_cast<Bytes>(channel->block_size);
    // A negative count is one of bytes.
    const Bytes size = count < 0 ? static_cast<Bytes>(-static_cast<long long>(count))
                                 : static_cast<Bytes>(count) * blockSize;
    if (place.stop.stop_requested() || size > place.left || block > place.range.size() / blockSize) {
        return EXT2_ET_SHORT_READ;
    }
    place.left -= size;
    const std::span out(static_cast<std::byte*>(data), static_cast<std::size_t>(size));
    return place.range.readExactlyAt(block * blockSize, out) ? 0 : EXT2_ET_SHORT_READ;
}

errcode_t readFewBlocks(io_channel channel, unsigned long block, int count, void* data)
{
    return readBlocks(channel, block, count, data);
}

errcode_t refuseToWrite(io_channel /*channel*/, unsigned long /*block*/, int /*count*/, const void* /*data*/)
{
    return EXT2_ET_RO_FILSYS;
}

errcode_t nothingToFlush(io_channel /*channel*/)
{
    return 0;
}

struct_io_manager makeManager()
{
    struct_io_manager manager{};
    manager.magic = EXT2_ET_MAGIC_IO_MANAGER;
    manager.name = "Burin's image reader";
    manager.open = openChannel;
    manager.close = closeChannel;
    manager.set_blksize = setBlockSize;
    manager.read_blk = readFewBlocks;
    manager.write_blk = refuseToWrite;
    manager.flush = nothingToFlush;
    manager.read_blk64 = readBlocks;
    return manager;
}

io_manager ourManager()
{
    static struct_io_manager manager = makeManager();
    return &manager;
}

errcode_t openChannel(const char* /*name*/, int /*flags*/, io_channel* channel)
{
    auto opened = std::make_unique<Channel>();
    opened->place = openedPlace;
    opened->io.magic = EXT2_ET_MAGIC_IO_CHANNEL;
    opened->io.manager = ourManager();
    opened->io.name = opened->name.data();
    opened->io.block_size = 1024;
    opened->io.refcount = 1;
    opened->io.private_data = opened.get();
    *channel = &opened.release()->io;
    return 0;
}

struct FreeFileSystem {
    void operator()(ext2_filsys fs) const noexcept { ext2fs_free(fs); }
};
using FileSystem = std::unique_ptr<struct_ext2_filsys, FreeFileSystem>;

/// Whether the groups are as mke2fs lays them out. libext2fs 1.47 takes others too, and with some of them it
/// writes beyond its bitmap (seen under the address sanitizer).
bool hasSoundGroups(std::span<const std::byte> super)
{
    const auto u16 = [&](std::size_t at) { return littleEndian<std::uint16_t>(super, at); };
    const auto u32 = [&](std::size_t at) { return littleEndian<std::uint32_t>(super, at); };
    const bool bigalloc = (u32(100) & std::uint32_t{EXT4_FEATURE_RO_COMPAT_BIGALLOC}) != 0;
    const bool wide = (u32(96) & std::uint32_t{EXT4_FEATURE_INCOMPAT_64BIT}) != 0;
    const std::uint64_t blockSize = std::uint64_t{1024} << u32(24);
    const std::uint32_t clusterShift = u32(28) - u32(24);
    const std::uint64_t perGroup = u32(32);
    const std::uint64_t clusters = u32(36);
    const std::uint64_t inodes = u32(40);
    const std::uint64_t first = u32(20);
    const bool clustersFit = bigalloc
        ? u32(28) >= u32(24) && clusterShift <= 16 && perGroup == clusters << clusterShift
        : perGroup == clusters && u32(28) == u32(24);
    constexpr std::size_t kInodeSize = 88;
    const std::uint64_t inodeSize = u32(76) == 0 ? 128 : u16(kInodeSize);
    const bool inodesFit = inodes > 0 && inodes <= 8 * blockSize && inodes % 8 == 0 && inodeSize >= 128
        && inodeSize <= blockSize && std::has_single_bit(inodeSize);
    constexpr std::size_t kReserved = 206;
    constexpr std::size_t kFlexShift = 372;
    const auto flexShift = std::to_integer<unsigned>(super[kFlexShift]);
    return clustersFit && inodesFit && clusters >= 256 && clusters <= 8 * blockSize && clusters % 8 == 0
        && (first == 0 || (first == 1 && blockSize == 1024))
        && u16(254)
        == (wide                 ? 64
                : u16(254) == 32 ? 32
                                 : 0)
        && u16(kReserved) <= blockSize / 4 && flexShift < 31;
}

/// What can be said from the superblock alone, so that libext2fs meets no sizes that cost too much.
std::optional<UsedDoubt> doubtIn(std::span<const std::byte> super, Bytes size)
{
    const auto u16 = [&](std::size_t at) { return littleEndian<std::uint16_t>(super, at); };
    const auto u32 = [&](std::size_t at) { return littleEndian<std::uint32_t>(super, at); };
    if (u16(56) != EXT2_SUPER_MAGIC || u32(76) > 1 || u32(24) > 6) {
        return UsedDoubt::Contradiction;
    }
    if ((u32(92) & ~kCompat) != 0
        || (u32(96) & ~(kIncompat | std::uint32_t{EXT3_FEATURE_INCOMPAT_RECOVER})) != 0
        || (u32(100) & ~(kReadOnlyCompat | std::uint32_t{EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT})) != 0) {
        return UsedDoubt::UnknownFeature;
    }
    const bool recover = (u32(96) & std::uint32_t{EXT3_FEATURE_INCOMPAT_RECOVER}) != 0;
    const bool orphans = (u32(100) & std::uint32_t{EXT4_FEATURE_RO_COMPAT_ORPHAN_PRESENT}) != 0;
    constexpr std::size_t kLastOrphan = 232;
    constexpr std::size_t kErrorCount = 404;
    if (u16(58) != EXT2_VALID_FS || recover || orphans || u32(kLastOrphan) != 0 || u32(kErrorCount) != 0) {
        return UsedDoubt::NotClean;
    }
    const bool wide = (u32(96) & std::uint32_t{EXT4_FEATURE_INCOMPAT_64BIT}) != 0;
    const std::uint64_t blocks = u32(4) | (wide ? std::uint64_t{u32(336)} << 32U : 0);
    const Bytes blockSize = Bytes{1024} << u32(24);
    if (blocks == 0 || blocks > kMostBlocks) {
        return blocks == 0 ? UsedDoubt::Contradiction : UsedDoubt::TooLarge;
    }
    const std::uint32_t perGroup = u32(32);
    if (blocks * blockSize > size || u32(20) >= blocks || !hasSoundGroups(super)) {
        return UsedDoubt::Contradiction;
    }
    return blocks / perGroup < kMostGroups ? std::nullopt : std::optional(UsedDoubt::TooLarge);
}

/// Adds the free runs of one group; false if there are more or fewer than the group says.
bool addGroup(ext2_filsys fs, dgrp_t group, std::vector<Range>& free, std::uint64_t& total)
{
    const Bytes blockSize = fs->blocksize;
    const std::uint64_t ratio = std::uint64_t{1} << static_cast<unsigned>(fs->cluster_ratio_bits);
    const blk64_t last = ext2fs_group_last_block2(fs, group);
    std::uint64_t clusters = 0;
    for (blk64_t at = ext2fs_group_first_block2(fs, group); at <= last;) {
        blk64_t begin = 0;
        if (ext2fs_find_first_zero_block_bitmap2(fs->block_map, at, last, &begin) != 0) {
            break;
        }
        blk64_t end = 0;
        if (ext2fs_find_first_set_block_bitmap2(fs->block_map, begin, last, &end) != 0) {
            end = last + 1;
        }
        if (begin < at || end <= begin || end > last + 1) {
            return false;
        }
        clusters += (end - begin + ratio - 1) / ratio;
        addFree(free, {.offset = begin * blockSize, .length = (end - begin) * blockSize});
        at = end;
    }
    total += clusters;
    return clusters == ext2fs_bg_free_blocks_count(fs, group);
}

FreeRanges freeRuns(ext2_filsys fs, const std::stop_token& stop)
{
    std::vector<Range> free;
    std::uint64_t total = 0;
    for (dgrp_t group = 0; group < fs->group_desc_count; ++group) {
        if (stop.stop_requested()) {
            return std::unexpected(UsedDoubt::Interrupted);
        }
        if (!addGroup(fs, group, free, total)) {
            return std::unexpected(UsedDoubt::Contradiction);
        }
    }
    if (ext2fs_free_blocks_count(fs->super) != total << static_cast<unsigned>(fs->cluster_ratio_bits)) {
        return std::unexpected(UsedDoubt::Contradiction);
    }
    dropShortEnd(free);
    return free;
}

} // namespace

FreeRanges freeInExt(const FileRange& range, const std::stop_token& stop)
{
    std::array<std::byte, 1024> super{};
    if (!range.readExactlyAt(kSuperblockAt, super)) {
        return std::unexpected(UsedDoubt::Contradiction);
    }
    if (const auto doubt = doubtIn(super, range.size())) {
        return std::unexpected(*doubt);
    }
    Place place{.range = range, .stop = stop};
    openedPlace = &place;
    ext2_filsys opened = nullptr;
    const errcode_t error = ext2fs_open("image", EXT2_FLAG_64BITS, 0, 0, ourManager(), &opened);
    openedPlace = nullptr;
    const FileSystem fs(error == 0 ? opened : nullptr);
    if (!fs) {
        return std::unexpected(UsedDoubt::Contradiction);
    }
    fs->default_bitmap_type = EXT2FS_BMAP64_BITARRAY; // a tree would grow with a hostile map
    if (ext2fs_read_block_bitmap(fs.get()) != 0) {
        return std::unexpected(stop.stop_requested() ? UsedDoubt::Interrupted : UsedDoubt::Contradiction);
    }
    return freeRuns(fs.get(), stop);
}

} // namespace burin
