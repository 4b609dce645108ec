// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sourcefilter.h"

#include <memory>
#include <vector>

namespace burin {

/// Lets the beginning of a source be looked at before it is read.
class PeekSource final : public SourceFilter
{
public:
    explicit PeekSource(std::unique_ptr<ImageSource> inner);

    /// The first `size` bytes, fewer if the image is shorter. Before the first read(); a larger size may be
    /// asked for later. Valid until the next call.
    [[nodiscard]] Result<std::span<const std::byte>> peek(std::size_t size);
    /// The exact size, if a peek has met the end.
    [[nodiscard]] std::optional<Bytes> end() const;

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;

private:
    std::vector<std::byte> m_head;
    std::size_t m_taken = 0; ///< of the head, by read()
    bool m_ended = false;
};

} // namespace burin
