// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace burin {

// On a drive or in an image everything is counted in bytes, in 64 bits. In memory it is std::size_t.
using Bytes = std::uint64_t;
using Offset = std::uint64_t;

inline constexpr std::size_t kKiB = 1024;
inline constexpr std::size_t kMiB = 1024 * kKiB;

/// A stretch of a drive or an image.
struct Range {
    Offset offset = 0;
    Bytes length = 0;

    [[nodiscard]] constexpr Offset end() const { return offset + length; }
    bool operator==(const Range&) const = default;
};

/// Rounds up or down to a multiple of `step`, which is not 0.
[[nodiscard]] constexpr std::uint64_t alignUp(std::uint64_t value, std::uint64_t step)
{
    return (value + step - 1) / step * step;
}
[[nodiscard]] constexpr std::uint64_t alignDown(std::uint64_t value, std::uint64_t step)
{
    return value / step * step;
}

} // namespace burin
