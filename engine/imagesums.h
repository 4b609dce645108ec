// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sumtext.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace burin {

/// The sums that the files beside an image hold for it. Read are files of its own (disk.img.xz.sha256,
/// disk.img.sha256, disk.sha256; also .sha256sum and the like) and lists by their usual names (SHA256SUMS,
/// sha256sum.txt, NAME-CHECKSUM). A sum with a name counts if that is, without folders, the image's, the
/// image's without compression suffixes, or one of `innerNames`, the members of a container. One without a
/// name counts only from a file of the image's own.
///
/// A sum may be of the file as it is or of the unpacked image; the name doesn't always tell. And sums can
/// contradict each other, of the same kind and name: a list of a tree has several disk.img, an older list
/// may lie beside a newer one. All are returned. So the image is right if the file or the unpacked data
/// match one sum, and wrong only if none of them matches; where both happen judgeSums() says so.
/// The image's own files come first. Files that can't be read, and links, are passed over.
[[nodiscard]] std::vector<KnownSum> findSums(const std::string& imagePath,
                                             std::span<const std::string> innerNames = {});

/// Paths of the detached signatures beside the image, those of the sums files that findSums() takes
/// something from, and such sums files as are signed themselves. Nothing is checked.
[[nodiscard]] std::vector<std::string> findSignatures(const std::string& imagePath,
                                                      std::span<const std::string> innerNames = {});

/// What a published sum said of an image.
struct SumResult {
    KnownSum sum;
    bool ofFile = false; ///< of the file as it is; else of the unpacked image, or not known of which
    bool matches = false;
    std::optional<KnownSum> contradictedBy{}; ///< where `sum` matches, another one that doesn't
};

/// Whether a sum is by its name one of the file as it is, so that a file that differs is not the right one.
[[nodiscard]] bool isSumOfFile(const KnownSum& sum, const std::string& imagePath);

/// Whether one of `sums` is a digest of the file or of the unpacked image; else the first that differs.
/// Nothing if there is no sum of a kind that was taken. Without `ofImage` only a sum that is by its name one
/// of the file can contradict another.
[[nodiscard]] std::optional<SumResult> judgeSums(std::span<const KnownSum> sums,
                                                 std::span<const DigestResult> ofFile,
                                                 std::span<const DigestResult> ofImage,
                                                 const std::string& imagePath);

/// Each once, in order.
[[nodiscard]] std::vector<DigestKind> kindsOf(std::span<const KnownSum> sums);

} // namespace burin
