// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

namespace burin {

/// The unsigned big-endian number at `offset`, which must lie in `data` with all its bytes.
template<std::unsigned_integral T>
[[nodiscard]] constexpr T bigEndian(std::span<const std::byte> data, std::size_t offset)
{
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < sizeof(T); ++i) {
        value = value << 8U | std::to_integer<std::uint64_t>(data[offset + i]);
    }
    return static_cast<T>(value);
}

} // namespace burin
