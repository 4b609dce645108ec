// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "qcow2disk.h"

#include "bigendian.h"
#include "diskparts.h"
#include "unpackblock.h"

#include <array>

namespace burin {

namespace {

constexpr std::size_t kHeaderSize = 72;      // version 2
constexpr std::size_t kLongHeaderSize = 104; // version 3, at least
constexpr unsigned kLeastClusterBits = 9;
constexpr unsigned kMostClusterBits = 21;  // QEMU's limit
constexpr Bytes kLargestTable = 32 * kMiB; // of the first level; QEMU's limit
constexpr Bytes kSector = 512;             // what packed sizes are counted in
constexpr std::uint64_t kNone = ~std::uint64_t{0};

// "Incompatible features", a bit each.
constexpr std::uint64_t kDirty = 1U << 0U; // only the reference counts may be wrong, which no reader needs
constexpr std::uint64_t kDamaged = 1U << 1U;
constexpr std::uint64_t kExternalData = 1U << 2U;
constexpr std::uint64_t kPackingType = 1U << 3U;
constexpr std::uint64_t kExtendedTable = 1U << 4U;

// Entries of both tables.
constexpr std::uint64_t kPlace = 0x00ff'ffff'ffff'fe00;
constexpr std::uint64_t kOwned = std::uint64_t{1} << 63U; // the reference count is 1
constexpr std::uint64_t kPacked = std::uint64_t{1} << 62U;
constexpr std::uint64_t kZero = 1;

class Qcow2 final : public VirtualDisk
{
public:
    explicit Qcow2(const FileRange& place) : m_place(place), m_firstLevel(place), m_secondLevel(place) { }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return m_size; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;

private:
    enum class Kind { Zero, Stored, Packed };
    struct Cluster {
        Kind kind = Kind::Zero;
        Range range; ///< in the file
    };

    [[nodiscard]] Result<void> readHeader();
    [[nodiscard]] Result<void> takeHeader(std::span<const std::byte> raw);
    [[nodiscard]] Result<void> takeFeatures(std::span<const std::byte> raw);
    [[nodiscard]] Result<void> checkTables();
    [[nodiscard]] Result<void> checkPlaces();
    [[nodiscard]] Result<void> checkSecondLevel(std::uint64_t index, BlockPlaces& places);
    [[nodiscard]] Result<Offset> secondLevel(std::uint64_t index);
    [[nodiscard]] Result<Cluster> find(Offset table, std::uint64_t index);
    [[nodiscard]] Result<Cluster> parse(std::uint64_t entry) const;
    [[nodiscard]] Result<Cluster> parsePacked(std::uint64_t entry) const;
    [[nodiscard]] Result<void> readCluster(std::uint64_t number, Offset within, std::span<std::byte> out);
    [[nodiscard]] Result<void> unpack(std::uint64_t number, Range range);
    [[nodiscard]] Bytes cluster() const { return Bytes{1} << m_clusterBits; }
    [[nodiscard]] std::uint64_t perTable() const { return cluster() / 8; }
    [[nodiscard]] std::uint64_t clusters() const { return (m_size + cluster() - 1) / cluster(); }

