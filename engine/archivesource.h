// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagefile.h"
#include "imagesource.h"
#include "zipdirectory.h"

#include <memory>

namespace burin {

struct ArchiveChoice {
    ArchiveMember member;
    std::size_t candidates = 0;
};

/// The largest member that may be a disk image: a file of 512 bytes or more that is not hidden, not
/// __MACOSX's, and has no name of text, checksums, signatures or programs. ImageNoMember if there is none,
/// ImageEncrypted, ImageUnsupported (detail: the method), ImageCorrupt, ImageTruncated.
[[nodiscard]] Result<ArchiveChoice> chooseMember(const ImageFile& file, Container container);

/// Reads a member; the CRC-32 and the length that a zip's directory gives are checked.
[[nodiscard]] Result<std::unique_ptr<ImageSource>>
openMember(std::shared_ptr<const ImageFile> file, Container container, const ArchiveMember& member);

/// Checks CRC-32 and length of what another source delivers.
class ArchiveSource final : public ImageSource
{
public:
    ArchiveSource(std::unique_ptr<ImageSource> member, Bytes size, std::uint32_t crc);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_size; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_member->consumed(); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_member->fileSize(); }

private:
    std::unique_ptr<ImageSource> m_member;
    Bytes m_size;
    std::uint32_t m_expected;
    std::uint32_t m_crc = 0;
    Bytes m_done = 0;
};

} // namespace burin
