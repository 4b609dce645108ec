// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "zipdirectory.h"

#include "compressedsource.h"
#include "crcsource.h"
#include "littleendian.h"
#include "rawsource.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace burin {

namespace {

constexpr std::uint32_t kLocalHeader = 0x04034b50;
constexpr std::uint32_t kCentralHeader = 0x02014b50;
constexpr std::uint32_t kEndRecord = 0x06054b50;
constexpr std::uint32_t kEndRecord64 = 0x06064b50;
constexpr std::uint32_t kEndLocator64 = 0x07064b50;
constexpr std::size_t kLocalSize = 30;
constexpr std::size_t kCentralSize = 46;
constexpr std::size_t kEndSize = 22;
constexpr std::size_t kEnd64Size = 56;
constexpr std::size_t kLocatorSize = 20;
constexpr std::uint32_t kIn64 = 0xffffffff; // the value stands in the zip64 field
constexpr std::uint16_t kZip64Field = 1;
constexpr Bytes kDirectoryMost = Bytes{64} * kMiB; // some 600 000 names; more is no image download

using Block = std::vector<std::byte>;

Result<Block> readBlock(const FileRange& file, Offset offset, std::size_t size)
{
    Block block(size);
    const auto got = file.readAt(offset, block);
    if (!got) {
        return std::unexpected(got.error());
    }
    if (*got < size) {
        return failure(ErrorCode::ImageTruncated);
    }
    return block;
}

std::unexpected<FlashError> damaged()
{
    return failure(ErrorCode::ImageCorrupt, "zip directory");
}

// The directory's place, from the zip64 end record before the end record at `endAt`.
Result<Range> directory64(const FileRange& file, Offset endAt)
{
    if (endAt < kLocatorSize) {
        return damaged();
    }
    const auto locator = readBlock(file, endAt - kLocatorSize, kLocatorSize);
    if (!locator) {
        return std::unexpected(locator.error());
    }
    if (littleEndian<std::uint32_t>(*locator, 0) != kEndLocator64) {
        return damaged();
    }
    const auto recordAt = littleEndian<std::uint64_t>(*locator, 8);
    if (recordAt > endAt) {
        return damaged();
    }
    const auto record = readBlock(file, recordAt, kEnd64Size);
    if (!record) {
        return std::unexpected(record.error());
    }
    if (littleEndian<std::uint32_t>(*record, 0) != kEndRecord64) {
        return damaged();
    }
    return Range{.offset = littleEndian<std::uint64_t>(*record, 48),
                 .length = littleEndian<std::uint64_t>(*record, 40)};
}

Result<Range> findDirectory(const FileRange& file)
{
    // The end record is followed by a comment of at most 65535 bytes.
    const auto tailSize = static_cast<std::size_t>(std::min<Bytes>(file.size(), kEndSize + 65535));
    const auto tail = readBlock(file, file.size() - tailSize, tailSize);
    if (!tail) {
        return std::unexpected(tail.error());
    }
    for (std::size_t at = tailSize < kEndSize ? 0 : tailSize - kEndSize + 1; at-- > 0;) {
        const auto record = std::span(*tail).subspan(at);
        if (littleEndian<std::uint32_t>(record, 0) != kEndRecord
            || kEndSize + littleEndian<std::uint16_t>(record, 20) > record.size()) {
            continue;
        }
        const auto disk = littleEndian<std::uint16_t>(record, 4);
        if (disk != 0 && disk != 0xffff) {
            return failure(ErrorCode::ImageUnsupported, "split zip");
        }
        const Range place = {.offset = littleEndian<std::uint32_t>(record, 16),
                             .length = littleEndian<std::uint32_t>(record, 12)};
        const bool in64 = place.offset == kIn64 || place.length == kIn64
            || littleEndian<std::uint16_t>(record, 10) == 0xffff;
        return in64 ? directory64(file, file.size() - tailSize + at) : place;
    }
    return failure(ErrorCode::ImageTruncated, "zip directory");
}

// Takes the 64-bit values that stand for kIn64, in the field's fixed order (APPNOTE 4.5.3).
bool applyZip64(std::span<const std::byte> extra, ZipMember& member)
{
    while (extra.size() >= 4) {
        const auto id = littleEndian<std::uint16_t>(extra, 0);
        const std::size_t size = littleEndian<std::uint16_t>(extra, 2);
        extra = extra.subspan(4);
        if (size > extra.size()) {
            return false;
        }
        if (id == kZip64Field) {
            auto field = extra.first(size);
            for (auto* value : {&member.size, &member.packed.length, &member.headerAt}) {
                if (*value != kIn64) {
                    continue;
                }
                if (field.size() < 8) {
                    return false;
                }
                *value = littleEndian<std::uint64_t>(field, 0);
                field = field.subspan(8);
            }
            return true;
        }
        extra = extra.subspan(size);
    }
    return member.size != kIn64 && member.packed.length != kIn64 && member.headerAt != kIn64;
}

} // namespace

