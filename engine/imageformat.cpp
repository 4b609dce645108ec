// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imageformat.h"

#include "asciitext.h"
#include "littleendian.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
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
    {0, "Rar!\x1a\x07"sv, "RAR"},
    {0, "\x02\x21\x4c\x18"sv, "lz4 of the old kind"},
    {0, "\x89LZO\0\r\n\x1a\n"sv, "lzop"},
    {0, "LRZI"sv, "lrzip"},
    {0, "\x1f\x9d"sv, "compress"},
    {0, "MSWIM\0\0\0"sv, "WIM"},
    {0, "MSCF\0\0\0\0"sv, "CAB"},
    {0, "PK\x07\x08"sv, "split zip"},
    {0, "QED\0"sv, "QED"},
    {0, "COWD"sv, "VMDK of VMware ESX"},
    {0, "# Disk DescriptorFile"sv, "VMDK in several files"},
    {64, "\x7f\x10\xda\xbe"sv, "VDI"},
    {0, "WithoutFreeSpace"sv, "Parallels"},
    {0, "WithouFreSpacExt"sv, "Parallels"},
    {0, "encrcdsa"sv, "encrypted DMG"},
    {0, "\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\0"sv, "CD image with raw sectors"},
});

struct KnownMagic {
    std::string_view bytes;
    Format format;
};

constexpr auto kKnown = std::to_array<KnownMagic>({
    {"\x1f\x8b\x08"sv, Format::Gzip},
    {"\xfd"
     "7zXZ\0"sv,
     Format::Xz},
    {"\x28\xb5\x2f\xfd"sv, Format::Zstd},
    {"\x04\x22\x4d\x18"sv, Format::Lz4},
    {"LZIP\x01"sv, Format::Lzip},
    {"PK\x03\x04"sv, Format::Zip},
    {"PK\x05\x06"sv, Format::Zip}, // an empty one
    {"7z\xbc\xaf\x27\x1c"sv, Format::SevenZip},
    {"conectix"sv, Format::Vhd},
    {"vhdxfile"sv, Format::Vhdx},
    {"QFI\xfb"sv, Format::Qcow2},
    {"KDMV"sv, Format::Vmdk},
    {"\x3a\xff\x26\xed"sv, Format::AndroidSparse},
});

struct FormatFacts {
    Format format;
    FormatKind kind;
    std::string_view name;
};

constexpr auto kFacts = std::to_array<FormatFacts>({
    {Format::Gzip, FormatKind::Stream, "gzip"},
    {Format::Bzip2, FormatKind::Stream, "bzip2"},
    {Format::Xz, FormatKind::Stream, "xz"},
    {Format::Zstd, FormatKind::Stream, "zstd"},
    {Format::Lz4, FormatKind::Stream, "lz4"},
    {Format::Lzip, FormatKind::Stream, "lzip"},
    {Format::Lzma, FormatKind::Stream, "lzma"},
    {Format::Zip, FormatKind::Container, "zip"},
    {Format::SevenZip, FormatKind::Container, "7z"},
    {Format::Tar, FormatKind::Container, "tar"},
    {Format::Vhd, FormatKind::VirtualDisk, "VHD"},
    {Format::Vhdx, FormatKind::VirtualDisk, "VHDX"},
    {Format::Qcow2, FormatKind::VirtualDisk, "qcow2"},
    {Format::Vmdk, FormatKind::VirtualDisk, "VMDK"},
    {Format::AndroidSparse, FormatKind::VirtualDisk, "Android sparse"},
    {Format::Dmg, FormatKind::VirtualDisk, "DMG"},
});

const FormatFacts& factsOf(Format format)
{
    return *std::ranges::find(kFacts, format, &FormatFacts::format);
}

struct Suffix {
    std::string_view suffix;
    Format format;
};

