// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "zipdirectory.h"

#include <cstddef>
#include <span>

namespace burin {

/// Whether `head` begins with the header of a tar archive: "ustar", and the header's checksum is right.
[[nodiscard]] bool isTarHeader(std::span<const std::byte> head);

/// The files of an uncompressed tar, by KTar.
[[nodiscard]] Result<std::vector<ArchiveMember>> readTarDirectory(const ImageFile& file);

/// Refuses what KTar takes for a plain file and is none: sparse members (ImageUnsupported), members that
/// reach beyond the end (ImageTruncated), damaged headers (ImageCorrupt).
[[nodiscard]] Result<ArchiveMember> checkTarMember(const ImageFile& file, const ArchiveMember& member);

} // namespace burin
