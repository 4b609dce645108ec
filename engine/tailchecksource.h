// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imageformat.h"
#include "imagesource.h"

#include <memory>
#include <vector>

namespace burin {

/// Looks at the last bytes of what passes: a VHD or a DMG has its mark there, and in a stream it is seen only
/// at the end. ImageUnsupported then (detail: "VHD inside gzip"), so that it is never called written.
class TailCheckSource final : public ImageSource
{
public:
    TailCheckSource(std::unique_ptr<ImageSource> inner, std::string_view outer);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_inner->unpackedSize(); }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_inner->consumed(); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_inner->fileSize(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_inner->checkUnchanged(); }
    void interrupt() noexcept override { m_inner->interrupt(); }

private:
    std::unique_ptr<ImageSource> m_inner;
    std::string m_outer;
    std::vector<std::byte> m_tail;
};

} // namespace burin
