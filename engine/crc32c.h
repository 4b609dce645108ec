// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace burin {

namespace detail {

constexpr std::array<std::uint32_t, 256> crc32cTable()
{
    std::array<std::uint32_t, 256> table = {};
    for (std::uint32_t i = 0; i < table.size(); ++i) {
        std::uint32_t value = i;
        for (int bit = 0; bit < 8; ++bit) {
            value = value >> 1U ^ ((value & 1U) != 0 ? 0x82f63b78U : 0U);
        }
        table[i] = value;
    }
    return table;
}

} // namespace detail

/// CRC-32C (Castagnoli; RFC 3720, 12.1), made for headers: a byte at a time.
class Crc32c
{
public:
    constexpr void add(std::span<const std::byte> data)
    {
        for (const std::byte b : data) {
            m_state = kTable[(m_state ^ std::to_integer<std::uint32_t>(b)) & 0xffU] ^ m_state >> 8U;
        }
    }
    [[nodiscard]] constexpr std::uint32_t value() const { return ~m_state; }

private:
    static constexpr std::array<std::uint32_t, 256> kTable = detail::crc32cTable();

    std::uint32_t m_state = 0xffffffff;
};

} // namespace burin