constexpr auto kSuffixes = std::to_array<Suffix>({
    {".gz", Format::Gzip},
    {".tgz", Format::Gzip},
    {".bz2", Format::Bzip2},
    {".tbz2", Format::Bzip2},
    {".tbz", Format::Bzip2},
    {".xz", Format::Xz},
    {".txz", Format::Xz},
    {".zst", Format::Zstd},
    {".zstd", Format::Zstd},
    {".tzst", Format::Zstd},
    {".lz4", Format::Lz4},
    {".lz", Format::Lzip},
    {".lzma", Format::Lzma},
    {".zip", Format::Zip},
    {".7z", Format::SevenZip},
    {".tar", Format::Tar},
    {".vhd", Format::Vhd},
    {".vpc", Format::Vhd},
    {".vhdx", Format::Vhdx},
    {".qcow2", Format::Qcow2},
    {".qcow", Format::Qcow2},
    {".vmdk", Format::Vmdk},
    {".simg", Format::AndroidSparse},
    {".dmg", Format::Dmg},
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

constexpr std::size_t kTarBlock = 512;

std::string_view textAt(std::span<const std::byte> block, std::size_t offset, std::size_t length)
{
    const std::string_view field(reinterpret_cast<const char*>(block.data()) + offset, length);
    return field.substr(0, field.find('\0'));
}

std::optional<Bytes> octalAt(std::span<const std::byte> block, std::size_t offset, std::size_t length)
{
    auto text = textAt(block, offset, length);
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    Bytes value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value, 8);
    return parsed.ec == std::errc() ? std::optional(value) : std::nullopt;
}

bool hasRightChecksum(std::span<const std::byte> block)
{
    constexpr std::size_t kChecksumAt = 148;
    constexpr std::size_t kChecksumSize = 8;
    Bytes sum = 0;
    for (std::size_t i = 0; i < kTarBlock; ++i) {
        const bool inField = i >= kChecksumAt && i < kChecksumAt + kChecksumSize;
        sum += inField ? Bytes{' '} : std::to_integer<Bytes>(block[i]);
    }
    return octalAt(block, kChecksumAt, kChecksumSize) == sum;
}

bool isTarHeader(std::span<const std::byte> head)
{
    constexpr std::size_t kMagicAt = 257;
    return head.size() >= kTarBlock && textAt(head, kMagicAt, 5) == "ustar" && hasRightChecksum(head);
}

} // namespace

FormatKind kindOf(Format format)
{
    return factsOf(format).kind;
}

std::string_view nameOf(Format format)
{
    return factsOf(format).name;
}

std::optional<Format> formatByTail(std::span<const std::byte> tail)
{
    if (hasAt(tail, 0, "conectix"sv)) {
        return Format::Vhd;
    }
    if (hasAt(tail, 0, "koly"sv)) {
        return Format::Dmg;
    }
    return {};
}

std::optional<Format> formatOf(std::span<const std::byte> head, std::span<const std::byte> tail)
{
    for (const auto& known : kKnown) {
        if (hasAt(head, 0, known.bytes)) {
            return known.format;
        }
    }
    // The level, and then the magic of a block or of an empty stream's end.
    if (hasAt(head, 0, "BZh"sv) && head.size() > 4 && head[3] >= std::byte{'1'} && head[3] <= std::byte{'9'}
        && (head[4] == std::byte{0x31} || head[4] == std::byte{0x17})) {
        return Format::Bzip2;
    }
    const bool skippable = head.size() > 4 && hasAt(head, 1, "\x2a\x4d\x18"sv)
        && (head[0] & std::byte{0xf0}) == std::byte{0x50}; // pzstd begins with such a frame
    if (skippable) {
        return Format::Zstd;
    }
    if (isTarHeader(head)) {
        return Format::Tar;
    }
    if (const auto format = formatByTail(tail)) {
        return format;
    }
    return isLzmaAlone(head) ? std::optional(Format::Lzma) : std::nullopt;
}

std::optional<std::string> foreignFormat(std::span<const std::byte> head)
{
    for (const auto& magic : kForeign) {
        if (hasAt(head, magic.offset, magic.bytes)) {
            return std::string(magic.name);
        }
    }
    return {};
}

bool isNoImage(std::span<const std::byte> head)
{
    return isText(head)
        || std::ranges::any_of(kNoImages, [&](const Magic& m) { return hasAt(head, m.offset, m.bytes); });
}

std::optional<Format> formatBySuffix(std::string_view fileName)
{
    const std::string name = lowerCase(fileName);
    for (const auto& known : kSuffixes) {
        if (name.ends_with(known.suffix) && name.size() > known.suffix.size()) {
            return known.format;
        }
    }
    return {};
}

std::vector<std::string_view> packedSuffixes()
{
    std::vector<std::string_view> all;
    for (const auto& known : kSuffixes) {
        all.push_back(known.suffix);
    }
    return all;
}

bool isPartOfSplit(std::string_view fileName)
{
    const std::string name = lowerCase(fileName);
    const auto dot = name.rfind('.');
    if (dot == std::string::npos || dot == 0) {
        return false;
    }
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    const std::string_view last = std::string_view(name).substr(dot + 1);
    if (last.size() == 3 && std::ranges::all_of(last, isDigit)) { // disk.7z.001, disk.img.002
        return name.find('.') < dot;
    }
    if (last.size() == 3 && last[0] == 'z' && isDigit(last[1]) && isDigit(last[2])) { // disk.z01
        return true;
    }
    // split(1) adds two letters: disk.img.xzaa, disk.img.xz.ab, disk.zipac.
    if (last.size() < 2 || last[last.size() - 2] != 'a' || last.back() < 'a' || last.back() > 'z') {
        return false;
    }
    const std::string without = name.substr(0, name.size() - 2);
    return formatBySuffix(without.ends_with('.') ? without.substr(0, without.size() - 1) : without)
        .has_value();
}

} // namespace burin
