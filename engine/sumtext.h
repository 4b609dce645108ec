// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "units.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// A digest that someone published of an image.
struct KnownSum {
    DigestKind kind = DigestKind::Sha256;
    std::string hex{};      ///< lower case
    std::string fileName{}; ///< the file that it is for, as written, escapes undone; may be empty
    std::string origin{};   ///< path of the sums file; empty: pasted

    bool operator==(const KnownSum&) const = default;
};

/// Longer texts are no sums files, longer lines are passed over.
inline constexpr std::size_t kMaxSumsFile = kMiB;
inline constexpr std::size_t kMaxSumsLine = 4 * kKiB;

/// All sums of a sums file, without an origin, in the notations of GNU coreutils, BSD, OpenSSL and
/// certutil, or as bare hex. The kind is known by the number of digits, or named in the line. Digits of
/// another number than `kindByName`, the kind that the file's own name tells, are passed over then. A sum
/// without a name is returned only if the file has no other: who knows what else digits in a text mean.
/// In a clear-signed text only what is signed counts; the signature is not checked.
[[nodiscard]] std::vector<KnownSum> parseSums(std::string_view text, std::optional<DigestKind> kindByName);

/// The digest that a person pasted: bare, grouped by spaces, colons or line ends, with the kind before it,
/// or a whole line of a sums file. Nothing for anything else.
[[nodiscard]] std::optional<KnownSum> parsePasted(std::string_view text);

/// The text of a file has a PGP signature around it.
[[nodiscard]] bool isClearSigned(std::string_view text);

} // namespace burin
