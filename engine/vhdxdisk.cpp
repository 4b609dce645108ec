// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "vhdxdisk.h"

#include "crc32c.h"
#include "diskparts.h"
#include "littleendian.h"

#include <array>
#include <bit>
#include <cstring>

namespace burin {

namespace {

constexpr std::size_t kRegionTableSize = 64 * kKiB;
constexpr std::size_t kHeaderSize = 4 * kKiB;
constexpr std::size_t kEntrySize = 32; // in both tables
constexpr std::size_t kLogSector = 4 * kKiB;
constexpr Bytes kLargestBlock = 256 * kMiB; // 2.6.2.1

using Guid = std::array<std::uint8_t, 16>;

// A GUID as the file holds it: its first three numbers are little endian.
constexpr Guid guid(std::uint32_t a, std::uint16_t b, std::uint16_t c, std::uint64_t d)
{
    Guid g = {};
    for (std::size_t i = 0; i < 8; ++i) {
        const std::uint64_t front = a | std::uint64_t{b} << 32U | std::uint64_t{c} << 48U;
        g[i] = static_cast<std::uint8_t>(front >> 8 * i);
        g[8 + i] = static_cast<std::uint8_t>(d >> (56 - 8 * i));
    }
    return g;
}

// 2.5 and 2.6
constexpr Guid kTableRegion = guid(0x2dc27766, 0xf623, 0x4200, 0x9d64'115e9bfd4a08);
constexpr Guid kMetadataRegion = guid(0x8b7ca206, 0x4790, 0x4b9a, 0xb8fe'575f050f886e);
constexpr Guid kFileParameters = guid(0xcaa16737, 0xfa36, 0x4d43, 0xb3b6'33f0aa44e76b);
constexpr Guid kDiskSize = guid(0x2fa54224, 0xcd1b, 0x4876, 0xb211'5dbed83bf4b8);
constexpr Guid kLogicalBlock = guid(0x8141bf1d, 0xa96f, 0x4709, 0xba47'f233a8faab5f);
constexpr Guid kPhysicalBlock = guid(0xcda348c7, 0x445d, 0x4471, 0x9cc9'e9885251c556);
constexpr Guid kDiskId = guid(0xbeca12ab, 0xb2e6, 0x4523, 0x93ef'c309e000c746);
constexpr Guid kParent = guid(0xa8d35f2d, 0xb30b, 0x454d, 0xabf7'd3d84834ab0c);

// What the lowest three bits of a block's entry say (2.5.1.1).
enum class State : std::uint8_t { NotPresent, Undefined, Zero, Unmapped, Present = 6, PartlyPresent };

bool hasGuid(std::span<const std::byte> data, std::size_t at, const Guid& id)
{
    return std::memcmp(data.data() + at, id.data(), id.size()) == 0;
}

// The sum at offset 4 was made while it was 0 itself.
bool sumIsRight(std::span<const std::byte> data)
{
    Crc32c sum;
    sum.add(data.first(4));
    sum.add(std::array<std::byte, 4>{});
    sum.add(data.subspan(8));
    return sum.value() == littleEndian<std::uint32_t>(data, 4);
}

class Vhdx final : public VirtualDisk
{
public:
    explicit Vhdx(const FileRange& place) : m_place(place), m_pages(place) { }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return m_size; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;

private:
    struct Entry {
        State state = State::NotPresent;
        std::uint64_t place = 0; ///< in MiB
    };

    [[nodiscard]] Result<void> readHeaders();
    [[nodiscard]] Result<void> checkLog(std::span<const std::byte> header);
    [[nodiscard]] Result<void> readRegions();
    [[nodiscard]] Result<void> takeRegion(std::span<const std::byte> entry);
    [[nodiscard]] Result<void> readMetadata();
    [[nodiscard]] Result<void> takeItem(std::span<const std::byte> entry);
    [[nodiscard]] Result<void> checkGeometry() const;
    [[nodiscard]] Result<void> checkPlaces();
    [[nodiscard]] Result<Entry> entry(std::uint64_t block);
    [[nodiscard]] Result<void> readBlock(std::uint64_t block, Offset within, std::span<std::byte> out);
    // One entry for a sector bitmap follows each run of this many blocks' entries (2.5).
    [[nodiscard]] std::uint64_t run() const { return (Bytes{1} << 23U) * m_logicalBlock / m_blockSize; }
    [[nodiscard]] std::uint64_t blocks() const { return (m_size + m_blockSize - 1) / m_blockSize; }

    FileRange m_place;
    FilePages m_pages;
    Range m_log;
    Range m_table;
    Range m_metadata;
    Bytes m_size = 0;
    Bytes m_blockSize = 0;
    Bytes m_logicalBlock = 0;
};

Result<void> Vhdx::open()
{
    for (const auto step :
         {&Vhdx::readHeaders, &Vhdx::readRegions, &Vhdx::readMetadata, &Vhdx::checkPlaces}) {
        if (auto done = (this->*step)(); !done) {
            return done;
        }
    }
    return {};
}

// Of the two headers the valid one with the larger sequence number counts (2.2.2).
Result<void> Vhdx::readHeaders()
{
    std::array<std::byte, kHeaderSize> current = {};
    std::array<std::byte, kHeaderSize> raw = {};
    std::optional<std::uint64_t> sequence;
    for (const Offset at : {64 * kKiB, 128 * kKiB}) {
        if (auto got = m_place.readExactlyAt(at, raw); !got) {
            return got;
        }
        const auto number = littleEndian<std::uint64_t>(raw, 8);
        if (beginsWith(raw, "head") && sumIsRight(raw) && (!sequence || number > *sequence)) {
            sequence = number;
            current = raw;
        }
    }
    if (!sequence) {
        return corrupt("the checksums of both VHDX headers");
    }
    if (littleEndian<std::uint16_t>(current, 66) != 1) {
        return unsupported("VHDX of an unknown version");
    }
    m_log = {.offset = littleEndian<std::uint64_t>(current, 72),
             .length = littleEndian<std::uint32_t>(current, 68)};
    if (m_log.offset % kMiB != 0 || m_log.length % kMiB != 0 || m_log.offset == 0) {
        return corrupt("the place of the VHDX's log");
    }
    if (!liesWithin(m_log.offset, m_log.length, m_place.size())) {
        return failure(ErrorCode::ImageTruncated);
    }
    return checkLog(current);
}

// Entries that bear the header's GUID were not yet carried over into the tables (2.3). Whether they are whole
// is not looked at: a file in that state wants the program that wrote it.
Result<void> Vhdx::checkLog(std::span<const std::byte> header)
{
    const auto id = header.subspan(48, sizeof(Guid));
    if (onlyZeros(id)) {
        return {};
    }
    for (Offset at = m_log.offset; at < m_log.end(); at += kLogSector) {
        const auto sector = m_pages.at(at, kLogSector);
        if (!sector) {
            return std::unexpected(sector.error());
        }
        if (beginsWith(*sector, "loge") && std::ranges::equal(sector->subspan(32, sizeof(Guid)), id)) {
            return unsupported("VHDX with unfinished changes in its log");
        }
    }
    return {};
}

Result<void> Vhdx::readRegions()
{
    std::vector<std::byte> raw(kRegionTableSize);
    for (const Offset at : {192 * kKiB, 256 * kKiB}) {
        if (auto got = m_place.readExactlyAt(at, raw); !got) {
            return got;
        }
        if (beginsWith(raw, "regi") && sumIsRight(raw)) {
            break;
        }
        if (at == 256 * kKiB) {
            return corrupt("the checksums of both VHDX region tables");
        }
    }
    const auto count = littleEndian<std::uint32_t>(raw, 8);
    if (count > 2047) { // 2.2.3.1
        return corrupt("the VHDX's region table");
    }
    for (std::uint32_t i = 0; i < count; ++i) {
        const auto entry = std::span<const std::byte>(raw).subspan(16 + i * kEntrySize, kEntrySize);
        if (auto taken = takeRegion(entry); !taken) {
            return taken;
        }
    }
    if (m_table.length == 0 || m_metadata.length == 0) {
        return corrupt("VHDX without its tables");
    }
    return {};
}

Result<void> Vhdx::takeRegion(std::span<const std::byte> entry)
{
    const Range range = {.offset = littleEndian<std::uint64_t>(entry, 16),
                         .length = littleEndian<std::uint32_t>(entry, 24)};
    const bool isTable = hasGuid(entry, 0, kTableRegion);
    if (!isTable && !hasGuid(entry, 0, kMetadataRegion)) {
        const bool required = (littleEndian<std::uint32_t>(entry, 28) & 1U) != 0;
        return required ? unsupported("VHDX with an unknown region") : Result<void>();
    }
    if (range.offset % kMiB != 0 || range.length % kMiB != 0 || range.offset == 0) {
        return corrupt("the place of a VHDX table");
    }
    if (!liesWithin(range.offset, range.length, m_place.size())) {
        return failure(ErrorCode::ImageTruncated);
    }
    (isTable ? m_table : m_metadata) = range;
    return {};
}

Result<void> Vhdx::readMetadata()
{
    std::vector<std::byte> raw(64 * kKiB); // 2.6.1; the region is at least 1 MiB
    if (auto got = m_place.readExactlyAt(m_metadata.offset, raw); !got) {
        return got;
    }
    const auto count = littleEndian<std::uint16_t>(raw, 10);
    if (!beginsWith(raw, "metadata") || count > 2047) {
        return corrupt("the VHDX's metadata");
    }
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = std::span<const std::byte>(raw).subspan(kEntrySize + i * kEntrySize, kEntrySize);
        if (auto taken = takeItem(entry); !taken) {
            return taken;
        }
    }
    return checkGeometry();
}

Result<void> Vhdx::takeItem(std::span<const std::byte> entry)
{
    const Offset offset = littleEndian<std::uint32_t>(entry, 16);
    const auto flags = littleEndian<std::uint32_t>(entry, 24);
    const bool user = (flags & 1U) != 0;
    const auto is = [&](const Guid& id) { return !user && hasGuid(entry, 0, id); };
    if (is(kPhysicalBlock) || is(kDiskId) || is(kParent)) {
        return {}; // whether there is a parent, the file parameters tell
    }
    if (!is(kFileParameters) && !is(kDiskSize) && !is(kLogicalBlock)) {
        const bool required = (flags & 4U) != 0;
        return required ? unsupported("VHDX with unknown metadata") : Result<void>();
    }
    std::array<std::byte, 8> item = {};
    const auto size = std::size_t{is(kLogicalBlock) ? 4U : 8U};
    if (!liesWithin(offset, size, m_metadata.length)) {
        return corrupt("the VHDX's metadata");
    }
    if (auto got = m_place.readExactlyAt(m_metadata.offset + offset, std::span(item).first(size)); !got) {
        return got;
    }
    if (is(kDiskSize)) {
        m_size = littleEndian<std::uint64_t>(item, 0);
        return checkDiskSize(m_size);
    }
    if (is(kLogicalBlock)) {
        m_logicalBlock = littleEndian<std::uint32_t>(item, 0);
        return {};
    }
    m_blockSize = littleEndian<std::uint32_t>(item, 0);
    const bool hasParent = (littleEndian<std::uint32_t>(item, 4) & 2U) != 0;
    return hasParent ? unsupported("VHDX that is a difference of another") : Result<void>();
}

Result<void> Vhdx::checkGeometry() const
{
    if (m_size == 0 || (m_logicalBlock != 512 && m_logicalBlock != 4096) || m_size % m_logicalBlock != 0
        || !std::has_single_bit(m_blockSize) || m_blockSize < kMiB || m_blockSize > kLargestBlock) {
        return corrupt("the VHDX's metadata");
    }
    const std::uint64_t last = blocks() - 1;
    if ((last + last / run() + 1) * 8 > m_table.length) {
        return corrupt("the VHDX's table is too short");
    }
    return {};
}

Result<Vhdx::Entry> Vhdx::entry(std::uint64_t block)
{
    const auto raw = m_pages.at(m_table.offset + (block + block / run()) * 8, 8);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    const auto value = littleEndian<std::uint64_t>(*raw, 0);
    const Entry entry = {.state = State{static_cast<std::uint8_t>(value & 7U)}, .place = value >> 20U};
    switch (entry.state) {
    case State::NotPresent:
    case State::Undefined:
    case State::Zero:
    case State::Unmapped:
    case State::Present:
        return entry;
    case State::PartlyPresent: // only in a difference of another
        break;
    }
    return corrupt("the state of a VHDX block");
}

Result<void> Vhdx::checkPlaces()
{
    const auto inMiB = [](Range range) {
        return Range{.offset = range.offset / kMiB, .length = range.length / kMiB};
    };
    // The first MiB holds the headers. Blocks lie at whole MiB; the file's last need not be whole.
    BlockPlaces places(m_blockSize / kMiB, (m_place.size() + kMiB - 1) / kMiB,
                       {{.offset = 0, .length = 1}, inMiB(m_log), inMiB(m_table), inMiB(m_metadata)});
    for (std::uint64_t block = 0; block < blocks(); ++block) {
        const auto found = entry(block);
        if (!found) {
            return std::unexpected(found.error());
        }
        if (found->state != State::Present) {
            continue;
        }
        const Bytes needed = std::min(m_blockSize, m_size - block * m_blockSize);
        if (auto good = places.add(found->place, (needed + kMiB - 1) / kMiB); !good) {
            return good;
        }
        if (!liesWithin(found->place * kMiB, needed, m_place.size())) {
            return failure(ErrorCode::ImageTruncated);
        }
    }
    return places.finish();
}

Result<void> Vhdx::readAt(Offset offset, std::span<std::byte> out)
{
    return eachBlock(offset, out, m_blockSize, [this](std::uint64_t block, Offset within, auto part) {
        return readBlock(block, within, part);
    });
}

Result<void> Vhdx::readBlock(std::uint64_t block, Offset within, std::span<std::byte> out)
{
    const auto found = entry(block);
    if (!found) {
        return std::unexpected(found.error());
    }
    if (found->state == State::Present) {
        return m_place.readExactlyAt(found->place * kMiB + within, out);
    }
    fillZeros(out);
    return {};
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openVhdx(const FileRange& place)
{
    return openAs<Vhdx>(place);
}

} // namespace burin
