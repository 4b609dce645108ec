// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Microsoft's "FAT32 File System Specification" 1.03: the boot sector in chapter 3, the FAT in 4, FSInfo
// in 5. Linux keeps a "dirty" bit of its own in the boot sector (fs/fat/inode.c, fat_set_state).
#include "freemap.h"
#include "littleendian.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>

namespace burin {

namespace {

constexpr std::uint64_t kMostClusters = std::uint64_t{1} << 26U;
constexpr std::uint32_t kLeastClusters16 = 4085;
constexpr std::uint32_t kLeastClusters32 = 65525;

struct Shape {
    Bytes sector = 0;
    Bytes cluster = 0;
    std::uint32_t fats = 0;
    Bytes fatSize = 0;
    Offset fatAt = 0;
    Offset dataAt = 0;
    std::uint32_t clusters = 0;
    unsigned bits = 0; ///< 12, 16 or 32
    Offset infoAt = 0; ///< FSInfo, 0 for none
    Bytes end = 0;     ///< of all sectors
};

std::unexpected<UsedDoubt> odd()
{
    return std::unexpected(UsedDoubt::Contradiction);
}

/// The fields that only FAT32 has.
std::optional<UsedDoubt> readWide(std::span<const std::byte> boot, Shape& shape)
{
    const auto u16 = [&](std::size_t at) { return littleEndian<std::uint16_t>(boot, at); };
    const auto flags = u16(40);
    if (u16(42) != 0 || (flags & 0x80U) != 0) { // another version, or FATs that are not mirrored
        return UsedDoubt::UnknownFeature;
    }
    if (const auto root = littleEndian<std::uint32_t>(boot, 44); root < 2 || root - 2 >= shape.clusters) {
        return UsedDoubt::Contradiction;
    }
    const auto info = u16(48);
    shape.infoAt = info == 0 || info == 0xffff ? 0 : info * shape.sector;
    return {};
}

/// What every FAT's first sector says, as numbers. Microsoft, "FAT: General Overview of On-Disk
/// Format", 1.03.
struct Boot {
    Bytes sector = 0;
    Bytes perCluster = 0;
    Bytes reserved = 0;
    std::uint32_t fats = 0;
    Bytes rootBytes = 0;
    Bytes sectors = 0;
    Bytes fatSectors = 0;
    std::uint32_t sectorsBefore = 0;
    bool marked = false;   ///< the jump, the media byte and the end mark are there
    bool saysWide = false; ///< the fields are FAT32's
    std::uint32_t state = 0;

    explicit Boot(std::span<const std::byte> bytes)
    {
        const auto u8 = [&](std::size_t at) { return std::to_integer<std::uint32_t>(bytes[at]); };
        const auto u16 = [&](std::size_t at) { return littleEndian<std::uint16_t>(bytes, at); };
        const auto u32 = [&](std::size_t at) { return littleEndian<std::uint32_t>(bytes, at); };
        sector = u16(11);
        perCluster = u8(13);
        reserved = u16(14);
        fats = u8(16);
        rootBytes = Bytes{u16(17)} * 32;
        sectors = u16(19) != 0 ? u16(19) : u32(32);
        fatSectors = u16(22) != 0 ? u16(22) : u32(36);
        sectorsBefore = u32(28);
        marked = (u8(0) == 0xeb || u8(0) == 0xe9) && u8(21) >= 0xf0 && u16(510) == 0xaa55;
        saysWide = u16(22) == 0 && rootBytes == 0;
        state = u8(saysWide ? 65 : 37);
    }

    [[nodiscard]] bool sane() const
    {
        return marked && std::has_single_bit(sector) && sector >= 512 && sector <= 4096
            && std::has_single_bit(perCluster) && reserved != 0 && fats >= 1 && fats <= 2 && fatSectors != 0
            && rootBytes % sector == 0;
    }
};

std::expected<Shape, UsedDoubt> readShape(std::span<const std::byte> bytes, Bytes size,
                                          std::uint64_t startSector)
{
    const Boot boot(bytes);
    if (!boot.sane()) {
        return odd();
    }
    // What a BIOS adds to find the partition: 0 from tools that format a file.
    if (boot.sectorsBefore != 0 && boot.sectorsBefore * (boot.sector / 512) != startSector) {
        return odd();
    }
    Shape shape{.sector = boot.sector, .fats = boot.fats};
    shape.cluster = boot.perCluster * shape.sector;
    shape.fatAt = boot.reserved * shape.sector;
    shape.fatSize = boot.fatSectors * shape.sector;
    shape.dataAt = shape.fatAt + shape.fats * shape.fatSize + boot.rootBytes;
    shape.end = boot.sectors * shape.sector;
    if (shape.end > size || shape.dataAt >= shape.end) {
        return odd();
    }
    const std::uint64_t clusters = (shape.end - shape.dataAt) / shape.cluster;
    if (clusters > kMostClusters) {
        return std::unexpected(UsedDoubt::TooLarge);
    }
    shape.clusters = static_cast<std::uint32_t>(clusters);
    shape.bits = clusters < kLeastClusters16 ? 12 : clusters < kLeastClusters32 ? 16 : 32;
    if (shape.clusters == 0 || boot.saysWide != (shape.bits == 32)
        || (clusters + 2) * shape.bits > shape.fatSize * 8) {
        return odd();
    }
    if (boot.saysWide) {
        if (const auto doubt = readWide(bytes, shape)) {
            return std::unexpected(*doubt);
        }
    }
    if ((boot.state & 3U) != 0) {
        return std::unexpected(UsedDoubt::NotClean);
    }
    return shape;
}

/// Reads the entries of a FAT one after the other, and compares its mirror as it goes.
class FatReader
{
public:
    FatReader(const FileRange& place, const Shape& shape) : m_place(place), m_shape(shape) { }

