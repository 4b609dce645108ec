// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sourcefilter.h"

#include <cstdint>
#include <memory>

namespace burin {

/// Checks CRC-32 and length of what another source delivers, as a zip's directory gives them.
class CrcSource final : public SourceFilter
{
public:
    CrcSource(std::unique_ptr<ImageSource> member, Bytes size, std::uint32_t crc);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_size; }

private:
    Bytes m_size;
    std::uint32_t m_expected;
    std::uint32_t m_crc = 0;
    Bytes m_done = 0;
};

} // namespace burin
