// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace burin {

/// Zeroed memory on the heap, aligned to kAlignment: what O_DIRECT asks for on every drive with logical
/// blocks up to that size (open(2)).
class AlignedBuffer
{
public:
    static constexpr std::size_t kAlignment = 4096;

    AlignedBuffer() = default;
    explicit AlignedBuffer(std::size_t size);

    [[nodiscard]] std::span<std::byte> span() const noexcept { return {m_data.get(), m_size}; }
    [[nodiscard]] std::size_t size() const noexcept { return m_size; }

private:
    struct Free {
        void operator()(std::byte* p) const noexcept;
    };
    std::unique_ptr<std::byte, Free> m_data;
    std::size_t m_size = 0;
};

} // namespace burin
