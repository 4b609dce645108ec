// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tardirectory.h"

#include <KTar>
#include <QFile>

#include <array>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

namespace burin {

namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kSizeAt = 124;
constexpr std::size_t kSizeLength = 12;

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
    for (std::size_t i = 0; i < kBlock; ++i) {
        const bool inField = i >= kChecksumAt && i < kChecksumAt + kChecksumSize;
        sum += inField ? Bytes{' '} : std::to_integer<Bytes>(block[i]);
    }
    return octalAt(block, kChecksumAt, kChecksumSize) == sum;
}

// What KTar (6.13) can't follow: sizes of 8 GiB and more, which GNU tar writes in base 256, marked by the
// highest bit, and pax headers of more than a block.
bool isBeyondKTar(std::span<const std::byte> block)
{
    const auto type = std::to_integer<char>(block[kTypeAt]);
    return type == 'x' || type == 'g' || (block[kSizeAt] & std::byte{0x80}) != std::byte{0};
}

/// Whether an extended (pax) header gives the size of the member that follows it: " size=" in its records.
bool givesSize(const ImageFile& file, Offset at, Bytes length)
{
    std::vector<std::byte> records(static_cast<std::size_t>(std::min<Bytes>(length, kMiB)));
    const auto got = file.readAt(at, records);
    const std::string_view text(reinterpret_cast<const char*>(records.data()), records.size());
    return !got || length > kMiB || text.contains(" size=");
}

/// KTar takes a size in base-256 or in an extended header for 0 and reads the member's data as the next
/// header, or as the archive's end: so the headers are followed here too, and what it can't read is refused.
Result<void> walkHeaders(const ImageFile& file)
{
    for (Offset at = 0; at + kBlock <= file.size();) {
        std::array<std::byte, kBlock> header = {};
        if (const auto got = file.readAt(at, header); !got) {
            return std::unexpected(got.error());
        }
        if (std::ranges::all_of(header, [](std::byte b) { return b == std::byte{0}; })) {
            return {};
        }
        if (!hasRightChecksum(header)) {
            return failure(ErrorCode::ImageCorrupt, "tar header");
        }
        const auto size = octalAt(header, kSizeAt, kSizeLength);
        const auto type = std::to_integer<char>(header[kTypeAt]);
        const bool extended = type == 'x' || type == 'g';
        if (!size || (header[kSizeAt] & std::byte{0x80}) != std::byte{0}
            || (extended && givesSize(file, at + kBlock, *size))) {
            return failure(ErrorCode::ImageUnsupported, "tar with extended headers");
        }
        at += kBlock + alignUp(*size, kBlock);
    }
    return {};
}

void collect(const KArchiveDirectory& folder, const std::string& path, std::vector<ArchiveMember>& members)
{
    const auto names = folder.entries();
    for (const auto& name : names) {
        const auto* entry = folder.entry(name);
        const auto below = path + QFile::encodeName(name).toStdString();
        if (entry->isDirectory()) {
            collect(static_cast<const KArchiveDirectory&>(*entry), below + '/', members);
        } else if (const auto* plain = static_cast<const KArchiveFile*>(entry);
                   plain->symLinkTarget().isEmpty() && plain->size() > 0) {
            members.push_back({.path = below,
                               .packed = {.offset = static_cast<Offset>(plain->position()),
                                          .length = static_cast<Bytes>(plain->size())},
                               .size = static_cast<Bytes>(plain->size())});
        }
    }
}

} // namespace

bool isTarHeader(std::span<const std::byte> head)
{
    constexpr std::size_t kMagicAt = 257;
    return head.size() >= kBlock && textAt(head, kMagicAt, 5) == "ustar" && hasRightChecksum(head);
}

Result<std::vector<ArchiveMember>> readTarDirectory(const ImageFile& file)
{
    QFile device;
    if (!device.open(file.fd(), QIODevice::ReadOnly, QFileDevice::DontCloseHandle) || !device.seek(0)) {
        return failure(ErrorCode::ImageUnreadable);
    }
    KTar tar(&device);
    if (!tar.open(QIODevice::ReadOnly)) {
        std::array<std::byte, kBlock> head = {};
        const auto got = file.readAt(0, head);
        if (got && isBeyondKTar(head)) {
            return failure(ErrorCode::ImageUnsupported, "tar with extended headers");
        }
        return failure(ErrorCode::ImageCorrupt, "tar header");
    }
    if (const auto walked = walkHeaders(file); !walked) {
        return std::unexpected(walked.error());
    }
    std::vector<ArchiveMember> members;
    collect(*tar.directory(), {}, members);
    return members;
}

Result<ArchiveMember> checkTarMember(const ImageFile& file, const ArchiveMember& member)
{
    std::array<std::byte, kBlock> header = {};
    const auto got = file.readAt(member.packed.offset - kBlock, header);
    if (!got) {
        return std::unexpected(got.error());
    }
    if (*got < kBlock || !hasRightChecksum(header)) {
        return failure(ErrorCode::ImageCorrupt, "tar header");
    }
    const auto type = std::to_integer<char>(header[kTypeAt]);
    if ((type != '0' && type != '\0') || member.path.contains("GNUSparseFile.")) {
        return failure(ErrorCode::ImageUnsupported, "tar with a sparse file");
    }
    if (member.packed.end() > file.size()) {
        return failure(ErrorCode::ImageTruncated);
    }
    return member;
}

} // namespace burin