    /// Nothing if it can't be read or the mirror differs.
    [[nodiscard]] std::optional<std::uint32_t> entry(std::uint32_t number)
    {
        const Offset at = Offset{number} * m_shape.bits / 8;
        const std::size_t size = m_shape.bits == 32 ? 4 : 2;
        if (at < m_from || at + size > m_from + m_window.size()) {
            if (!load(alignDown(at, kStep))) {
                return {};
            }
        }
        const auto within = static_cast<std::size_t>(at - m_from);
        if (within + size > m_window.size()) {
            return {};
        }
        if (m_shape.bits == 32) {
            return littleEndian<std::uint32_t>(m_window, within) & 0x0fffffffU;
        }
        const std::uint32_t pair = littleEndian<std::uint16_t>(m_window, within);
        return m_shape.bits == 16 ? pair : (number % 2 == 0 ? pair & 0xfffU : pair >> 4U);
    }

private:
    static constexpr Bytes kStep = 64 * kKiB;

    [[nodiscard]] bool load(Offset from)
    {
        // An entry of 12 bits may lie across two steps.
        const auto size = static_cast<std::size_t>(std::min<Bytes>(kStep + 2, m_shape.fatSize - from));
        m_window.resize(size);
        m_from = from;
        if (!m_place.readExactlyAt(m_shape.fatAt + from, m_window)) {
            return false;
        }
        std::vector<std::byte> mirror(size);
        return m_shape.fats == 1
            || (m_place.readExactlyAt(m_shape.fatAt + m_shape.fatSize + from, mirror) && mirror == m_window);
    }

    const FileRange& m_place;
    const Shape& m_shape;
    std::vector<std::byte> m_window;
    Offset m_from = 0;
};

/// The first two entries hold the medium's byte and, but in FAT12, whether the volume was unmounted.
std::optional<UsedDoubt> doubtInHead(FatReader& fat, const Shape& shape, std::uint32_t media)
{
    const auto first = fat.entry(0);
    const auto second = fat.entry(1);
    const std::uint32_t ones = shape.bits == 32 ? 0x0fffffffU : (1U << shape.bits) - 1;
    if (!first || !second || *first != ((ones & ~0xffU) | media)) {
        return UsedDoubt::Contradiction;
    }
    const std::uint32_t clean = shape.bits == 32 ? 0x0c000000U : shape.bits == 16 ? 0xc000U : 0U;
    return (*second & clean) == clean ? std::nullopt : std::optional(UsedDoubt::NotClean);
}

/// FSInfo, where there is one, must count as many free clusters, or say that it doesn't know.
bool agrees(const FileRange& place, const Shape& shape, std::uint32_t free)
{
    if (shape.infoAt == 0) {
        return true;
    }
    std::array<std::byte, 512> info{};
    if (!place.readExactlyAt(shape.infoAt, info) || littleEndian<std::uint32_t>(info, 0) != 0x41615252
        || littleEndian<std::uint32_t>(info, 484) != 0x61417272) {
        return false;
    }
    const auto count = littleEndian<std::uint32_t>(info, 488);
    return count == free || count == 0xffffffff;
}

} // namespace

FreeRanges freeInFat(const FileRange& place, std::uint64_t startSector, const std::stop_token& stop)
{
    std::array<std::byte, 512> boot{};
    if (!place.readExactlyAt(0, boot)) {
        return odd();
    }
    const auto shape = readShape(boot, place.size(), startSector);
    if (!shape) {
        return std::unexpected(shape.error());
    }
    FatReader fat(place, *shape);
    if (const auto doubt = doubtInHead(fat, *shape, std::to_integer<std::uint32_t>(boot[21]))) {
        return std::unexpected(*doubt);
    }
    const std::uint32_t lastValid = shape->clusters + 1;
    const std::uint32_t reserved = shape->bits == 32 ? 0x0ffffff7U : (1U << shape->bits) - 9; // bad, and ends
    std::vector<Range> free;
    std::uint32_t count = 0;
    for (std::uint32_t number = 2; number <= lastValid; ++number) {
        const auto entry = fat.entry(number);
        if (!entry || *entry == 1 || (*entry > lastValid && *entry < reserved)) {
            return odd();
        }
        if (*entry == 0) {
            ++count;
            addFree(
                free,
                {.offset = shape->dataAt + Offset{number - 2} * shape->cluster, .length = shape->cluster});
        }
        if (number % 65536 == 0 && stop.stop_requested()) {
            return std::unexpected(UsedDoubt::Interrupted);
        }
    }
    if (!agrees(place, *shape, count)) {
        return odd();
    }
    dropShortEnd(free);
    return free;
}

} // namespace burin
