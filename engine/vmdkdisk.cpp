// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "vmdkdisk.h"

#include "diskparts.h"
#include "littleendian.h"
#include "unpackblock.h"

#include <array>
#include <bit>
#include <string>

namespace burin {

namespace {

constexpr Bytes kSector = 512;
constexpr std::size_t kHeaderSize = 512;
constexpr std::size_t kMarkerSize = 12; // before a packed grain: its first sector and its packed size
constexpr std::uint64_t kAtTheEnd = ~std::uint64_t{0};
constexpr std::uint64_t kMostGrainSectors = 16 * kMiB / kSector; // 128 are usual
constexpr std::uint32_t kMostPerTable = 65536;                   // 512 are usual
constexpr Bytes kLargestDescriptor = kMiB;
constexpr std::uint64_t kNone = ~std::uint64_t{0};

// Flags of the header.
constexpr std::uint32_t kZeroGrains = 1U << 2U;
constexpr std::uint32_t kPacked = 1U << 16U;
constexpr std::uint32_t kMarkers = 1U << 17U;

// The value of a line NAME=VALUE or NAME="VALUE" of the descriptor.
std::string_view value(std::string_view text, std::string_view name)
{
    while (!text.empty()) {
        std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(text.size(), line.size() + 1));
        if (!line.starts_with(name) || !line.substr(name.size()).starts_with('=')) {
            continue;
        }
        line.remove_prefix(name.size() + 1);
        const auto first = line.find_first_not_of(" \"");
        const auto last = line.find_last_not_of(" \"\r");
        return first == std::string_view::npos ? "" : line.substr(first, last - first + 1);
    }
    return {};
}

Result<void> checkDescriptor(std::string_view text)
{
    const auto parent = value(text, "parentCID");
    if (!parent.empty() && parent != "ffffffff") {
        return unsupported("VMDK that is a difference of another");
    }
    if (text.find("encryption.") != std::string_view::npos) {
        return failure(ErrorCode::ImageEncrypted);
    }
    const auto type = value(text, "createType");
    if (type != "monolithicSparse" && type != "streamOptimized") {
        return unsupported("VMDK in several files");
    }
    return {};
}

class Vmdk final : public VirtualDisk
{
public:
    explicit Vmdk(const FileRange& place) : m_place(place), m_directory(place), m_tables(place) { }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return m_size; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;
    /// Packed grains have an Adler-32 each.
    [[nodiscard]] bool checked() const override { return m_packed; }

private:
    [[nodiscard]] Result<void> readHeader();
    [[nodiscard]] Result<void> takeHeader(std::span<const std::byte> raw);
    [[nodiscard]] Result<void> readDescriptor();
    [[nodiscard]] Result<void> checkTables() const;
    [[nodiscard]] Result<void> checkPlaces();
    [[nodiscard]] Result<void> checkTable(std::uint64_t index, BlockPlaces& places);
    [[nodiscard]] Result<void> checkLast() const;
    [[nodiscard]] Result<Offset> table(std::uint64_t index);
    [[nodiscard]] Result<std::uint32_t> find(std::uint64_t grain);
    [[nodiscard]] Result<void> readGrain(std::uint64_t grain, Offset within, std::span<std::byte> out);
    [[nodiscard]] Result<void> unpack(std::uint64_t grain, Offset at);
    [[nodiscard]] Result<Bytes> packedSize(Offset at, std::optional<std::uint64_t> grain) const;
    [[nodiscard]] std::uint64_t grains() const { return (m_size + m_grain - 1) / m_grain; }
    [[nodiscard]] std::uint64_t tables() const { return (grains() + m_perTable - 1) / m_perTable; }
    [[nodiscard]] Bytes tableSize() const { return Bytes{m_perTable} * 4; }
    [[nodiscard]] Bytes sizeOf(std::uint64_t grain) const
    {
        return std::min(m_grain, m_size - grain * m_grain);
    }

