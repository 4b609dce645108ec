// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units.h"

#include <cstddef>
#include <optional>
#include <span>

namespace burin {

/// The header of a zstd frame (RFC 8878, 3.1.1.1), or of a skippable one.
struct ZstdFrame {
    std::size_t headerSize = 0;
    std::optional<Bytes> contentSize = {};
    bool checksum = false;
    Bytes skippable = 0; ///< bytes that follow the header of a skippable frame
    bool isSkippable = false;
};

inline constexpr std::size_t kZstdHeaderMost = 18;

/// Nothing if `data` is no frame or too short for its header. libzstd has this only in its unstable part.
[[nodiscard]] std::optional<ZstdFrame> parseZstdFrame(std::span<const std::byte> data);

} // namespace burin
