// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units.h"
#include "usedblocks.h"

#include <memory>
#include <optional>
#include <vector>

namespace burin {

/// What of an image a job puts on the drive and reads back: everything, or its used blocks. Those are rounded
/// to 4096 bytes, as a drive with large blocks and direct access ask for, and joined where little lies
/// between them, since a request costs more than a few bytes; the first chunk is always whole.
class WriteMap
{
public:
    /// Between two ranges less than this is written along. A stick that takes 100 requests a second writes as
    /// much in the time of one.
    static constexpr Bytes kLeastGap = 256 * kKiB;

    struct Settings {
        std::shared_ptr<const UsedBlocks> used{}; ///< nothing: all of the image
        bool clearRest = false;                   ///< zeros between the used blocks
        Bytes chunkSize = 4 * kMiB;
    };

    WriteMap() = default;
    explicit WriteMap(const Settings& settings);

    /// All of the image is written; ranges() says nothing then.
    [[nodiscard]] bool isEverything() const { return !m_used; }
    [[nodiscard]] const std::shared_ptr<const UsedBlocks>& used() const { return m_used; }
    [[nodiscard]] const std::vector<Range>& ranges() const { return m_ranges; }
    /// Bytes of the image within ranges(); nothing where everything is written.
    [[nodiscard]] std::optional<Bytes> total() const;

    /// Of a chunk, whole logical blocks: what is written of the image, and what is cleared.
    [[nodiscard]] std::vector<Range> written(Range chunk) const;
    [[nodiscard]] std::vector<Range> cleared(Range chunk) const;
    /// What of a chunk is on the drive afterwards, and must be found there.
    [[nodiscard]] std::vector<Range> required(Range chunk) const;

    /// From now on everything is written.
    void drop();

private:
    std::shared_ptr<const UsedBlocks> m_used;
    bool m_clearRest = false;
    std::vector<Range> m_ranges;
};

} // namespace burin
