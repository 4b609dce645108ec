// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "error.h"
#include "usedblocks.h"

#include <memory>
#include <optional>
#include <span>

namespace burin {

/// Compares the sums of a block map's ranges with an image that passes by, from its beginning on.
class RangeSums
{
public:
    explicit RangeSums(std::shared_ptr<const UsedBlocks> used) : m_used(std::move(used)) { }

    [[nodiscard]] bool empty() const { return !m_used || m_used->sums.empty(); }
    /// What comes next in the image. ImageCorrupt at the range that differs; Internal.
    [[nodiscard]] Result<void> add(std::span<const std::byte> data);
    /// At the image's end: ImageCorrupt if ranges are missing.
    [[nodiscard]] Result<void> finish() const;

private:
    [[nodiscard]] std::unexpected<FlashError> differs() const;

    std::shared_ptr<const UsedBlocks> m_used;
    Offset m_position = 0;
    std::size_t m_next = 0; ///< the range that is under way, or comes next
    std::optional<Digest> m_digest;
};

} // namespace burin
