// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "rangesums.h"

#include <algorithm>

namespace burin {

std::unexpected<FlashError> RangeSums::differs() const
{
    return failure(ErrorCode::ImageCorrupt, 0, m_used->ranges[m_next].offset, "block map");
}

Result<void> RangeSums::add(std::span<const std::byte> data)
{
    while (!empty() && !data.empty() && m_next < m_used->ranges.size()) {
        const Range& range = m_used->ranges[m_next];
        if (m_position < range.offset) {
            const auto skipped =
                static_cast<std::size_t>(std::min<Bytes>(range.offset - m_position, data.size()));
            data = data.subspan(skipped);
            m_position += skipped;
            continue;
        }
        if (!m_digest) {
            auto digest = Digest::create(m_used->sumKind);
            if (!digest) {
                return std::unexpected(std::move(digest.error()));
            }
            m_digest = std::move(*digest);
        }
        const auto taken = static_cast<std::size_t>(std::min<Bytes>(range.end() - m_position, data.size()));
        m_digest->add(data.first(taken));
        data = data.subspan(taken);
        m_position += taken;
        if (m_position == range.end()) {
            if (m_digest->hex() != m_used->sums[m_next]) {
                return differs();
            }
            m_digest.reset();
            ++m_next;
        }
    }
    m_position += data.size();
    return {};
}

Result<void> RangeSums::finish() const
{
    return empty() || m_next == m_used->ranges.size() ? Result<void>() : differs();
}

} // namespace burin
