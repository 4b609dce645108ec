// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "dmgdisk.h"

#include "bigendian.h"
#include "diskparts.h"
#include "dmgplist.h"
#include "unpackblock.h"

#include <zlib.h>

#include <array>
#include <string>

namespace burin {

namespace {

constexpr Bytes kSector = 512;
constexpr std::size_t kTrailerSize = 512;
constexpr std::size_t kTableHeaderSize = 204;
constexpr std::size_t kEntrySize = 40;
constexpr Bytes kLargestPlist = 32 * kMiB; // of a disk of some hundred GB
constexpr Bytes kLargestPart = 64 * kMiB;  // unpacked; 1 MiB is usual
constexpr std::uint32_t kCrc32 = 2;        // a type of checksum
constexpr std::size_t kNone = ~std::size_t{0};

enum class Kind : std::uint32_t {
    Zero = 0,
    Raw = 1,
    Free = 2, ///< zero, and left out of the checksum
    Adc = 0x80000004,
    Zlib = 0x80000005,
    Bzip2 = 0x80000006,
    Lzfse = 0x80000007,
    Xz = 0x80000008,
    Comment = 0x7ffffffe,
    End = 0xffffffff,
};

// What the format calls a block chunk. It ends where the next one begins.
struct Part {
    std::uint64_t first = 0; ///< sector of the disk
    Offset place = 0;        ///< in the file
    std::uint32_t packed = 0;
    Kind kind = Kind::Zero;
};

class Dmg final : public VirtualDisk
{
public:
    explicit Dmg(FileRange place) : m_place(std::move(place)) { }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return m_sectors * kSector; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;
    [[nodiscard]] bool checked() const override { return m_allSummed; }

private:
    [[nodiscard]] Result<void> checkEncryption() const;
    [[nodiscard]] Result<void> readTrailer();
    [[nodiscard]] Result<void> readTables();
    [[nodiscard]] Result<void> takeTable(std::span<const std::byte> raw);
    [[nodiscard]] Result<void> takeSum(std::span<const std::byte> raw, std::uint64_t first);
    [[nodiscard]] Result<void> takeEntry(std::span<const std::byte> raw, std::uint64_t tableFirst,
                                         Offset data);
    [[nodiscard]] Result<void> checkPart(Part& part, Bytes packed, std::uint64_t sectors) const;
    [[nodiscard]] Result<void> readPart(std::size_t index, Offset within, std::span<std::byte> out);
    [[nodiscard]] Result<void> unpack(std::size_t index, BlockPacking packing);
    [[nodiscard]] std::uint64_t endOf(std::size_t index) const
    {
        return index + 1 < m_parts.size() ? m_parts[index + 1].first : m_sectors;
    }

