// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "error.h"
#include "units.h"

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace burin {

/// The unpacked bytes of an image, in order, once. read() is called from one thread; consumed() from any.
class ImageSource
{
public:
    ImageSource() = default;
    ImageSource(const ImageSource&) = delete;
    ImageSource& operator=(const ImageSource&) = delete;
    virtual ~ImageSource() = default;

    /// Fills `out` completely unless the image ends; returns the bytes filled. Less than out.size(), 0
    /// included, is said only when the end is proven: the format's own end mark and checks were seen and
    /// no data follow. Whatever else ends the file is an error (ImageTruncated, ImageCorrupt,
    /// ImageUnreadable, ImageNeedsMemory, ImageChanged) with the offset in the unpacked image.
    [[nodiscard]] virtual Result<std::size_t> read(std::span<std::byte> out) = 0;

    /// The exact unpacked size where the format tells it, else nothing.
    [[nodiscard]] virtual std::optional<Bytes> unpackedSize() const = 0;
    /// Bytes of the file taken in so far, of fileSize(): progress where the unpacked size is not known.
    [[nodiscard]] virtual Bytes consumed() const noexcept = 0;
    [[nodiscard]] virtual Bytes fileSize() const noexcept = 0;

    /// ImageChanged if the file is not what it was when it was opened: then damage may be the change's.
    [[nodiscard]] virtual Result<void> checkUnchanged() const { return {}; }
    /// Ends a read() that waits for a network or a pipe, and all later ones, soon. From any thread.
    virtual void interrupt() noexcept { }

    /// Whether the source takes the image's digests itself, so that who reads it need not.
    [[nodiscard]] virtual bool takesDigests() const { return false; }
    /// Those digests, once, after read() has said the end. Errors: Internal; ImageChanged if the image was
    /// read twice and was not the same.
    [[nodiscard]] virtual Result<std::vector<DigestResult>> digests() { return {}; }
};

} // namespace burin
