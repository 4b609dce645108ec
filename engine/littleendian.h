// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <cstddef>
#include <span>

namespace burin {

/// The unsigned little-endian number at `offset`, which must lie in `data` with all its bytes.
template<std::unsigned_integral T>
[[nodiscard]] constexpr T littleEndian(std::span<const std::byte> data, std::size_t offset)
{
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
        value = static_cast<T>((sizeof(T) > 1 ? value << 8U : 0U) | std::to_integer<T>(data[offset + i]));
    }
    return value;
}

} // namespace burin
