// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "vhddisk.h"

#include "bigendian.h"
#include "diskparts.h"

#include <array>
#include <bit>

namespace burin {

namespace {

constexpr Bytes kSector = 512;
constexpr std::size_t kFooterSize = 512;
constexpr std::size_t kHeaderSize = 1024;
constexpr std::uint32_t kVersion = 0x00010000;
constexpr std::uint32_t kUnused = 0xffffffff;
constexpr Bytes kLargestBlock = 256 * kMiB; // 2 MiB is usual

enum class Kind : std::uint32_t { Fixed = 2, Dynamic = 3, Differencing = 4 };

struct Footer {
    Kind kind = Kind::Fixed;
    Bytes diskSize = 0;
    Offset header = 0; ///< of a dynamic disk
    Bytes dataEnd = 0; ///< where the footer begins
};

// The complement of the sum of all bytes except the sum's own.
bool sumIsRight(std::span<const std::byte> data, std::size_t at)
{
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        sum += i >= at && i < at + 4 ? 0U : std::to_integer<std::uint32_t>(data[i]);
    }
    return ~sum == bigEndian<std::uint32_t>(data, at);
}

// Virtual PC before 2004 wrote only 511 bytes (specification, "Hard Disk Footer Format").
Result<Bytes> findFooter(const FileRange& place, std::span<std::byte, kFooterSize> raw)
{
    for (const std::size_t size : {kFooterSize, kFooterSize - 1}) {
        if (place.size() < size) {
            return failure(ErrorCode::ImageTruncated);
        }
        fillZeros(raw);
        if (const auto got = place.readExactlyAt(place.size() - size, raw.first(size)); !got) {
            return std::unexpected(got.error());
        }
        if (beginsWith(raw, "conectix")) {
            return place.size() - size;
        }
    }
    // A dynamic disk has a copy of its footer in front; both kinds end with one.
    return failure(ErrorCode::ImageTruncated, "VHD without its footer");
}

// How large the disk is, two fields tell: the "current size" and the geometry of cylinders, heads and
// sectors, which can't express every size. Virtual PC showed the guest the geometry's, Hyper-V, Azure and
// XenServer the current size; qemu chooses by the name of the program that made the file. Programs that
// reckon in geometry make the current size at least as large, so it loses nothing: what it adds is the file's
// own rest.
Result<Footer> readFooter(const FileRange& place)
{
    std::array<std::byte, kFooterSize> raw = {};
    const auto at = findFooter(place, raw);
    if (!at) {
        return std::unexpected(at.error());
    }
    if (!sumIsRight(raw, 64)) {
        return corrupt("the checksum of the VHD's footer");
    }
    if (bigEndian<std::uint32_t>(raw, 12) >> 16U != kVersion >> 16U) {
        return unsupported("VHD of an unknown version");
    }
    const Footer footer = {.kind = Kind{bigEndian<std::uint32_t>(raw, 60)},
                           .diskSize = bigEndian<std::uint64_t>(raw, 48),
                           .header = bigEndian<std::uint64_t>(raw, 16),
                           .dataEnd = *at};
    if (const auto size = checkDiskSize(footer.diskSize); !size) {
        return std::unexpected(size.error());
    }
    return footer;
}

class FixedVhd final : public VirtualDisk
{
public:
    FixedVhd(FileRange place, Bytes size) : m_place(std::move(place)), m_size(size) { }

    [[nodiscard]] Bytes size() const override { return m_size; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override
    {
        return m_place.readExactlyAt(offset, out);
    }

private:
    FileRange m_place;
    Bytes m_size;
};

class DynamicVhd final : public VirtualDisk
{
public:
    DynamicVhd(const FileRange& place, const Footer& footer)
        : m_place(place), m_table(place), m_bitmaps(place), m_footer(footer)
    {
    }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return m_footer.diskSize; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;

private:
    [[nodiscard]] Result<void> readHeader();
    [[nodiscard]] Result<void> checkPlaces();
    [[nodiscard]] Result<std::uint32_t> entry(std::uint64_t block);
    [[nodiscard]] Result<void> readBlock(std::uint64_t block, Offset within, std::span<std::byte> out);
    [[nodiscard]] Result<bool> isUsed(Offset bitmap, std::uint64_t sector);
    [[nodiscard]] std::uint64_t blocks() const { return (size() + m_blockSize - 1) / m_blockSize; }
    [[nodiscard]] Bytes bitmapSize() const { return alignUp(m_blockSize / kSector / 8, kSector); }