    FileRange m_place;
    FilePages m_firstLevel;
    FilePages m_secondLevel;
    std::uint32_t m_version = 0;
    unsigned m_clusterBits = 0;
    Bytes m_size = 0;
    Range m_table;  ///< of the first level
    Range m_counts; ///< the table of the reference counts
    BlockPacking m_packing = BlockPacking::Deflate;
    std::vector<std::byte> m_packed;
    std::vector<std::byte> m_unpacked; ///< the cluster m_number, which was packed
    std::uint64_t m_number = kNone;
};

Result<void> Qcow2::open()
{
    for (const auto step : {&Qcow2::readHeader, &Qcow2::checkTables, &Qcow2::checkPlaces}) {
        if (auto done = (this->*step)(); !done) {
            return done;
        }
    }
    return {};
}

Result<void> Qcow2::readHeader()
{
    std::array<std::byte, kLongHeaderSize + 8> raw = {};
    const auto got = m_place.readAt(0, raw);
    if (!got) {
        return std::unexpected(got.error());
    }
    if (*got < kHeaderSize) {
        return failure(ErrorCode::ImageTruncated);
    }
    if (bigEndian<std::uint32_t>(raw, 0) != 0x514649fb) { // "QFI", 0xfb
        return corrupt("qcow2 without its mark");
    }
    m_version = bigEndian<std::uint32_t>(raw, 4);
    if (m_version == 1) {
        return unsupported("qcow, the format before qcow2");
    }
    if (m_version != 2 && m_version != 3) {
        return unsupported("qcow2 of an unknown version");
    }
    if (m_version == 3 && *got < raw.size()) {
        return failure(ErrorCode::ImageTruncated);
    }
    if (auto good = takeHeader(raw); !good) {
        return good;
    }
    return m_version == 3 ? takeFeatures(raw) : Result<void>();
}

Result<void> Qcow2::takeHeader(std::span<const std::byte> raw)
{
    if (bigEndian<std::uint32_t>(raw, 32) != 0) {
        return failure(ErrorCode::ImageEncrypted);
    }
    if (bigEndian<std::uint64_t>(raw, 8) != 0) {
        return unsupported("qcow2 with a backing file");
    }
    m_clusterBits = bigEndian<std::uint32_t>(raw, 20);
    if (m_clusterBits < kLeastClusterBits || m_clusterBits > kMostClusterBits) {
        return corrupt("qcow2 with clusters of an impossible size");
    }
    m_size = bigEndian<std::uint64_t>(raw, 24);
    m_table = {.offset = bigEndian<std::uint64_t>(raw, 40),
               .length = Bytes{bigEndian<std::uint32_t>(raw, 36)} * 8};
    m_counts = {.offset = bigEndian<std::uint64_t>(raw, 48),
                .length = bigEndian<std::uint32_t>(raw, 56) * cluster()};
    return checkDiskSize(m_size);
}

Result<void> Qcow2::takeFeatures(std::span<const std::byte> raw)
{
    const auto features = bigEndian<std::uint64_t>(raw, 72);
    const auto length = bigEndian<std::uint32_t>(raw, 100);
    if (length < kLongHeaderSize || length % 8 != 0) {
        return corrupt("the length of the qcow2's header");
    }
    if ((features & kExternalData) != 0) {
        return unsupported("qcow2 whose data lie in another file");
    }
    if ((features & kExtendedTable) != 0) {
        return unsupported("qcow2 with subclusters");
    }
    if ((features & ~(kDirty | kDamaged | kPackingType)) != 0) {
        return unsupported("qcow2 with unknown features");
    }
    if ((features & kDamaged) != 0) {
        return corrupt("qcow2 that is marked as damaged");
    }
    const unsigned packing = length > kLongHeaderSize ? std::to_integer<unsigned>(raw[104]) : 0U;
    if ((packing != 0) != ((features & kPackingType) != 0)) {
        return corrupt("the packing of the qcow2's clusters");
    }
    if (packing > 1) {
        return unsupported("qcow2 with clusters packed in an unknown way");
    }
    m_packing = packing == 1 ? BlockPacking::Zstd : BlockPacking::Deflate;
    return {};
}

Result<void> Qcow2::checkTables()
{
    const std::uint64_t needed = (clusters() + perTable() - 1) / perTable() * 8;
    if (m_table.length < needed || m_table.length > kLargestTable || m_table.offset % cluster() != 0
        || m_table.offset == 0 || m_counts.offset % cluster() != 0) {
        return corrupt("the qcow2's first table");
    }
    for (const Range& table : {m_table, m_counts}) {
        if (!liesWithin(table.offset, table.length, m_place.size())) {
            return failure(ErrorCode::ImageTruncated);
        }
    }
    m_table.length = needed;
    return {};
}

// Looks through all tables: a file cut short is found before anything is written. It costs a read of at most
// the file's size, since no table may be used twice.
Result<void> Qcow2::checkPlaces()
{
    const auto inClusters = [this](Range range) {
        return Range{.offset = range.offset / cluster(),
                     .length = (range.length + cluster() - 1) / cluster()};
    };
    // Of the file's last cluster only the part that holds the disk's end need be there; see readCluster().
    BlockPlaces places(1, (m_place.size() + cluster() - 1) / cluster(),
                       {{.offset = 0, .length = 1}, inClusters(m_table), inClusters(m_counts)});
    Bytes tables = 0;
    for (std::uint64_t index = 0; index < m_table.length / 8; ++index) {
        const auto table = secondLevel(index);
        if (!table) {
            return std::unexpected(table.error());
        }
        if (*table == 0) {
            continue;
        }
        tables += cluster();
        if (tables > m_place.size()) {
            return corrupt("qcow2 with more tables than the file can hold");
        }
        if (auto good = places.add(*table / cluster()); !good) {
            return good;
        }
        if (auto good = checkSecondLevel(index, places); !good) {
            return good;
        }
    }
    return places.finish();
}

Result<void> Qcow2::checkSecondLevel(std::uint64_t index, BlockPlaces& places)
{
    const auto table = secondLevel(index);
    const std::uint64_t first = index * perTable();
    const std::uint64_t count = std::min(perTable(), clusters() - first);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto found = find(*table, i);
        if (!found) {
            return std::unexpected(found.error());
        }
        const Range& range = found->range;
        const Bytes needed = std::min(range.length, m_size - (first + i) * cluster());
        switch (found->kind) {
        case Kind::Zero:
            continue;
        case Kind::Packed:
            // It shares its clusters with others. The last sector may end with the file.
            if (range.offset < cluster()) {
                return corrupt("a block on the file's tables");
            }
            if (range.offset >= m_place.size() || range.end() > alignUp(m_place.size(), kSector)) {
                return failure(ErrorCode::ImageTruncated);
            }
            continue;
        case Kind::Stored:
            if (auto good = places.add(range.offset / cluster()); !good) {
                return good;
            }
            if (!liesWithin(range.offset, needed, m_place.size())) {
                return failure(ErrorCode::ImageTruncated);
            }
        }
    }
    return {};
}

// Where the table of the second level lies; 0 if there is none.
Result<Offset> Qcow2::secondLevel(std::uint64_t index)
{
    const auto raw = m_firstLevel.at(m_table.offset + index * 8, 8);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    const auto entry = bigEndian<std::uint64_t>(*raw, 0);
    const Offset table = entry & kPlace;
    if ((entry & ~(kPlace | kOwned)) != 0 || table % cluster() != 0) {
        return corrupt("an entry of the qcow2's first table");
    }
    return table;
}

Result<Qcow2::Cluster> Qcow2::find(Offset table, std::uint64_t index)
{
    const auto raw = m_secondLevel.at(table + index * 8, 8);
    if (!raw) {
        return std::unexpected(raw.error());
    }
    return parse(bigEndian<std::uint64_t>(*raw, 0));
}

Result<Qcow2::Cluster> Qcow2::parse(std::uint64_t entry) const
{
    if ((entry & kPacked) != 0) {
        return parsePacked(entry);
    }
    const Offset place = entry & kPlace;
    const std::uint64_t flags = kPlace | kOwned | (m_version >= 3 ? kZero : 0);
    if ((entry & ~flags) != 0 || place % cluster() != 0) {
        return corrupt("an entry of the qcow2's second table");
    }
    if (place == 0 || (entry & kZero) != 0) {
        return Cluster{};
    }
    return Cluster{.kind = Kind::Stored, .range = {.offset = place, .length = cluster()}};
}

// The lower bits are the place, those up to bit 61 the number of sectors after the first.
Result<Qcow2::Cluster> Qcow2::parsePacked(std::uint64_t entry) const
{
    const unsigned placeBits = 62 - (m_clusterBits - 8);
    const Offset place = entry & ((std::uint64_t{1} << placeBits) - 1);
    const std::uint64_t sectors = ((entry & (kPacked - 1)) >> placeBits) + 1;
    if ((entry & kOwned) != 0 || place > kPlace) {
        return corrupt("an entry of the qcow2's second table");
    }
    return Cluster{.kind = Kind::Packed,
                   .range = {.offset = place, .length = sectors * kSector - place % kSector}};
}

Result<void> Qcow2::readAt(Offset offset, std::span<std::byte> out)
{
    return eachBlock(offset, out, cluster(), [this](std::uint64_t number, Offset within, auto part) {
        return readCluster(number, within, part);
    });
}

Result<void> Qcow2::readCluster(std::uint64_t number, Offset within, std::span<std::byte> out)
{
    const auto table = secondLevel(number / perTable());
    if (!table) {
        return std::unexpected(table.error());
    }
    const auto found = *table == 0 ? Cluster{} : find(*table, number % perTable());
    if (!found) {
        return std::unexpected(found.error());
    }
    switch (found->kind) {
    case Kind::Zero:
        fillZeros(out);
        return {};
    case Kind::Stored:
        return m_place.readExactlyAt(found->range.offset + within, out);
    case Kind::Packed:
        break;
    }
    if (auto done = unpack(number, found->range); !done) {
        return done;
    }
    std::ranges::copy(std::span(m_unpacked).subspan(static_cast<std::size_t>(within), out.size()),
                      out.begin());
    return {};
}

Result<void> Qcow2::unpack(std::uint64_t number, Range range)
{
    if (number == m_number) {
        return {};
    }
    m_number = kNone;
    m_packed.resize(static_cast<std::size_t>(range.length));
    m_unpacked.resize(static_cast<std::size_t>(cluster()));
    const auto got = m_place.readAt(range.offset, m_packed);
    if (!got) {
        return std::unexpected(got.error());
    }
    if (auto done = unpackBlock(m_packing, std::span(m_packed).first(*got), m_unpacked); !done) {
        return done;
    }
    m_number = number;
    return {};
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openQcow2(const FileRange& place)
{
    return openAs<Qcow2>(place);
}

} // namespace burin
