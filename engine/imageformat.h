// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imageprobe.h"

#include <cstddef>
#include <optional>
#include <span>
#include <string>

namespace burin {

// What the beginning of a file, or of its unpacked data, says about its format. The name says nothing.

/// Bytes at the end of a file in which VHD and DMG have their mark.
inline constexpr std::size_t kFormatTail = 512;

[[nodiscard]] Compression compressionOf(std::span<const std::byte> head);
[[nodiscard]] Container containerOf(std::span<const std::byte> head);

/// "xz", "zip"; empty for None.
[[nodiscard]] std::string nameOf(Compression compression);
[[nodiscard]] std::string nameOf(Container container);

/// The name of a known format that Burin doesn't unpack and that must not be written as it is: other
/// archives, virtual disks. `tail` is the last kFormatTail bytes where they are known, else empty.
[[nodiscard]] std::optional<std::string> foreignFormat(std::span<const std::byte> head,
                                                       std::span<const std::byte> tail);

/// Plainly something else than a disk image: text, pictures, programs, documents.
[[nodiscard]] bool isNoImage(std::span<const std::byte> head);

} // namespace burin
