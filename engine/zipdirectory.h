// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagefile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace burin {

/// One file of a container, as its directory tells.
struct ArchiveMember {
    std::string path; ///< the bytes that stand there
    Range packed;     ///< in the file
    Bytes size = 0;   ///< unpacked
    std::uint32_t crc = 0;
    std::uint16_t method = 0; ///< of zip: 0 stored, 8 deflate
    bool encrypted = false;
    Offset headerAt = 0;

    bool operator==(const ArchiveMember&) const = default;
};

/// The central directory of a zip file, zip64 too (PKWARE APPNOTE 6.3.10, 4.3). `packed` is not filled
/// in but for its length: locateZipMember() does that. KZip is no help here: it knows no zip64, and where
/// sizes stand behind the data (streamed zips) it scans gigabytes byte by byte for a signature that the data
/// can contain (KArchive 6.13). ImageTruncated if the end record is missing, ImageCorrupt.
[[nodiscard]] Result<std::vector<ArchiveMember>> readZipDirectory(const ImageFile& file);

/// Finds the member's data behind its local header.
[[nodiscard]] Result<ArchiveMember> locateZipMember(const ImageFile& file, ArchiveMember member);

} // namespace burin
