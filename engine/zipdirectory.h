// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"
#include "filerange.h"
#include "imagesource.h"

#include <cstdint>
#include <string>
#include <vector>

namespace burin {

/// One file of a zip, as its directory tells.
struct ZipMember {
    std::string path; ///< the bytes that stand there
    Range packed;     ///< counted from the zip's beginning
    Bytes size = 0;   ///< unpacked
    std::uint32_t crc = 0;
    std::uint16_t method = 0; ///< 0 stored, 8 deflate
    bool encrypted = false;
    Offset headerAt = 0;

    bool operator==(const ZipMember&) const = default;
};

/// The central directory of a zip file, zip64 too (PKWARE APPNOTE 6.3.10, 4.3). `packed` is not filled
/// in but for its length: locateZipMember() does that. KZip is no help here: it knows no zip64, and where
/// sizes stand behind the data (streamed zips) it scans gigabytes byte by byte for a signature that the data
/// can contain (KArchive 6.13). ImageTruncated if the end record is missing, ImageCorrupt.
[[nodiscard]] Result<std::vector<ZipMember>> readZipDirectory(const FileRange& file);

inline constexpr std::uint16_t kZipStored = 0;

/// Finds the member's data behind its local header. ImageEncrypted, ImageUnsupported (detail: the method),
/// ImageCorrupt.
[[nodiscard]] Result<ZipMember> locateZipMember(const FileRange& file, ZipMember member);

/// Reads a member whose data lie at `packed`, and checks its CRC-32 and length.
[[nodiscard]] Result<std::unique_ptr<ImageSource>>
openZipMember(const FileRange& packed, const ZipMember& member, const DecoderLimits& limits);

} // namespace burin
