// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"
#include "imagesource.h"

#include <atomic>

namespace burin {

/// Bytes that lie in the file as they are: the whole file, or a stored member of a container. fileSize() and
/// consumed() count the member only, so that their ratio is the progress.
class RawSource final : public ImageSource
{
public:
    explicit RawSource(FileRange place);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_place.size(); }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_done.load(std::memory_order_relaxed); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_place.size(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_place.file->checkUnchanged(); }

private:
    FileRange m_place;
    std::atomic<Bytes> m_done = 0;
};

} // namespace burin
