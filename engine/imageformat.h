// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imageprobe.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

// What the beginning of a file, or of its unpacked data, says about its format. The name says nothing.

enum class FormatKind { Stream, Container, VirtualDisk };

/// Bytes at the beginning that suffice to tell a format.
inline constexpr std::size_t kFormatHead = 4 * kKiB;
/// Bytes at the end of a file in which VHD and DMG have their mark.
inline constexpr std::size_t kFormatTail = 512;

[[nodiscard]] FormatKind kindOf(Format format);
/// As its makers write it: "xz", "qcow2", "Android sparse".
[[nodiscard]] std::string_view nameOf(Format format);

/// The format that Burin unpacks; nothing for a bare image and for what it doesn't know. `tail` is the last
/// kFormatTail bytes where they are known, else empty.
[[nodiscard]] std::optional<Format> formatOf(std::span<const std::byte> head,
                                             std::span<const std::byte> tail);

/// VHD and DMG by their mark at the end.
[[nodiscard]] std::optional<Format> formatByTail(std::span<const std::byte> tail);

/// The name of a known format that Burin doesn't unpack and that must not be written as it is: other
/// archives, virtual disks.
[[nodiscard]] std::optional<std::string> foreignFormat(std::span<const std::byte> head);

/// Plainly something else than a disk image: text, pictures, programs, documents.
[[nodiscard]] bool isNoImage(std::span<const std::byte> head);

/// What the end of a file's name says of its format: ".xz", ".tgz"; nothing for ".img", ".iso" and the like,
/// and for none. The outermost first.
[[nodiscard]] std::optional<Format> formatBySuffix(std::string_view fileName);
/// All endings that formatBySuffix() knows, for file dialogs.
[[nodiscard]] std::vector<std::string_view> packedSuffixes();
/// Whether the name is one that a part of a split file has (".xzaa", ".z01", ".7z.001").
[[nodiscard]] bool isPartOfSplit(std::string_view fileName);

} // namespace burin
