// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagesource.h"

#include <cstdint>
#include <memory>

namespace burin {

/// Checks CRC-32 and length of what another source delivers, as a zip's directory gives them.
class CrcSource final : public ImageSource
{
public:
    CrcSource(std::unique_ptr<ImageSource> member, Bytes size, std::uint32_t crc);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_size; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_member->consumed(); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_member->fileSize(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_member->checkUnchanged(); }
    void interrupt() noexcept override { m_member->interrupt(); }

private:
    std::unique_ptr<ImageSource> m_member;
    Bytes m_size;
    std::uint32_t m_expected;
    std::uint32_t m_crc = 0;
    Bytes m_done = 0;
};

} // namespace burin
