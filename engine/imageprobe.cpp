// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imageprobe.h"

#include "archivesource.h"
#include "compressedsource.h"
#include "imageformat.h"
#include "imagelayout.h"
#include "packedfacts.h"
#include "rawsource.h"

#include <algorithm>
#include <exception>
#include <utility>
#include <vector>

namespace burin {

namespace {

constexpr std::size_t kFileHead = 4 * kKiB;
constexpr Bytes kLeastImage = 512; // a boot record; less is some other file

using File = std::shared_ptr<const ImageFile>;

struct OpenedImage {
    std::unique_ptr<ImageSource> source;
    std::optional<Range> stored; ///< where the image lies in the file as it is
};

Result<OpenedImage> openFile(const File& file, const ImageInfo& info, const ArchiveMember& member,
                             Bytes threadingMemory)
{
    const Range whole = {.offset = 0, .length = file->size()};
    if (info.container != Container::None) {
        auto source = openMember(file, info.container, member);
        if (!source) {
            return std::unexpected(source.error());
        }
        const bool isStored = member.packed.length == member.size && member.method == 0;
        return OpenedImage{.source = std::move(*source),
                           .stored = isStored ? std::optional(member.packed) : std::nullopt};
    }
    if (info.compression == Compression::None) {
        return OpenedImage{.source = std::make_unique<RawSource>(file, whole), .stored = whole};
    }
    auto decoder = makeDecoder(info.compression, DecoderLimits::ofThisMachine(threadingMemory));
    if (!decoder) {
        return std::unexpected(decoder.error());
    }
    return OpenedImage{
        .source = std::make_unique<CompressedSource>(file, whole, std::move(*decoder), info.unpackedSize),
        .stored = {}};
}

std::string tarName(Compression outer)
{
    switch (outer) {
    case Compression::Gzip:
        return "tar.gz";
    case Compression::Bzip2:
        return "tar.bz2";
    case Compression::Xz:
        return "tar.xz";
    case Compression::Zstd:
        return "tar.zst";
    case Compression::None:
        break;
    }
    return "tar";
}

// What is unpacked must be an image: an archive in an archive would be written as it is.
Result<void> refuseNested(const ImageInfo& info, std::span<const std::byte> head)
{
    const std::string outer =
        info.container != Container::None ? nameOf(info.container) : nameOf(info.compression);
    if (outer.empty()) {
        return {};
    }
    const auto packed = compressionOf(head);
    const auto container = containerOf(head);
    if (container == Container::Tar && info.container == Container::None) {
        return failure(ErrorCode::ImageUnsupported, tarName(info.compression));
    }
    const auto inner = packed != Compression::None ? nameOf(packed) : nameOf(container);
    if (!inner.empty()) {
        return failure(ErrorCode::ImageUnsupported, inner + " inside " + outer);
    }
    return {};
}

Result<void> refuseForeign(std::span<const std::byte> head, std::span<const std::byte> tail)
{
    if (auto name = foreignFormat(head, tail)) {
        return failure(ErrorCode::ImageUnsupported, std::move(*name));
    }
    return {};
}

// VHD and DMG have their mark at the end, so it is looked at where the image lies open in the file.
Result<std::vector<std::byte>> readTail(const ImageFile& file, const std::optional<Range>& stored)
{
    std::vector<std::byte> tail(stored && stored->length >= kFormatTail ? kFormatTail : 0);
    if (tail.empty()) {
        return tail;
    }
    const auto got = file.readAt(stored->end() - tail.size(), tail);
    if (!got) {
        return std::unexpected(got.error());
    }
    tail.resize(*got);
    return tail;
}

// Finds the format and what the format tells by itself; returns the member for a container.
Result<ArchiveMember> readFormat(ImageInfo& info, const ImageFile& file, const std::stop_token& stop)
{
    std::vector<std::byte> head(kFileHead);
    const auto got = file.readAt(0, head);
    if (!got) {
        return std::unexpected(got.error());
    }
    head.resize(*got);
    info.compression = compressionOf(head);
    info.container = containerOf(head);
    if (info.container != Container::None) {
        auto choice = chooseMember(file, info.container);
        if (!choice) {
            return std::unexpected(choice.error());
        }
        info.member = choice->member.path;
        info.unpackedSize = choice->member.size;
        if (choice->candidates > 1) {
            info.warnings.push_back(ImageWarning::ManyMembers);
        }
        return std::move(choice->member);
    }
    if (info.compression == Compression::None) {
        info.unpackedSize = file.size();
        return ArchiveMember{};
    }
    const auto facts = packedFacts(file, info.compression, DecoderLimits::ofThisMachine(), stop);
    if (!facts) {
        return std::unexpected(facts.error());
    }
    info.unpackedSize = facts->unpackedSize;
    if (!facts->checked) {
        info.warnings.push_back(ImageWarning::NoIntegrityCheck);
    }
    return ArchiveMember{};
}

Result<void> refuseOthers(const ImageInfo& info, std::span<const std::byte> head)
{
    if (head.empty()) {
        return failure(ErrorCode::ImageEmpty);
    }
    const bool hasStructure =
        info.table != PartitionTable::None || !info.fileSystem.empty() || info.isoHybrid;
    const bool isTiny = info.unpackedSize && *info.unpackedSize < kLeastImage;
    if (isTiny || (!hasStructure && isNoImage(head))) {
        return failure(ErrorCode::ImageFormatUnknown);
    }
    return {};
}

Result<ImageInfo> probe(const std::string& path, const std::stop_token& stop)
{
    const auto file = ImageFile::open(path);
    if (!file) {
        return std::unexpected(file.error());
    }
    ImageInfo info;
    info.path = path;
    info.file = (*file)->identity();
    const auto member = readFormat(info, **file, stop);
    if (!member) {
        return std::unexpected(member.error());
    }
    auto opened = openFile(*file, info, *member, kSmallThreadingMemory);
    if (!opened) {
        return std::unexpected(opened.error());
    }
    const auto tail = readTail(**file, opened->stored);
    if (!tail) {
        return std::unexpected(tail.error());
    }
    auto sketch = ImageSketch::create(std::move(opened->source));
    if (!sketch) {
        return std::unexpected(sketch.error());
    }
    if (!info.unpackedSize) {
        info.unpackedSize = sketch->end();
    }
    auto refused = refuseNested(info, sketch->head());
    if (refused) {
        refused = refuseForeign(sketch->head(), *tail);
    }
    if (refused) {
        refused = readLayout(info, **file, *sketch, opened->stored, SketchBudget{}, stop);
    }
    if (refused) {
        refused = refuseOthers(info, sketch->head());
    }
    if (!refused) {
        return std::unexpected(refused.error());
    }
    return info;
}

Result<std::unique_ptr<ImageSource>> open(const ImageInfo& info, Bytes threadingMemory)
{
    const auto file = ImageFile::open(info.path);
    if (!file) {
        return std::unexpected(file.error());
    }
    if ((*file)->identity() != info.file) {
        return failure(ErrorCode::ImageChanged);
    }
    ArchiveMember member;
    if (info.container != Container::None) {
        auto choice = chooseMember(**file, info.container);
        if (!choice) {
            return std::unexpected(choice.error());
        }
        if (choice->member.path != info.member) {
            return failure(ErrorCode::ImageChanged);
        }
        member = std::move(choice->member);
    }
    auto opened = openFile(*file, info, member, threadingMemory);
    if (!opened) {
        return std::unexpected(opened.error());
    }
    return std::move(opened->source);
}

} // namespace

// No exception leaves the engine; what can be thrown here is a lack of memory.
Result<ImageInfo> probeImage(const std::string& path, std::stop_token stop)
try {
    return probe(path, stop);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

Result<std::unique_ptr<ImageSource>> openImage(const ImageInfo& info, Bytes threadingMemory)
try {
    return open(info, threadingMemory);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

} // namespace burin
