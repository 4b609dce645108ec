// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagefile.h"

#include <algorithm>
#include <memory>

namespace burin {

/// A stretch of a file that can be read anywhere: the file itself, or a member that a container holds as it
/// is. Containers and virtual disks, whose parts lie scattered, are read from one. Any thread.
struct FileRange {
    std::shared_ptr<const ImageFile> file;
    Range range;

    [[nodiscard]] Bytes size() const { return range.length; }

    /// A part that lies within.
    [[nodiscard]] FileRange part(Range inside) const
    {
        return {.file = file, .range = {.offset = range.offset + inside.offset, .length = inside.length}};
    }
    /// Fills `out` from `offset`, counted from the range's beginning, unless the range ends; returns the
    /// bytes filled. ImageUnreadable.
    [[nodiscard]] Result<std::size_t> readAt(Offset offset, std::span<std::byte> out) const
    {
        const Bytes left = offset < range.length ? range.length - offset : 0;
        return file->readAt(range.offset + offset,
                            out.first(static_cast<std::size_t>(std::min<Bytes>(out.size(), left))));
    }
    /// Fills `out` wholly, or ImageTruncated.
    [[nodiscard]] Result<void> readExactlyAt(Offset offset, std::span<std::byte> out) const
    {
        const auto got = readAt(offset, out);
        if (!got) {
            return std::unexpected(got.error());
        }
        return *got == out.size() ? Result<void>() : failure(ErrorCode::ImageTruncated);
    }
};

} // namespace burin
