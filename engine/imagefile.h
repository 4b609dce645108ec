// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imageprobe.h"
#include "uniquefd.h"
#include "units.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace burin {

/// A regular file that is read as an image, and which file it was when it was opened. It has no position of
/// its own, so any thread may read it.
class ImageFile
{
public:
    /// ImageUnreadable for what can't be opened and for all but regular files (detail names the kind),
    /// ImageEmpty for an empty one.
    [[nodiscard]] static Result<std::shared_ptr<const ImageFile>> open(const std::string& path);

    [[nodiscard]] int fd() const noexcept { return m_fd.get(); }
    [[nodiscard]] const FileIdentity& identity() const noexcept { return m_identity; }
    [[nodiscard]] Bytes size() const noexcept { return m_identity.size; }

    /// Fills `out` from `offset` on unless the file ends; returns the bytes filled. ImageUnreadable else.
    [[nodiscard]] Result<std::size_t> readAt(Offset offset, std::span<std::byte> out) const;
    /// ImageChanged if the file is not what it was when it was opened.
    [[nodiscard]] Result<void> checkUnchanged() const;

private:
    ImageFile(UniqueFd fd, const FileIdentity& identity);

    UniqueFd m_fd;
    FileIdentity m_identity;
};

} // namespace burin