    FileRange m_place;
    Offset m_dataFork = 0;
    Range m_plist;
    std::uint64_t m_sectors = 0;
    std::uint64_t m_seen = 0; ///< sectors of the parts so far
    std::optional<std::uint32_t> m_masterSum;
    std::uint32_t m_sumOfSums = 0;
    std::vector<Part> m_parts;
    DiskSums m_sums;
    bool m_allSummed = true;
    std::vector<std::byte> m_in;
    std::vector<std::byte> m_unpacked; ///< the part m_index
    std::size_t m_index = kNone;
};

Result<void> Dmg::open()
{
    if (auto open = checkEncryption(); !open) {
        return open;
    }
    auto trailer = readTrailer();
    return trailer ? readTables() : trailer;
}

// Encrypted images wrap the whole, trailer included; older ones have their mark at the end.
Result<void> Dmg::checkEncryption() const
{
    std::array<std::byte, 8> mark = {};
    if (m_place.size() < kTrailerSize) {
        return failure(ErrorCode::ImageTruncated);
    }
    if (auto got = m_place.readExactlyAt(0, mark); !got || beginsWith(mark, "encrcdsa")) {
        return got ? failure(ErrorCode::ImageEncrypted) : got;
    }
    if (auto got = m_place.readExactlyAt(m_place.size() - mark.size(), mark); !got) {
        return got;
    }
    return beginsWith(mark, "cdsaencr") ? failure(ErrorCode::ImageEncrypted) : Result<void>();
}

Result<void> Dmg::readTrailer()
{
    std::array<std::byte, kTrailerSize> raw = {};
    if (auto got = m_place.readExactlyAt(m_place.size() - kTrailerSize, raw); !got) {
        return got;
    }
    if (!beginsWith(raw, "koly")) {
        return failure(ErrorCode::ImageTruncated, "DMG without its trailer");
    }
    if (bigEndian<std::uint32_t>(raw, 4) != 4 || bigEndian<std::uint32_t>(raw, 8) != kTrailerSize) {
        return unsupported("DMG of an unknown version");
    }
    if (bigEndian<std::uint32_t>(raw, 60) > 1) {
        return unsupported("DMG in several files");
    }
    m_dataFork = bigEndian<std::uint64_t>(raw, 24);
    m_plist = {.offset = bigEndian<std::uint64_t>(raw, 216), .length = bigEndian<std::uint64_t>(raw, 224)};
    if (m_plist.length == 0) {
        return unsupported("DMG with its tables in a resource fork");
    }
    const Bytes before = m_place.size() - kTrailerSize;
    if (m_dataFork > before || !liesWithin(m_plist.offset, m_plist.length, before)) {
        return failure(ErrorCode::ImageTruncated);
    }
    if (m_plist.length > kLargestPlist) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    if (bigEndian<std::uint32_t>(raw, 352) == kCrc32 && bigEndian<std::uint32_t>(raw, 356) == 32) {
        m_masterSum = bigEndian<std::uint32_t>(raw, 360);
    }
    m_sectors = bigEndian<std::uint64_t>(raw, 492);
    return checkDiskSize(std::min(m_sectors, kLargestDisk) * kSector);
}

Result<void> Dmg::readTables()
{
    std::string plist(static_cast<std::size_t>(m_plist.length), '\0');
    if (auto got = m_place.readExactlyAt(m_plist.offset, std::as_writable_bytes(std::span(plist))); !got) {
        return got;
    }
    if (auto done = eachDmgTable(plist, [this](auto table) { return takeTable(table); }); !done) {
        return done;
    }
    if (m_seen != m_sectors) {
        return corrupt("the DMG's tables don't make up the disk");
    }
    if (m_masterSum && *m_masterSum != m_sumOfSums) {
        return corrupt("the checksum of the DMG's tables");
    }
    return {};
}

// Each table is for a stretch of the disk, a partition as a rule; they follow one another.
Result<void> Dmg::takeTable(std::span<const std::byte> raw)
{
    if (raw.size() < kTableHeaderSize || !beginsWith(raw, "mish") || bigEndian<std::uint32_t>(raw, 4) != 1) {
        return corrupt("a table of the DMG");
    }
    const auto first = bigEndian<std::uint64_t>(raw, 8);
    const auto sectors = bigEndian<std::uint64_t>(raw, 16);
    const auto data = bigEndian<std::uint64_t>(raw, 24);
    const auto entries = raw.subspan(kTableHeaderSize);
    if (first != m_seen || sectors > m_sectors - m_seen || data > m_place.size()
        || entries.size() / kEntrySize < bigEndian<std::uint32_t>(raw, 200)) {
        return corrupt("a table of the DMG");
    }
    for (std::size_t i = 0; i < bigEndian<std::uint32_t>(raw, 200); ++i) {
        if (auto taken = takeEntry(entries.subspan(i * kEntrySize, kEntrySize), first, data); !taken) {
            taken.error().offset = m_seen * kSector;
            return taken;
        }
    }
    return m_seen == first + sectors ? takeSum(raw, first) : corrupt("a table of the DMG");
}

Result<void> Dmg::takeSum(std::span<const std::byte> raw, std::uint64_t first)
{
    const auto bits = bigEndian<std::uint32_t>(raw, 68);
    if (bits % 8 != 0 || bits / 8 > 128) {
        return corrupt("a checksum in the DMG's tables");
    }
    const auto* sum = reinterpret_cast<const Bytef*>(raw.data() + 72);
    m_sumOfSums = static_cast<std::uint32_t>(::crc32_z(m_sumOfSums, sum, bits / 8));
    if (bigEndian<std::uint32_t>(raw, 64) != kCrc32 || bits != 32) {
        m_allSummed = false;
    } else if (m_seen > first) {
        m_sums.add({.range = {.offset = first * kSector, .length = (m_seen - first) * kSector},
                    .crc32 = bigEndian<std::uint32_t>(raw, 72)});
    }
    return {};
}

Result<void> Dmg::takeEntry(std::span<const std::byte> raw, std::uint64_t tableFirst, Offset data)
{
    Part part = {.first = m_seen, .place = 0, .packed = 0, .kind = Kind{bigEndian<std::uint32_t>(raw, 0)}};
    const auto sectors = bigEndian<std::uint64_t>(raw, 16);
    if (part.kind == Kind::Comment || part.kind == Kind::End || sectors == 0) {
        return {};
    }
    const auto place = bigEndian<std::uint64_t>(raw, 24);
    const auto packed = bigEndian<std::uint64_t>(raw, 32);
    if (bigEndian<std::uint64_t>(raw, 8) != m_seen - tableFirst || sectors > m_sectors - m_seen) {
        return corrupt("the DMG's tables don't make up the disk");
    }
    if (part.kind != Kind::Zero && part.kind != Kind::Free) {
        // Both are at most the file's size, so that the sum can't overflow.
        part.place = m_dataFork + data;
        if (place > m_place.size() || !liesWithin(part.place + place, packed, m_place.size())) {
            return failure(ErrorCode::ImageTruncated);
        }
        part.place += place;
    }
    if (auto good = checkPart(part, packed, sectors); !good) {
        return good;
    }
    m_parts.push_back(part);
    m_seen += sectors;
    return {};
}

Result<void> Dmg::checkPart(Part& part, Bytes packed, std::uint64_t sectors) const
{
    const Bytes unpacked = sectors * kSector;
    switch (part.kind) {
    case Kind::Zero:
    case Kind::Free:
        return {};
    case Kind::Raw:
        return packed == unpacked ? Result<void>() : corrupt("the length of a raw part");
    case Kind::Adc:
        return unsupported("DMG packed with ADC");
    case Kind::Lzfse:
        return unsupported("DMG packed with LZFSE");
    case Kind::Zlib:
    case Kind::Bzip2:
    case Kind::Xz:
        break;
    default:
        return unsupported("DMG packed in an unknown way");
    }
    if (unpacked > kLargestPart) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    if (packed > unpacked + unpacked / 8 + 64 * kKiB) {
        return corrupt("the length of a packed part");
    }
    part.packed = static_cast<std::uint32_t>(packed);
    return {};
}

Result<void> Dmg::readAt(Offset offset, std::span<std::byte> out)
{
    while (!out.empty()) {
        const auto next = std::ranges::upper_bound(m_parts, offset / kSector, {}, &Part::first);
        const auto index = static_cast<std::size_t>(next - m_parts.begin()) - 1; // the first begins at 0
        const Bytes left = endOf(index) * kSector - offset;
        const auto piece = out.first(static_cast<std::size_t>(std::min<Bytes>(left, out.size())));
        auto done = readPart(index, offset - m_parts[index].first * kSector, piece);
        if (done) {
            done = m_sums.take(offset, piece, m_parts[index].kind == Kind::Free);
        }
        if (!done) {
            done.error().offset = done.error().offset.value_or(offset);
            return done;
        }
        out = out.subspan(piece.size());
        offset += piece.size();
    }
    return {};
}

Result<void> Dmg::readPart(std::size_t index, Offset within, std::span<std::byte> out)
{
    auto packing = BlockPacking::Zlib;
    switch (m_parts[index].kind) {
    case Kind::Raw:
        return m_place.readExactlyAt(m_parts[index].place + within, out);
    case Kind::Zlib:
        break;
    case Kind::Bzip2:
        packing = BlockPacking::Bzip2;
        break;
    case Kind::Xz:
        packing = BlockPacking::Xz;
        break;
    default:
        fillZeros(out);
        return {};
    }
    if (auto done = unpack(index, packing); !done) {
        return done;
    }
    std::ranges::copy(std::span(m_unpacked).subspan(static_cast<std::size_t>(within), out.size()),
                      out.begin());
    return {};
}

Result<void> Dmg::unpack(std::size_t index, BlockPacking packing)
{
    if (index == m_index) {
        return {};
    }
    m_index = kNone;
    const Part& part = m_parts[index];
    m_in.resize(part.packed);
    m_unpacked.resize(static_cast<std::size_t>((endOf(index) - part.first) * kSector));
    if (auto got = m_place.readExactlyAt(part.place, m_in); !got) {
        return got;
    }
    if (auto done = unpackBlock(packing, m_in, m_unpacked); !done) {
        return done;
    }
    m_index = index;
    return {};
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openDmg(const FileRange& place)
{
    return openAs<Dmg>(place);
}

} // namespace burin
