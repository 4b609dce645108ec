// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imageformat.h"

#include "decoder.h"
#include "littleendian.h"
#include "tardirectory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string_view>

namespace burin {

namespace {

using namespace std::string_view_literals;

bool hasAt(std::span<const std::byte> data, std::size_t offset, std::string_view magic)
{
    return data.size() >= offset + magic.size()
        && std::ranges::equal(magic, data.subspan(offset, magic.size()),
                              [](char a, std::byte b) { return a == std::to_integer<char>(b); });
}

struct Magic {
    std::size_t offset;
    std::string_view bytes;
    std::string_view name;
};

constexpr auto kForeign = std::to_array<Magic>({
    {0, "7z\xbc\xaf\x27\x1c"sv, "7z"},
    {0, "Rar!\x1a\x07"sv, "RAR"},
    {0, "\x04\x22\x4d\x18"sv, "lz4"},
    {0, "\x02\x21\x4c\x18"sv, "lz4"},
    {0, "LZIP"sv, "lzip"},
    {0, "\x89LZO\0\r\n\x1a\n"sv, "lzop"},
    {0, "LRZI"sv, "lrzip"},
    {0, "\x1f\x9d"sv, "compress"},
    {0, "MSWIM\0\0\0"sv, "WIM"},
    {0, "MSCF\0\0\0\0"sv, "CAB"},
    {0, "PK\x07\x08"sv, "split zip"},
    {0, "conectix"sv, "VHD"},
    {0, "vhdxfile"sv, "VHDX"},
    {0, "QFI\xfb"sv, "qcow2"},
    {0, "QED\0"sv, "QED"},
    {0, "KDMV"sv, "VMDK"},
    {0, "COWD"sv, "VMDK"},
    {0, "# Disk DescriptorFile"sv, "VMDK"},
    {64, "\x7f\x10\xda\xbe"sv, "VDI"},
    {0, "WithoutFreeSpace"sv, "Parallels"},
    {0, "WithouFreSpacExt"sv, "Parallels"},
    {0, "\x3a\xff\x26\xed"sv, "Android sparse"},
    {0, "\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0"sv, "CD image with raw sectors"},
});

constexpr auto kNoImages = std::to_array<Magic>({
    {0, "%PDF-"sv, {}},
    {0,
     "\x7f"
     "ELF"sv,
     {}},
    {0, "\x89PNG\r\n\x1a\n"sv, {}},
    {0, "\xff\xd8\xff"sv, {}},
    {0, "GIF8"sv, {}},
    {0, "!<arch>\n"sv, {}},
    {0, "\xed\xab\xee\xdb"sv, {}},         // rpm
    {0, "\xd0\xcf\x11\xe0\xa1\xb1"sv, {}}, // the old Office formats, msi
    {0, "\xff\xfe"sv, {}},                 // UTF-16 text
    {0, "\xfe\xff"sv, {}},
});

// lzma-alone has no magic: properties, dictionary size, unpacked size. The usual values of each, as
// xz's own lzma_alone_decoder demands them in its "picky" mode.
bool isLzmaAlone(std::span<const std::byte> head)
{
    if (head.size() < 13 || head[0] != std::byte{0x5d}) {
        return false;
    }
    const auto dictionary = littleEndian<std::uint32_t>(head, 1);
    const auto size = littleEndian<std::uint64_t>(head, 5);
    const bool usual = std::has_single_bit(dictionary)
        || (std::popcount(dictionary) == 2 && (dictionary & (dictionary << 1U)) != 0);
    constexpr Bytes kMost = Bytes{1} << 38U;
    return dictionary >= 4 * kKiB && usual && (size == ~std::uint64_t{0} || size < kMost);
}

bool isText(std::span<const std::byte> head)
{
    return std::ranges::all_of(head.first(std::min(head.size(), 4 * kKiB)), [](std::byte b) {
        const auto c = std::to_integer<unsigned char>(b);
        return c == '\t' || c == '\n' || c == '\r' || c == '\f' || (c >= 0x20 && c != 0x7f);
    });
}

} // namespace

Compression compressionOf(std::span<const std::byte> head)
{
    if (hasAt(head, 0, "\x1f\x8b\x08"sv)) {
        return Compression::Gzip;
    }
    // The level, and then the magic of a block or of an empty stream's end.
    if (hasAt(head, 0, "BZh"sv) && head.size() > 4 && head[3] >= std::byte{'1'} && head[3] <= std::byte{'9'}
        && (head[4] == std::byte{0x31} || head[4] == std::byte{0x17})) {
        return Compression::Bzip2;
    }
    if (hasAt(head, 0,
              "\xfd"
              "7zXZ\0"sv)) {
        return Compression::Xz;
    }
    const bool skippable = head.size() > 4 && hasAt(head, 1, "\x2a\x4d\x18"sv)
        && (head[0] & std::byte{0xf0}) == std::byte{0x50}; // pzstd begins with such a frame
    if (hasAt(head, 0, "\x28\xb5\x2f\xfd"sv) || skippable) {
        return Compression::Zstd;
    }
    return Compression::None;
}

Container containerOf(std::span<const std::byte> head)
{
    if (hasAt(head, 0, "PK\x03\x04"sv) || hasAt(head, 0, "PK\x05\x06"sv)) {
        return Container::Zip;
    }
    return isTarHeader(head) ? Container::Tar : Container::None;
}

std::string nameOf(Compression compression)
{
    switch (compression) {
    case Compression::Gzip:
        return "gzip";
    case Compression::Bzip2:
        return "bzip2";
    case Compression::Xz:
        return "xz";
    case Compression::Zstd:
        return "zstd";
    case Compression::None:
        break;
    }
    return {};
}

std::string nameOf(Container container)
{
    switch (container) {
    case Container::Zip:
        return "zip";
    case Container::Tar:
        return "tar";
    case Container::None:
        break;
    }
    return {};
}

std::optional<std::string> foreignFormat(std::span<const std::byte> head, std::span<const std::byte> tail)
{
    for (const auto& magic : kForeign) {
        if (hasAt(head, magic.offset, magic.bytes)) {
            return std::string(magic.name);
        }
    }
    if (isLzmaAlone(head)) {
        return "lzma";
    }
    if (hasAt(tail, 0, "conectix"sv)) {
        return "VHD";
    }
    if (hasAt(tail, 0, "koly"sv)) {
        return "DMG";
    }
    return {};
}

bool isNoImage(std::span<const std::byte> head)
{
    return isText(head)
        || std::ranges::any_of(kNoImages, [&](const Magic& m) { return hasAt(head, m.offset, m.bytes); });
}

} // namespace burin
