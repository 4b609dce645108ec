// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imageprobe.h"

#include "asciitext.h"
#include "bmapfile.h"
#include "freemap.h"
#include "httpsource.h"
#include "imagefile.h"
#include "imageformat.h"
#include "imagelayout.h"
#include "imagesums.h"
#include "streamsource.h"
#include "tailchecksource.h"
#include "unwrap.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <exception>
#include <utility>
#include <vector>

namespace burin {

namespace {

constexpr Bytes kLeastImage = 512; // a boot record; less is some other file

std::string_view fileName(std::string_view path)
{
    if (isUrl(path)) {
        path = path.substr(0, path.find_first_of("?#"));
    }
    return path.substr(path.rfind('/') + 1);
}

bool endsWithAny(std::string_view name, auto suffixes)
{
    return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

// "disk.img" that is xz, "disk.xz" that is not packed at all.
bool hasOtherSuffix(std::string_view name, const std::vector<ImageLayer>& layers)
{
    static constexpr auto kBare = std::to_array<std::string_view>({".img", ".iso", ".raw", ".wic"});
    const auto claimed = formatBySuffix(name);
    const auto found = layers.empty() ? std::nullopt : std::optional(layers.front().format);
    return claimed ? claimed != found : found && endsWithAny(name, kBare);
}

/// A block map beside an image file goes before the file systems: its makers know more.
void takeBmapBeside(ImageInfo& info)
{
    if (isUrl(info.path)) {
        return;
    }
    for (const auto& path : bmapPathsFor(info.path)) {
        if (::access(path.c_str(), F_OK) != 0) {
            continue;
        }
        const auto taken = useBmap(info, path);
        info.bmapPath = path;
        if (!taken) {
            info.bmapError = taken.error();
        } else if (info.bmap->sums.empty() && !info.bmap->ranges.empty()) {
            info.bmap.reset(); // nothing to check it by: only if somebody asks for it
            info.usedDoubt = info.used ? info.usedDoubt : UsedDoubt::MapWithoutSums;
        }
        return;
    }
}

// What the unpacked beginning and the size say of its being an image at all.
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

void addFileWarnings(ImageInfo& info, const std::string& member)
{
    static constexpr auto kUnfinished =
        std::to_array<std::string_view>({".part", ".crdownload", ".partial", ".opdownload", ".aria2"});
    if (info.candidates.size() > 1 && member.empty()) {
        info.warnings.push_back(ImageWarning::ManyMembers);
    }
    if (endsWithAny(fileName(info.path), kUnfinished)) {
        info.warnings.push_back(ImageWarning::UnfinishedDownload);
    } else if (hasOtherSuffix(fileName(info.path), info.layers)) {
        info.warnings.push_back(ImageWarning::OtherSuffix);
    }
}

// Fills in all that is to be known of an image whose layers have been taken off.
Result<void> look(ImageInfo& info, UnwrappedImage& image, bool mayReadOn, const std::stop_token& stop)
{
    info.layers = image.layers;
    info.candidates = image.candidates;
    info.checked = image.checked;
    info.unpackedSize = image.source->unpackedSize();
    auto sketch = ImageSketch::create(*image.source, mayReadOn);
    if (!sketch) {
        return std::unexpected(sketch.error());
    }
    if (!info.unpackedSize) {
        info.unpackedSize = sketch->end();
    }
    if (auto read = readLayout(info, image.open, *sketch, SketchBudget{}, stop); !read) {
        return read;
    }
    if (image.open) {
        findUsedBlocks(info, *image.open, stop);
    } else {
        info.usedDoubt = UsedDoubt::Packed;
    }
    return refuseOthers(info, sketch->head());
}

struct OpenedRoot {
    FileIdentity identity;
    bool endIsMarked = true;
    ImageRoot root;
};

Result<OpenedRoot> openUrl(const std::string& url, const std::optional<FileIdentity>& expected,
                           const std::stop_token& stop)
{
    std::optional<HttpIdentity> same;
    if (expected) {
        same = HttpIdentity{.size = expected->size == 0 ? std::nullopt : std::optional(expected->size),
                            .validator = expected->validator};
    }
    auto source = HttpSource::open(url, same, {}, stop);
    if (!source) {
        return std::unexpected(source.error());
    }
    const auto& found = (*source)->identity();
    return OpenedRoot{.identity = {.size = found.size.value_or(0), .validator = found.validator},
                      .endIsMarked = (*source)->endIsMarked(),
                      .root = std::move(*source)};
}

Result<OpenedRoot> openRoot(const std::string& path, const std::optional<FileIdentity>& expected,
                            const std::stop_token& stop)
{
    if (isUrl(path)) {
        return openUrl(path, expected, stop);
    }
    auto file = ImageFile::open(path);
    if (!file) {
        return std::unexpected(file.error());
    }
    const auto identity = (*file)->identity();
    if (expected && identity != *expected) {
        return failure(ErrorCode::ImageChanged);
    }
    return OpenedRoot{.identity = identity,
                      .root = FileRange{.file = std::move(*file), .range = {.length = identity.size}}};
}

Result<ImageInfo> probe(const std::string& path, const std::stop_token& stop, const std::string& member)
{
    auto opened = openRoot(path, {}, stop);
    if (!opened) {
        return std::unexpected(opened.error());
    }
    ImageInfo info;
    info.path = path;
    info.file = opened->identity;
    auto image = unwrapImage(std::move(opened->root),
                             {.members = {member},
                              .limits = DecoderLimits::ofThisMachine(),
                              .judgedBySum = !isUrl(path) && !findSums(path).empty(),
                              .stop = stop});
    auto seen = image ? look(info, *image, true, stop) : std::unexpected(image.error());
    const bool isWhole = seen && info.layers.empty()
        && !std::ranges::contains(info.warnings, ImageWarning::ShorterThanItsTable);
    if (!isWhole && isPartOfSplit(fileName(path))) {
        return failure(ErrorCode::ImageUnsupported, "a part of a split file");
    }
    if (!seen) {
        return std::unexpected(seen.error());
    }
    // These have their mark at the end, and one that was cut short looks like a bare image.
    const auto claimed = formatBySuffix(fileName(path));
    if (info.layers.empty() && (claimed == Format::Vhd || claimed == Format::Dmg)) {
        return failure(ErrorCode::ImageTruncated, std::string(nameOf(*claimed)) + " without its end mark");
    }
    addFileWarnings(info, member);
    takeBmapBeside(info);
    if (!opened->endIsMarked) {
        info.warnings.push_back(ImageWarning::EndNotMarked);
    }
    if (isUrl(path)) {
        return info;
    }
    std::vector<std::string> inner;
    for (const auto& layer : info.layers) {
        if (!layer.member.empty()) {
            inner.push_back(layer.member);
        }
    }
    info.sums = findSums(path, inner);
    info.signatures = findSignatures(path, inner);
    return info;
}

// What a job reads: bare images from their place, everything else with an eye on its end.
std::unique_ptr<ImageSource> readable(UnwrappedImage image)
{
    if (image.open) {
        return std::move(image.source);
    }
    const auto outer =
        image.layers.empty() ? std::string_view("a stream") : nameOf(image.layers.back().format);
    return std::make_unique<TailCheckSource>(std::move(image.source), outer);
}

/// Whether a job reads the file from its beginning to its end, whatever is inside.
bool isReadInOrder(const std::vector<ImageLayer>& layers)
{
    return !layers.empty() && kindOf(layers.front().format) == FormatKind::Stream;
}

Result<std::unique_ptr<ImageSource>> open(const ImageInfo& info, const OpenOptions& how)
{
    auto opened = openRoot(info.path, info.file, how.stop);
    if (!opened) {
        return std::unexpected(opened.error());
    }
    // The digests of a bare image are the job's own.
    const auto* place = std::get_if<FileRange>(&opened->root);
    if (how.digester && place && !info.layers.empty() && !isReadInOrder(info.layers)) {
        if (auto read = how.digester->readAll(*place->file, how.stop); !read) {
            return std::unexpected(std::move(read.error()));
        }
    }
    UnwrapOptions options = {.list = false,
                             .limits = DecoderLimits::ofThisMachine(how.threadingMemory),
                             .judgedBySum = how.judgedBySum};
    if (isReadInOrder(info.layers)) {
        options.digester = how.digester;
    }
    for (const auto& layer : info.layers) {
        if (kindOf(layer.format) == FormatKind::Container) {
            options.members.push_back(layer.member);
        }
    }
    auto image = unwrapImage(std::move(opened->root), options);
    if (!image) {
        return std::unexpected(image.error());
    }
    if (image->layers != info.layers) {
        return failure(ErrorCode::ImageChanged);
    }
    return readable(std::move(*image));
}

Result<StreamedImage> takeStream(UniqueFd fd, const std::string& name, Bytes threadingMemory)
{
    auto stream = StreamSource::create(std::move(fd));
    if (!stream) {
        return std::unexpected(stream.error());
    }
    auto image = unwrapImage(std::move(*stream), {.limits = DecoderLimits::ofThisMachine(threadingMemory)});
    if (!image) {
        return std::unexpected(image.error());
    }
    ImageInfo info;
    info.path = name;
    if (const auto seen = look(info, *image, false, {}); !seen) {
        return std::unexpected(seen.error());
    }
    return StreamedImage{.info = std::move(info), .source = readable(std::move(*image))};
}

} // namespace

Result<void> useBmap(ImageInfo& info, const std::string& path)
{
    auto used = readBmap(path);
    if (!used) {
        return std::unexpected(std::move(used.error()));
    }
    if (info.unpackedSize && *info.unpackedSize != (*used)->imageSize) {
        return failure(ErrorCode::BlockMapBad,
                       "it is for an image of " + std::to_string((*used)->imageSize) + " bytes");
    }
    info.bmap = std::move(*used);
    info.bmapPath = path;
    info.bmapError.reset();
    return {};
}

std::shared_ptr<const UsedBlocks> usedBlocksOf(const ImageInfo& info)
{
    return info.bmap ? info.bmap : info.used;
}

bool isUrl(std::string_view path)
{
    return startsWithNoCase(path, "http://") || startsWithNoCase(path, "https://");
}

// No exception leaves the engine; what can be thrown here is a lack of memory.
Result<ImageInfo> probeImage(const std::string& path, std::stop_token stop, const std::string& member)
try {
    return probe(path, stop, member);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

Result<std::unique_ptr<ImageSource>> openImage(const ImageInfo& info, const OpenOptions& options)
try {
    return open(info, options);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

Result<StreamedImage> openStream(UniqueFd fd, const std::string& name, Bytes threadingMemory)
try {
    return takeStream(std::move(fd), name, threadingMemory);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

} // namespace burin
