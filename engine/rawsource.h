// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagefile.h"
#include "imagesource.h"

#include <atomic>
#include <memory>

namespace burin {

/// Bytes that lie in the file as they are: the whole file, or a stored member of a container. fileSize() and
/// consumed() count the member only, so that their ratio is the progress.
class RawSource final : public ImageSource
{
public:
    RawSource(std::shared_ptr<const ImageFile> file, Range range);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_range.length; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_done.load(std::memory_order_relaxed); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_range.length; }

private:
    std::shared_ptr<const ImageFile> m_file;
    Range m_range;
    std::atomic<Bytes> m_done = 0;
};

} // namespace burin
