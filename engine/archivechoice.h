// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imageprobe.h"

#include <string_view>
#include <vector>

namespace burin {

// Which of a container's files is the image. The one place where a name counts: only a name can tell a readme
// from an image before it is unpacked.

/// What the name and the size of a file in a container say.
enum class Likeness {
    None,     ///< folders, hidden files, __MACOSX's, texts, checksums, programs, less than 512 bytes
    Possible, ///< says nothing
    Image,    ///< called like a disk image, packed or not
};
[[nodiscard]] Likeness likenessOf(std::string_view path, Bytes size);

/// Collects the files of a container, in any number, and keeps those that may be meant.
class ArchiveChoice
{
public:
    void add(std::string_view path, Bytes size);

    /// All that may be meant, the largest first: those called like an image if there are any, else the
    /// possible ones.
    [[nodiscard]] std::vector<ImageCandidate> candidates() const;
    /// The one called `wanted`, or the largest if it is empty. ImageNoMember (detail: `wanted`).
    [[nodiscard]] Result<ImageCandidate> choose(std::string_view wanted) const;

private:
    std::vector<ImageCandidate> m_images;
    std::vector<ImageCandidate> m_possible;
};

} // namespace burin