Result<std::vector<ZipMember>> readZipDirectory(const FileRange& file)
{
    const auto place = findDirectory(file);
    if (!place) {
        return std::unexpected(place.error());
    }
    if (place->length > kDirectoryMost || place->offset > file.size()
        || place->length > file.size() - place->offset) {
        return damaged();
    }
    const auto block = readBlock(file, place->offset, static_cast<std::size_t>(place->length));
    if (!block) {
        return std::unexpected(block.error());
    }
    std::vector<ZipMember> members;
    for (auto rest = std::span<const std::byte>(*block); !rest.empty();) {
        if (rest.size() < kCentralSize || littleEndian<std::uint32_t>(rest, 0) != kCentralHeader) {
            return damaged();
        }
        const std::size_t nameSize = littleEndian<std::uint16_t>(rest, 28);
        const std::size_t extraSize = littleEndian<std::uint16_t>(rest, 30);
        const std::size_t size = kCentralSize + nameSize + extraSize + littleEndian<std::uint16_t>(rest, 32);
        if (size > rest.size()) {
            return damaged();
        }
        const auto name = rest.subspan(kCentralSize, nameSize);
        ZipMember member = {.path = {reinterpret_cast<const char*>(name.data()), name.size()},
                            .packed = {.offset = 0, .length = littleEndian<std::uint32_t>(rest, 20)},
                            .size = littleEndian<std::uint32_t>(rest, 24),
                            .crc = littleEndian<std::uint32_t>(rest, 16),
                            .method = littleEndian<std::uint16_t>(rest, 10),
                            .encrypted = (littleEndian<std::uint16_t>(rest, 8) & 1U) != 0,
                            .headerAt = littleEndian<std::uint32_t>(rest, 42)};
        if (!applyZip64(rest.subspan(kCentralSize + nameSize, extraSize), member)) {
            return damaged();
        }
        members.push_back(std::move(member));
        rest = rest.subspan(size);
    }
    return members;
}

Result<ZipMember> locateZipMember(const FileRange& file, ZipMember member)
{
    if (member.headerAt > file.size()) {
        return damaged();
    }
    const auto header = readBlock(file, member.headerAt, kLocalSize);
    if (!header) {
        return std::unexpected(header.error());
    }
    if (littleEndian<std::uint32_t>(*header, 0) != kLocalHeader) {
        return damaged();
    }
    member.encrypted = member.encrypted || (littleEndian<std::uint16_t>(*header, 6) & 1U) != 0;
    member.packed.offset = member.headerAt + kLocalSize + littleEndian<std::uint16_t>(*header, 26)
        + littleEndian<std::uint16_t>(*header, 28);
    if (member.packed.offset > file.size() || member.packed.length > file.size() - member.packed.offset) {
        return damaged();
    }
    constexpr std::uint16_t kAes = 99;
    if (member.encrypted || member.method == kAes) {
        return failure(ErrorCode::ImageEncrypted, member.path);
    }
    if (member.method == kZipStored && member.packed.length != member.size) {
        return damaged();
    }
    return member;
}

Result<std::unique_ptr<ImageSource>> openZipMember(const FileRange& packed, const ZipMember& member,
                                                   const DecoderLimits& limits)
{
    std::unique_ptr<ImageSource> source = std::make_unique<RawSource>(packed);
    if (member.method != kZipStored) {
        auto decoder = makeZipDecoder(member.method, member.size, limits);
        if (!decoder) {
            return std::unexpected(decoder.error());
        }
        source = std::make_unique<CompressedSource>(std::move(source), std::move(*decoder), member.size);
    }
    return std::make_unique<CrcSource>(std::move(source), member.size, member.crc);
}

} // namespace burin
