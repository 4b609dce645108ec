// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imagelayout.h"

#include "partitionprobe.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

namespace burin {

namespace {

// Enough for every superblock that libblkid knows near a beginning; the farthest is btrfs's, at 64 KiB.
constexpr Bytes kPartitionHead = 128 * kKiB;
// Stands for an unknown size, so that no table seems too large.
constexpr Bytes kUnknownSize = Bytes{1} << 42U;

// Where libblkid finds the unpacked image.
struct Place {
    int fd = -1;
    Range range;
};

Place within(const Place& place, Range part)
{
    const Bytes length =
        part.offset >= place.range.length ? 0 : std::min(part.length, place.range.length - part.offset);
    return {.fd = place.fd, .range = {.offset = place.range.offset + part.offset, .length = length}};
}

void setSketchSize(const ImageSketch& sketch, Bytes size)
{
    // If it fails, reads beyond the kept parts fail and libblkid finds less; nothing worse.
    [[maybe_unused]] const int result = ::ftruncate(sketch.fd(), static_cast<off_t>(size));
}

// Keeps the beginnings of all partitions in the sketch, logical ones too: their records are only found on
// the way, each naming the next.
Result<void> keepPartitionHeads(ImageSketch& sketch, const TableFacts& table, const SketchBudget& budget,
                                const std::stop_token& stop)
{
    std::map<Offset, std::optional<Range>> wanted; // with the container, where it is a boot record
    for (const auto& partition : table.partitions) {
        wanted.emplace(partition.range.offset, std::nullopt);
    }
    for (const auto& container : table.containers) {
        wanted.insert_or_assign(container.offset, container);
    }
    Offset position = sketch.head().size();
    while (!wanted.empty()) {
        const auto [offset, container] = *wanted.begin();
        wanted.erase(wanted.begin());
        const Offset from = std::max(offset, position);
        const Offset to = offset + kPartitionHead;
        if (from < to) {
            const auto kept = sketch.keep({.offset = from, .length = to - from}, budget, stop);
            if (!kept) {
                return std::unexpected(kept.error());
            }
            if (kept->empty()) {
                return {}; // the image's end, or the budget's
            }
            position = from + kept->size();
        }
        std::array<std::byte, 512> record = {};
        if (container
            && ::pread(sketch.fd(), record.data(), record.size(), static_cast<off_t>(offset)) == 512) {
            const auto links = followBootRecord(record, offset, container->offset);
            for (const auto& [next, inside] :
                 {std::pair(links.partition, std::optional<Range>()), std::pair(links.next, container)}) {
                if (next > offset && next < container->end()) { // only forward: a ring would never end
                    wanted.emplace(next, inside);
                }
            }
        }
    }
    return {};
}

bool contains(std::span<const std::byte> data, std::string_view word)
{
    const std::string_view all(reinterpret_cast<const char*>(data.data()), data.size());
    return all.contains(word);
}

// Microsoft's installation media: UDF with a boot manager and no boot record for USB. Their labels end in
// the architecture and edition (CCCOMA_X64FRE_DE-DE_DV9).
bool isWindowsInstaller(std::span<const std::byte> head, std::string_view label)
{
    if (hasBootSignature(head)) {
        return false;
    }
    const bool named = label.contains("_X64FRE") || label.contains("_X86FRE") || label.contains("_A64FRE");
    return named || (hasUdfVolume(head) && (contains(head, "bootmgr") || contains(head, "BOOTMGR")));
}

/// The backup header of a GPT that lies bare in a file and reaches no farther than that.
bool isBackupDamaged(const GptFacts& gpt, const std::optional<FileRange>& stored)
{
    if (!stored || gpt.block == 0 || gpt.end < gpt.block || gpt.end > stored->range.length) {
        return false;
    }
    std::vector<std::byte> header(gpt.block);
    return stored->readExactlyAt(gpt.end - gpt.block, header).has_value() && !isSoundGptHeader(header);
}

void addWarnings(ImageInfo& info, std::span<const std::byte> head, const TableFacts& table,
                 bool startsFromDisc, Bytes claimedEnd)
{
    if (isWindowsInstaller(head, info.label)) {
        info.warnings.push_back(ImageWarning::WindowsInstaller);
    } else if (info.table == PartitionTable::None && !table.otherTable && !hasBootSignature(head)) {
        info.warnings.push_back(startsFromDisc ? ImageWarning::StartsFromDiscOnly
                                               : ImageWarning::NoBootRecord);
    }
    info.claimedEnd = claimedEnd;
    if (info.unpackedSize && claimedEnd > *info.unpackedSize) {
        info.warnings.push_back(ImageWarning::ShorterThanItsTable);
    }
}

void readFileSystems(ImageInfo& info, const Place& image, const IsoFacts& iso)
{
    for (auto& partition : info.partitions) {
        const auto place = within(image, partition.range);
        if (place.range.length > 0) {
            const auto found = readFileSystem(place.fd, place.range);
            partition.fileSystem = found.type;
            partition.label = found.label;
        }
    }
    if (info.table == PartitionTable::None) {
        const auto found = readFileSystem(image.fd, image.range);
        info.fileSystem = found.type.empty() && iso.present ? "iso9660" : found.type;
        info.label = found.label;
    }
    info.isoHybrid = iso.present && info.table != PartitionTable::None;
    if (iso.present && info.label.empty()) {
        info.label = iso.label;
    }
}

} // namespace

Result<void> readLayout(ImageInfo& info, const std::optional<FileRange>& stored, ImageSketch& sketch,
                        const SketchBudget& budget, const std::stop_token& stop)
{
    const auto head = sketch.head();
    const auto gpt = readGptHeader(head);
    const auto iso = readIsoVolume(head);
    info.tableBlock = gpt.block == 4096 ? 4096 : 512;

    const Bytes size = info.unpackedSize.value_or(kUnknownSize);
    const Bytes claimed = std::max(size, gpt.end);
    setSketchSize(sketch, claimed);
    const Place sketched = {.fd = sketch.fd(), .range = {.offset = 0, .length = claimed}};
    const Place image = stored ? Place{.fd = stored->file->fd(), .range = stored->range}
                               : Place{.fd = sketch.fd(), .range = {.offset = 0, .length = size}};
    // libblkid refuses a GPT that reaches beyond the end; then only the sketch, made larger, shows it.
    const Place tablePlace = stored && gpt.end <= size ? image : sketched;
    auto table = readTable(tablePlace.fd, tablePlace.range, info.tableBlock);
    if (!stored) {
        if (auto kept = keepPartitionHeads(sketch, table, budget, stop); !kept) {
            return kept;
        }
        if (!table.containers.empty()) {
            table = readTable(sketched.fd, sketched.range, info.tableBlock);
        }
        if (!info.unpackedSize) {
            info.unpackedSize = sketch.end();
        }
    }
    info.table = table.table;
    info.partitions = table.partitions;
    readFileSystems(info, image, iso);
    const Bytes gptEnd = table.table == PartitionTable::Gpt ? gpt.end : 0;
    if (gpt.damaged || isBackupDamaged(gpt, stored)) {
        info.warnings.push_back(ImageWarning::DamagedTable);
    }
    addWarnings(info, head, table, iso.startsFromDisc,
                std::max({table.end, gptEnd, iso.end, readUdfEnd(head)}));
    return {};
}

} // namespace burin
