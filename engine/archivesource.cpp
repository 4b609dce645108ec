// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "archivesource.h"

#include "compressedsource.h"
#include "rawsource.h"
#include "tardirectory.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>
#include <utility>

namespace burin {

namespace {

constexpr Bytes kLeastImage = 512;
constexpr std::uint16_t kStored = 0;
constexpr std::uint16_t kDeflated = 8;

std::string lowerCase(std::string_view text)
{
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

// The one place where a name counts: only a name can tell a readme from an image before it is unpacked.
bool mayBeImage(const ArchiveMember& member)
{
    if (member.size < kLeastImage || member.path.ends_with('/')) {
        return false;
    }
    const auto path = lowerCase(member.path);
    if (path.starts_with("__macosx/") || path.contains("/__macosx/")) {
        return false;
    }
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    static constexpr auto kOthers = std::to_array<std::string_view>(
        {".txt",    ".md",  ".rst",  ".nfo",    ".rtf",     ".pdf",       ".doc",       ".html",
         ".htm",    ".url", ".xml",  ".json",   ".yaml",    ".yml",       ".ini",       ".cfg",
         ".log",    ".csv", ".sha1", ".sha256", ".sha512",  ".sha256sum", ".sha512sum", ".md5",
         ".md5sum", ".asc", ".sig",  ".gpg",    ".minisig", ".bmap",      ".png",       ".jpg",
         ".jpeg",   ".gif", ".svg",  ".exe",    ".msi",     ".dll",       ".apk",       ".bat",
         ".cmd",    ".ps1", ".sh",   ".py",     ".torrent"});
    return !name.starts_with('.')
        && std::ranges::none_of(kOthers, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

std::string methodName(std::uint16_t method)
{
    switch (method) {
    case 9:
        return "zip with deflate64";
    case 12:
        return "zip with bzip2";
    case 14:
        return "zip with lzma";
    case 93:
        return "zip with zstd";
    case 95:
        return "zip with xz";
    default:
        return "zip with method " + std::to_string(method);
    }
}

Result<ArchiveMember> checkZipMember(const ImageFile& file, const ArchiveMember& found)
{
    auto member = locateZipMember(file, found);
    if (!member) {
        return member;
    }
    constexpr std::uint16_t kAes = 99;
    if (member->encrypted || member->method == kAes) {
        return failure(ErrorCode::ImageEncrypted, member->path);
    }
    if (member->method != kStored && member->method != kDeflated) {
        return failure(ErrorCode::ImageUnsupported, methodName(member->method));
    }
    if (member->method == kStored && member->packed.length != member->size) {
        return failure(ErrorCode::ImageCorrupt, "zip directory");
    }
    return member;
}

} // namespace

Result<ArchiveChoice> chooseMember(const ImageFile& file, Container container)
{
    const auto members = container == Container::Zip ? readZipDirectory(file) : readTarDirectory(file);
    if (!members) {
        return std::unexpected(members.error());
    }
    ArchiveChoice choice;
    for (const auto& member : *members) {
        if (!mayBeImage(member)) {
            continue;
        }
        ++choice.candidates;
        if (member.size > choice.member.size) {
            choice.member = member;
        }
    }
    if (choice.candidates == 0) {
        return failure(ErrorCode::ImageNoMember);
    }
    auto checked = container == Container::Zip ? checkZipMember(file, choice.member)
                                               : checkTarMember(file, choice.member);
    if (!checked) {
        return std::unexpected(checked.error());
    }
    choice.member = std::move(*checked);
    return choice;
}

Result<std::unique_ptr<ImageSource>> openMember(std::shared_ptr<const ImageFile> file, Container container,
                                                const ArchiveMember& member)
{
    if (container == Container::Tar || member.method == kStored) {
        auto raw = std::make_unique<RawSource>(std::move(file), member.packed);
        if (container == Container::Tar) {
            return raw;
        }
        return std::make_unique<ArchiveSource>(std::move(raw), member.size, member.crc);
    }
    auto decoder = makeDeflateDecoder();
    if (!decoder) {
        return std::unexpected(decoder.error());
    }
    auto inflated =
        std::make_unique<CompressedSource>(std::move(file), member.packed, std::move(*decoder), member.size);
    return std::make_unique<ArchiveSource>(std::move(inflated), member.size, member.crc);
}

ArchiveSource::ArchiveSource(std::unique_ptr<ImageSource> member, Bytes size, std::uint32_t crc)
    : m_member(std::move(member)), m_size(size), m_expected(crc)
{
}

Result<std::size_t> ArchiveSource::read(std::span<std::byte> out)
{
    auto filled = m_member->read(out);
    if (!filled) {
        return filled;
    }
    m_crc = static_cast<std::uint32_t>(crc32_z(m_crc, reinterpret_cast<const Bytef*>(out.data()), *filled));
    m_done += *filled;
    // Said with the last byte, not one read later, for a caller who knows the size.
    const bool ended = *filled < out.size() || m_done >= m_size;
    if (ended && (m_done != m_size || m_crc != m_expected)) {
        return failure(ErrorCode::ImageCorrupt, 0, m_done, m_done == m_size ? "CRC-32" : "length");
    }
    return filled;
}

} // namespace burin
