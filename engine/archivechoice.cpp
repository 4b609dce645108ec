// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "archivechoice.h"

#include "asciitext.h"
#include "imageformat.h"

#include <algorithm>
#include <array>
#include <string>

namespace burin {

namespace {

constexpr Bytes kLeastImage = 512;
constexpr std::size_t kMostKept = 100; // more is no image download; the largest stay

bool endsWithAny(std::string_view name, auto suffixes)
{
    return std::ranges::any_of(suffixes, [&](std::string_view suffix) { return name.ends_with(suffix); });
}

constexpr auto kOthers = std::to_array<std::string_view>(
    {".txt",  ".md",      ".rst",    ".nfo",       ".rtf",       ".pdf",  ".doc",    ".html", ".htm",
     ".url",  ".xml",     ".json",   ".yaml",      ".yml",       ".ini",  ".cfg",    ".log",  ".csv",
     ".sha1", ".sha256",  ".sha512", ".sha256sum", ".sha512sum", ".md5",  ".md5sum", ".asc",  ".sig",
     ".gpg",  ".minisig", ".bmap",   ".png",       ".jpg",       ".jpeg", ".gif",    ".svg",  ".exe",
     ".msi",  ".dll",     ".apk",    ".bat",       ".cmd",       ".ps1",  ".sh",     ".py",   ".torrent",
     ".dtb",  ".efi",     ".ovf",    ".mf",        ".vbox"});
constexpr auto kImages =
    std::to_array<std::string_view>({".img", ".iso", ".raw", ".wic", ".usb", ".dd", ".sdcard", ".sdimg",
                                     ".hddimg", ".rootfs", ".ima", ".image"});

bool isCalledImage(std::string_view name)
{
    // disk.img.xz, disk.img.tar.gz, disk.vhd.zip: whatever it is packed in.
    while (const auto format = formatBySuffix(name)) {
        if (kindOf(*format) == FormatKind::VirtualDisk) {
            return true;
        }
        name = name.substr(0, name.rfind('.'));
    }
    return endsWithAny(name, kImages);
}

void keepLargest(std::vector<ImageCandidate>& all, ImageCandidate candidate)
{
    // Of several of the same size the first comes first.
    const auto at =
        std::ranges::upper_bound(all, candidate.size, std::ranges::greater{}, &ImageCandidate::size);
    all.insert(at, std::move(candidate));
    if (all.size() > kMostKept) {
        all.pop_back();
    }
}

} // namespace

Likeness likenessOf(std::string_view path, Bytes size)
{
    if (size < kLeastImage || path.ends_with('/')) {
        return Likeness::None;
    }
    const auto lower = lowerCase(path);
    if (lower.starts_with("__macosx/") || lower.contains("/__macosx/")) {
        return Likeness::None;
    }
    const auto name = std::string_view(lower).substr(lower.rfind('/') + 1);
    if (name.starts_with('.') || endsWithAny(name, kOthers)) {
        return Likeness::None;
    }
    return isCalledImage(name) ? Likeness::Image : Likeness::Possible;
}

void ArchiveChoice::add(std::string_view path, Bytes size)
{
    const auto likeness = likenessOf(path, size);
    if (likeness != Likeness::None) {
        keepLargest(likeness == Likeness::Image ? m_images : m_possible,
                    {.member = std::string(path), .size = size});
    }
}

std::vector<ImageCandidate> ArchiveChoice::candidates() const
{
    return m_images.empty() ? m_possible : m_images;
}

Result<ImageCandidate> ArchiveChoice::choose(std::string_view wanted) const
{
    for (const auto* group : {&m_images, &m_possible}) {
        for (const auto& candidate : *group) {
            if (wanted.empty() || candidate.member == wanted) {
                return candidate;
            }
        }
    }
    return failure(ErrorCode::ImageNoMember, std::string(wanted));
}

} // namespace burin
