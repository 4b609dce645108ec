// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "rawsource.h"

#include <algorithm>
#include <utility>

namespace burin {

RawSource::RawSource(FileRange place) : m_place(std::move(place)) { }

Result<std::size_t> RawSource::read(std::span<std::byte> out)
{
    const Bytes done = m_done.load(std::memory_order_relaxed);
    const auto wanted = static_cast<std::size_t>(std::min<Bytes>(out.size(), m_place.size() - done));
    auto filled = m_place.readAt(done, out.first(wanted));
    if (!filled) {
        filled.error().offset = done;
        return filled;
    }
    m_done.store(done + *filled, std::memory_order_relaxed);
    if (*filled < wanted) {
        return failure(ErrorCode::ImageTruncated, 0, done + *filled);
    }
    if (wanted < out.size()) {
        if (const auto unchanged = m_place.file->checkUnchanged(); !unchanged) {
            return std::unexpected(unchanged.error());
        }
    }
    return filled;
}

} // namespace burin