    FileRange m_place;
    FilePages m_table;
    FilePages m_bitmaps;
    Footer m_footer;
    Offset m_tableOffset = 0;
    Bytes m_blockSize = 0; ///< of the data, without the bitmap before them
};

Result<void> DynamicVhd::open()
{
    const auto header = readHeader();
    return header ? checkPlaces() : header;
}

Result<void> DynamicVhd::readHeader()
{
    std::array<std::byte, kHeaderSize> raw = {};
    if (!liesWithin(m_footer.header, kHeaderSize, m_footer.dataEnd)) {
        return failure(ErrorCode::ImageTruncated, "VHD without its header");
    }
    if (const auto got = m_place.readExactlyAt(m_footer.header, raw); !got) {
        return got;
    }
    if (!beginsWith(raw, "cxsparse") || !sumIsRight(raw, 36)) {
        return corrupt("the checksum of the VHD's header");
    }
    m_tableOffset = bigEndian<std::uint64_t>(raw, 16);
    const Bytes entries = bigEndian<std::uint32_t>(raw, 28);
    m_blockSize = bigEndian<std::uint32_t>(raw, 32);
    if (!std::has_single_bit(m_blockSize) || m_blockSize < kSector || m_blockSize > kLargestBlock) {
        return failure(ErrorCode::ImageCorrupt,
                       "VHD with blocks of " + std::to_string(m_blockSize) + " bytes");
    }
    if (m_tableOffset % kSector != 0 || blocks() > entries) {
        return corrupt("the VHD's table");
    }
    if (!liesWithin(m_tableOffset, entries * 4, m_footer.dataEnd)) {
        return failure(ErrorCode::ImageTruncated, "the VHD's table");
    }
    return {};
}

Result<std::uint32_t> DynamicVhd::entry(std::uint64_t block)
{
    const auto raw = m_table.at(m_tableOffset + block * 4, 4);
    return raw ? Result<std::uint32_t>(bigEndian<std::uint32_t>(*raw, 0)) : std::unexpected(raw.error());
}

Result<void> DynamicVhd::checkPlaces()
{
    const auto sectors = [](Bytes bytes) { return (bytes + kSector - 1) / kSector; };
    BlockPlaces places(sectors(bitmapSize() + m_blockSize), m_footer.dataEnd / kSector,
                       {{.offset = 0, .length = 1},
                        {.offset = m_footer.header / kSector, .length = sectors(kHeaderSize)},
                        {.offset = m_tableOffset / kSector, .length = sectors(blocks() * 4)}});
    for (std::uint64_t block = 0; block < blocks(); ++block) {
        const auto place = entry(block);
        if (!place) {
            return std::unexpected(place.error());
        }
        const Bytes needed = std::min(m_blockSize, size() - block * m_blockSize);
        if (*place == kUnused) {
            continue;
        }
        if (const auto good = places.add(*place, sectors(bitmapSize() + needed)); !good) {
            return good;
        }
    }
    return places.finish();
}

Result<void> DynamicVhd::readAt(Offset offset, std::span<std::byte> out)
{
    return eachBlock(offset, out, m_blockSize, [this](std::uint64_t block, Offset within, auto part) {
        return readBlock(block, within, part);
    });
}

Result<void> DynamicVhd::readBlock(std::uint64_t block, Offset within, std::span<std::byte> out)
{
    const auto place = entry(block);
    if (!place) {
        return std::unexpected(place.error());
    }
    if (*place == kUnused) {
        fillZeros(out);
        return {};
    }
    const Offset bitmap = *place * kSector;
    while (!out.empty()) {
        // As many sectors as are alike: all of them, as a rule.
        const auto used = isUsed(bitmap, within / kSector);
        Offset end = alignDown(within, kSector) + kSector;
        for (auto next = used; used && next && end - within < out.size(); end += kSector) {
            next = isUsed(bitmap, end / kSector);
            if (!next || *next != *used) {
                break;
            }
        }
        if (!used) {
            return std::unexpected(used.error());
        }
        const auto part = out.first(static_cast<std::size_t>(std::min<Bytes>(end - within, out.size())));
        fillZeros(part);
        if (*used) {
            if (auto got = m_place.readExactlyAt(bitmap + bitmapSize() + within, part); !got) {
                return got;
            }
        }
        within += part.size();
        out = out.subspan(part.size());
    }
    return {};
}

// A sector that was never written has a 0 in the bitmap and is zero, whatever lies in its place.
Result<bool> DynamicVhd::isUsed(Offset bitmap, std::uint64_t sector)
{
    const auto raw = m_bitmaps.at(bitmap + sector / 8, 1);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    return (std::to_integer<unsigned>(raw->front()) >> (7 - sector % 8) & 1U) != 0;
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openVhd(const FileRange& place)
{
    const auto footer = readFooter(place);
    if (!footer) {
        return std::unexpected(footer.error());
    }
    switch (footer->kind) {
    case Kind::Fixed:
        if (footer->diskSize > footer->dataEnd) {
            return failure(ErrorCode::ImageTruncated);
        }
        return std::make_unique<FixedVhd>(place, footer->diskSize);
    case Kind::Dynamic: {
        auto disk = std::make_unique<DynamicVhd>(place, *footer);
        if (const auto opened = disk->open(); !opened) {
            return std::unexpected(opened.error());
        }
        return disk;
    }
    case Kind::Differencing:
        return unsupported("VHD that is a difference of another");
    }
    return corrupt("VHD of an unknown type");
}

} // namespace burin