    FileRange m_place;
    FilePages m_directory;
    FilePages m_tables;
    Bytes m_size = 0;
    Bytes m_grain = 0;
    std::uint32_t m_perTable = 0;
    std::uint64_t m_directorySector = 0;
    Range m_descriptor; ///< in sectors
    bool m_packed = false;
    bool m_zeroGrains = false;
    Offset m_lastGrain = 0; ///< of all in the file
    std::vector<std::byte> m_in;
    std::vector<std::byte> m_unpacked; ///< the grain m_number
    std::uint64_t m_number = kNone;
};

Result<void> Vmdk::open()
{
    for (const auto step : {&Vmdk::readHeader, &Vmdk::readDescriptor, &Vmdk::checkPlaces}) {
        if (auto done = (this->*step)(); !done) {
            return done;
        }
    }
    return {};
}

Result<void> Vmdk::readHeader()
{
    std::array<std::byte, kHeaderSize> raw = {};
    const auto got = m_place.readAt(0, raw);
    if (!got) {
        return std::unexpected(got.error());
    }
    if (beginsWith(raw, "# Disk DescriptorFile")) {
        return unsupported("VMDK in several files");
    }
    if (beginsWith(raw, "COWD")) {
        return unsupported("VMDK of VMware ESX");
    }
    if (*got < raw.size()) {
        return failure(ErrorCode::ImageTruncated);
    }
    if (auto taken = takeHeader(raw); !taken || m_directorySector != kAtTheEnd) {
        return taken ? checkTables() : taken;
    }
    // The stream's writer knew the directory's place only at the end: a copy of the header there tells it,
    // before the last sector, which is an end mark ("Stream-Optimized Compressed Sparse Extents").
    if (m_place.size() < 3 * kSector) {
        return failure(ErrorCode::ImageTruncated);
    }
    const Bytes size = m_size;
    if (auto copy = m_place.readExactlyAt(m_place.size() - 2 * kSector, raw); !copy) {
        return copy;
    }
    if (!beginsWith(raw, "KDMV")) {
        return failure(ErrorCode::ImageTruncated, "VMDK without its footer");
    }
    if (auto taken = takeHeader(raw); !taken) {
        return taken;
    }
    if (m_size != size || m_directorySector == kAtTheEnd) {
        return corrupt("the VMDK's footer");
    }
    return checkTables();
}

Result<void> Vmdk::takeHeader(std::span<const std::byte> raw)
{
    if (!beginsWith(raw, "KDMV")) {
        return corrupt("VMDK without its mark");
    }
    const auto version = littleEndian<std::uint32_t>(raw, 4);
    if (version < 1 || version > 3) {
        return unsupported("VMDK of an unknown version");
    }
    // Only a transfer as text changes these ("Hosted Sparse Extent Header").
    const auto flags = littleEndian<std::uint32_t>(raw, 8);
    if ((flags & 1U) != 0 && !beginsWith(raw.subspan(73), "\n \r\n")) {
        return corrupt("VMDK whose line ends were converted");
    }
    m_packed = (flags & kPacked) != 0;
    m_zeroGrains = (flags & kZeroGrains) != 0;
    if (m_packed && (littleEndian<std::uint16_t>(raw, 77) != 1 || (flags & kMarkers) == 0)) {
        return unsupported("VMDK with grains packed in an unknown way");
    }
    const auto sectors = littleEndian<std::uint64_t>(raw, 12);
    const auto grain = littleEndian<std::uint64_t>(raw, 20);
    m_perTable = littleEndian<std::uint32_t>(raw, 44);
    if (!std::has_single_bit(grain) || grain > kMostGrainSectors || m_perTable == 0
        || m_perTable > kMostPerTable) {
        return corrupt("VMDK with grains of an impossible size");
    }
    m_grain = grain * kSector;
    m_size = std::min(sectors, kLargestDisk) * kSector;
    m_descriptor = {.offset = littleEndian<std::uint64_t>(raw, 28),
                    .length = littleEndian<std::uint64_t>(raw, 36)};
    m_directorySector = littleEndian<std::uint64_t>(raw, 56);
    return checkDiskSize(m_size);
}

Result<void> Vmdk::checkTables() const
{
    const std::uint64_t fileSectors = m_place.size() / kSector;
    const std::uint64_t sectors = (tables() * 4 + kSector - 1) / kSector;
    if (m_directorySector == 0) {
        return corrupt("VMDK without its directory");
    }
    return liesWithin(m_directorySector, sectors, fileSectors) ? Result<void>()
                                                               : failure(ErrorCode::ImageTruncated);
}

Result<void> Vmdk::readDescriptor()
{
    if (m_descriptor.offset == 0 || m_descriptor.length == 0) {
        return unsupported("VMDK in several files"); // one of them
    }
    if (m_descriptor.length > kLargestDescriptor / kSector) {
        return corrupt("the VMDK's descriptor");
    }
    if (!liesWithin(m_descriptor.offset, m_descriptor.length, m_place.size() / kSector)) {
        return failure(ErrorCode::ImageTruncated);
    }
    std::string text(static_cast<std::size_t>(m_descriptor.length * kSector), '\0');
    const auto raw = std::as_writable_bytes(std::span(text));
    if (auto got = m_place.readExactlyAt(m_descriptor.offset * kSector, raw); !got) {
        return got;
    }
    return checkDescriptor(text);
}

// Looks through all tables: a file cut short is found before anything is written.
Result<void> Vmdk::checkPlaces()
{
    // How long a packed grain is, only its marker tells: at least a sector.
    BlockPlaces places(m_packed ? 1 : m_grain / kSector, (m_place.size() + kSector - 1) / kSector,
                       {{.offset = 0, .length = 1},
                        m_descriptor,
                        {.offset = m_directorySector, .length = (tables() * 4 + kSector - 1) / kSector}});
    Bytes total = 0;
    for (std::uint64_t index = 0; index < tables(); ++index) {
        const auto at = table(index);
        if (!at) {
            return std::unexpected(at.error());
        }
        if (*at == 0) {
            continue;
        }
        total += tableSize();
        if (total > m_place.size()) {
            return corrupt("VMDK with more tables than the file can hold");
        }
        if (auto good = checkTable(index, places); !good) {
            return good;
        }
    }
    if (auto good = places.finish(); !good) {
        return good;
    }
    return m_packed && m_lastGrain != 0 ? checkLast() : Result<void>();
}

Result<void> Vmdk::checkTable(std::uint64_t index, BlockPlaces& places)
{
    const std::uint64_t first = index * m_perTable;
    const std::uint64_t end = std::min(first + m_perTable, grains());
    for (std::uint64_t grain = first; grain < end; ++grain) {
        const auto sector = find(grain);
        if (!sector) {
            return std::unexpected(sector.error());
        }
        if (*sector == 0) {
            continue;
        }
        const Offset at = *sector * kSector;
        const Bytes needed = m_packed ? kSector : sizeOf(grain);
        if (auto good = places.add(*sector, needed / kSector); !good) {
            return good;
        }
        if (!liesWithin(at, m_packed ? kMarkerSize : needed, m_place.size())) {
            return failure(ErrorCode::ImageTruncated);
        }
        m_lastGrain = std::max(m_lastGrain, at);
    }
    return {};
}

Result<void> Vmdk::checkLast() const
{
    const auto size = packedSize(m_lastGrain, {});
    if (!size) {
        return std::unexpected(size.error());
    }
    return liesWithin(m_lastGrain + kMarkerSize, *size, m_place.size()) ? Result<void>()
                                                                        : failure(ErrorCode::ImageTruncated);
}

// Where a table of grains lies; 0 if there is none.
Result<Offset> Vmdk::table(std::uint64_t index)
{
    const auto raw = m_directory.at(m_directorySector * kSector + index * 4, 4);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    const Offset at = littleEndian<std::uint32_t>(*raw, 0) * kSector;
    if (at != 0 && !liesWithin(at, tableSize(), m_place.size())) {
        return failure(ErrorCode::ImageTruncated);
    }
    return at;
}

// The sector where a grain lies; 0 if it is zero.
Result<std::uint32_t> Vmdk::find(std::uint64_t grain)
{
    const auto at = table(grain / m_perTable);
    if (!at || *at == 0) {
        return at ? Result<std::uint32_t>(0U) : std::unexpected(at.error());
    }
    const auto raw = m_tables.at(*at + grain % m_perTable * 4, 4);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    const auto sector = littleEndian<std::uint32_t>(*raw, 0);
    return m_zeroGrains && sector == 1 ? 0U : sector;
}

Result<void> Vmdk::readAt(Offset offset, std::span<std::byte> out)
{
    return eachBlock(offset, out, m_grain, [this](std::uint64_t grain, Offset within, auto part) {
        return readGrain(grain, within, part);
    });
}

Result<void> Vmdk::readGrain(std::uint64_t grain, Offset within, std::span<std::byte> out)
{
    const auto sector = find(grain);
    if (!sector) {
        return std::unexpected(sector.error());
    }
    const Offset at = *sector * kSector;
    if (at == 0) {
        fillZeros(out);
        return {};
    }
    if (!m_packed) {
        return m_place.readExactlyAt(at + within, out);
    }
    if (auto done = unpack(grain, at); !done) {
        return done;
    }
    std::ranges::copy(std::span(m_unpacked).subspan(static_cast<std::size_t>(within), out.size()),
                      out.begin());
    return {};
}

Result<Bytes> Vmdk::packedSize(Offset at, std::optional<std::uint64_t> grain) const
{
    std::array<std::byte, kMarkerSize> marker = {};
    if (const auto got = m_place.readExactlyAt(at, marker); !got) {
        return std::unexpected(got.error());
    }
    const Bytes size = littleEndian<std::uint32_t>(marker, 8);
    const bool other = grain && littleEndian<std::uint64_t>(marker, 0) != *grain * (m_grain / kSector);
    if (other || size == 0 || size > m_grain + m_grain / 8 + kSector) {
        return corrupt("the marker of a VMDK's grain");
    }
    return size;
}

Result<void> Vmdk::unpack(std::uint64_t grain, Offset at)
{
    if (grain == m_number) {
        return {};
    }
    m_number = kNone;
    const auto size = packedSize(at, grain);
    if (!size) {
        return std::unexpected(size.error());
    }
    m_in.resize(static_cast<std::size_t>(*size));
    m_unpacked.resize(static_cast<std::size_t>(m_grain));
    if (auto got = m_place.readExactlyAt(at + kMarkerSize, m_in); !got) {
        return got;
    }
    auto done = unpackBlock(BlockPacking::Zlib, m_in, m_unpacked);
    if (!done && sizeOf(grain) < m_grain) {
        // The disk ends in this grain; some writers pack only what belongs to it.
        const auto part = std::span(m_unpacked).first(static_cast<std::size_t>(sizeOf(grain)));
        done = unpackBlock(BlockPacking::Zlib, m_in, part);
    }
    if (done) {
        m_number = grain;
    }
    return done;
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openVmdk(const FileRange& place)
{
    return openAs<Vmdk>(place);
}

} // namespace burin
