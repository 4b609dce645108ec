// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "rawsource.h"

#include <algorithm>
#include <utility>

namespace burin {

RawSource::RawSource(std::shared_ptr<const ImageFile> file, Range range)
    : m_file(std::move(file)), m_range(range)
{
}

Result<std::size_t> RawSource::read(std::span<std::byte> out)
{
    const Bytes done = m_done.load(std::memory_order_relaxed);
    const auto wanted = static_cast<std::size_t>(std::min<Bytes>(out.size(), m_range.length - done));
    auto filled = m_file->readAt(m_range.offset + done, out.first(wanted));
    if (!filled) {
        filled.error().offset = done;
        return filled;
    }
    m_done.store(done + *filled, std::memory_order_relaxed);
    if (*filled < wanted) {
        return failure(ErrorCode::ImageTruncated, 0, done + *filled);
    }
    if (wanted < out.size()) {
        if (const auto unchanged = m_file->checkUnchanged(); !unchanged) {
            return std::unexpected(unchanged.error());
        }
    }
    return filled;
}

} // namespace burin
