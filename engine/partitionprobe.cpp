// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "partitionprobe.h"

#include "littleendian.h"
#include "partitiontypes.h"

#include <blkid/blkid.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

namespace burin {

namespace {

constexpr Bytes kSector = 512; // libblkid counts partitions in these, whatever the block is

struct FreeProbe {
    void operator()(blkid_probe probe) const noexcept { blkid_free_probe(probe); }
};
using Probe = std::unique_ptr<std::remove_pointer_t<blkid_probe>, FreeProbe>;

Probe newProbe(int fd, Range range)
{
    Probe probe(blkid_new_probe());
    if (probe
        && blkid_probe_set_device(probe.get(), fd, static_cast<blkid_loff_t>(range.offset),
                                  static_cast<blkid_loff_t>(range.length))
            != 0) {
        probe.reset();
    }
    return probe;
}

std::string text(const char* value)
{
    return value ? value : "";
}

std::string valueOf(blkid_probe probe, const char* name)
{
    const char* value = nullptr;
    return blkid_probe_lookup_value(probe, name, &value, nullptr) == 0 ? text(value) : std::string();
}

ImagePartition describe(blkid_partition part, bool isGpt)
{
    return {.range = {.offset = static_cast<Bytes>(blkid_partition_get_start(part)) * kSector,
                      .length = static_cast<Bytes>(blkid_partition_get_size(part)) * kSector},
            .name = isGpt ? text(blkid_partition_get_name(part)) : std::string(),
            .fileSystem = {},
            .label = {},
            .type = isGpt ? gptTypeName(text(blkid_partition_get_type_string(part)))
                          : mbrTypeName(blkid_partition_get_type(part))};
}

constexpr std::uint64_t kGptSignature = 0x5452415020494645; // "EFI PART"

std::uint32_t crc32(std::span<const std::byte> data)
{
    return static_cast<std::uint32_t>(::crc32_z(0, reinterpret_cast<const Bytef*>(data.data()), data.size()));
}

/// Whether the entries fit the CRC in the header; also if they aren't in `head`, where nobody can tell.
bool fitGptEntries(std::span<const std::byte> head, std::span<const std::byte> header)
{
    const auto at = littleEndian<std::uint64_t>(header, 72);
    const Bytes size =
        Bytes{littleEndian<std::uint32_t>(header, 80)} * littleEndian<std::uint32_t>(header, 84);
    const Bytes room = head.size();
    if (at > room / header.size() || size > room - at * header.size()) {
        return true;
    }
    return crc32(head.subspan(at * header.size(), size)) == littleEndian<std::uint32_t>(header, 88);
}

bool hasElTorito(std::span<const std::byte> head)
{
    constexpr std::size_t kBootRecord = std::size_t{17} * 2048; // fixed by the specification
    constexpr std::string_view kBegins("\0CD001\1EL TORITO SPECIFICATION", 30);
    return head.size() >= kBootRecord + kBegins.size()
        && std::memcmp(head.data() + kBootRecord, kBegins.data(), kBegins.size()) == 0;
}

} // namespace

TableFacts readTable(int fd, Range range, std::uint32_t block)
{
    TableFacts facts;
    const auto probe = newProbe(fd, range);
    if (!probe || blkid_probe_set_sectorsize(probe.get(), block) != 0) {
        return facts;
    }
    blkid_probe_enable_superblocks(probe.get(), 0);
    blkid_probe_enable_partitions(probe.get(), 1);
    blkid_probe_set_partitions_flags(probe.get(), BLKID_PARTS_ENTRY_DETAILS);
    auto* const list = blkid_probe_get_partitions(probe.get());
    auto* const table = list ? blkid_partlist_get_table(list) : nullptr;
    if (!table) {
        return facts;
    }
    const std::string_view kind = blkid_parttable_get_type(table);
    if (kind != "gpt" && kind != "dos" && kind != "PMBR") {
        facts.otherTable = true;
        return facts;
    }
    constexpr int kProtective = 0xee; // spans whatever the tool liked, up to 2 TiB
    facts.table = kind == "gpt" ? PartitionTable::Gpt : PartitionTable::Mbr;
    for (int i = 0; i < blkid_partlist_numof_partitions(list); ++i) {
        auto* const part = blkid_partlist_get_partition(list, i);
        auto described = describe(part, kind == "gpt");
        if (blkid_partition_get_type(part) != kProtective) {
            facts.end = std::max(facts.end, described.range.end());
        }
        if (blkid_partition_is_extended(part)) {
            facts.containers.push_back(described.range);
        } else {
            facts.partitions.push_back(std::move(described));
        }
    }
    std::ranges::sort(facts.partitions, {}, [](const ImagePartition& p) { return p.range.offset; });
    return facts;
}

FileSystemFacts readFileSystem(int fd, Range range)
{
    const auto probe = newProbe(fd, range);
    if (!probe) {
        return {};
    }
    blkid_probe_enable_superblocks(probe.get(), 1);
    blkid_probe_set_superblocks_flags(probe.get(), BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL);
    if (blkid_do_safeprobe(probe.get()) != 0) {
        return {};
    }
    return {.type = valueOf(probe.get(), "TYPE"), .label = valueOf(probe.get(), "LABEL")};
}

bool isSoundGptHeader(std::span<const std::byte> block)
{
    constexpr std::size_t kSizeAt = 12;
    constexpr std::size_t kCrcAt = 16;
    constexpr std::size_t kLeastSize = 92;
    if (block.size() < kLeastSize || littleEndian<std::uint64_t>(block, 0) != kGptSignature) {
        return false;
    }
    const auto size = littleEndian<std::uint32_t>(block, kSizeAt);
    if (size < kLeastSize || size > block.size()) {
        return false;
    }
    std::vector<std::byte> header(block.begin(), block.begin() + size);
    std::ranges::fill_n(header.begin() + kCrcAt, 4, std::byte{0}); // taken as zero while it is computed
    return crc32(header) == littleEndian<std::uint32_t>(block, kCrcAt);
}

GptFacts readGptHeader(std::span<const std::byte> head)
{
    for (const std::uint32_t block : {512U, 4096U}) {
        if (head.size() < std::size_t{block} * 2
            || littleEndian<std::uint64_t>(head, block) != kGptSignature) {
            continue;
        }
        constexpr std::size_t kBackupAt = 32; // AlternateLBA (UEFI 5.3.2)
        const auto header = head.subspan(block, block);
        const auto backup = littleEndian<std::uint64_t>(header, kBackupAt);
        constexpr std::uint64_t kMostBlocks = std::uint64_t{1} << 48U;
        return {.block = block,
                .end = backup < kMostBlocks ? (backup + 1) * block : 0,
                .damaged = !isSoundGptHeader(header) || !fitGptEntries(head, header)};
    }
    return {};
}

IsoFacts readIsoVolume(std::span<const std::byte> head)
{
    constexpr std::size_t kDescriptor = 32 * kKiB;
    constexpr std::size_t kDescriptorSize = 2048;
    if (head.size() < kDescriptor + kDescriptorSize) {
        return {};
    }
    const auto volume = head.subspan(kDescriptor, kDescriptorSize);
    const std::string_view letters(reinterpret_cast<const char*>(volume.data()), volume.size());
    if (letters.substr(0, 6) != "\1CD001") {
        return {};
    }
    const auto label = letters.substr(40, 32);
    return {.present = true,
            .label = std::string(label.substr(0, label.find_last_not_of(std::string_view(" \0", 2)) + 1)),
            .end = Bytes{littleEndian<std::uint32_t>(volume, 80)} * littleEndian<std::uint16_t>(volume, 128),
            .startsFromDisc = hasElTorito(head)};
}

BootRecordLinks followBootRecord(std::span<const std::byte> record, Offset at, Offset container)
{
    if (!hasBootSignature(record)) {
        return {};
    }
    constexpr std::size_t kFirstEntry = 446;
    constexpr std::size_t kSecondEntry = kFirstEntry + 16;
    constexpr std::size_t kStartAt = 8;
    // The partition counts from this record, the next record from the beginning of the container.
    const Bytes partition = littleEndian<std::uint32_t>(record, kFirstEntry + kStartAt) * kSector;
    const Bytes next = littleEndian<std::uint32_t>(record, kSecondEntry + kStartAt) * kSector;
    return {.partition = partition == 0 ? 0 : at + partition, .next = next == 0 ? 0 : container + next};
}

bool hasUdfVolume(std::span<const std::byte> head)
{
    constexpr std::size_t kSectorSize = 2048;
    for (std::size_t sector = 16; sector < 32 && head.size() >= (sector + 1) * kSectorSize; ++sector) {
        const auto* const at = reinterpret_cast<const char*>(head.data()) + sector * kSectorSize;
        const std::string_view id(at + 1, 5);
        if (id == "NSR02" || id == "NSR03") {
            return true;
        }
    }
    return false;
}

Bytes readUdfEnd(std::span<const std::byte> head)
{
    // ECMA-167: the anchor in sector 256 (3/10.2) leads to descriptors, of which number 5 is a partition's
    // (3/10.5) and number 8 ends them.
    constexpr std::size_t kSectorSize = 2048;
    constexpr std::size_t kAnchor = 256 * kSectorSize;
    constexpr std::size_t kMostDescriptors = 64;
    if (!hasUdfVolume(head) || head.size() < kAnchor + kSectorSize
        || littleEndian<std::uint16_t>(head, kAnchor) != 2) {
        return 0;
    }
    const std::size_t first = littleEndian<std::uint32_t>(head, kAnchor + 20);
    const std::size_t count = std::min<std::size_t>(
        littleEndian<std::uint32_t>(head, kAnchor + 16) / kSectorSize, kMostDescriptors);
    Bytes end = 0;
    for (std::size_t i = 0; i < count && head.size() / kSectorSize > first + i; ++i) {
        const std::size_t at = (first + i) * kSectorSize;
        const auto tag = littleEndian<std::uint16_t>(head, at);
        if (tag == 8) {
            break;
        }
        if (tag == 5) {
            const Bytes sectors = Bytes{littleEndian<std::uint32_t>(head, at + 188)}
                + littleEndian<std::uint32_t>(head, at + 192);
            end = std::max(end, sectors * kSectorSize);
        }
    }
    return end;
}

bool hasBootSignature(std::span<const std::byte> head)
{
    return head.size() >= kSector && head[510] == std::byte{0x55} && head[511] == std::byte{0xaa};
}

} // namespace burin
