// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tailchecksource.h"

#include <algorithm>
#include <utility>

namespace burin {

TailCheckSource::TailCheckSource(std::unique_ptr<ImageSource> inner, std::string_view outer)
    : SourceFilter(std::move(inner)), m_outer(outer)
{
}

Result<std::size_t> TailCheckSource::read(std::span<std::byte> out)
{
    const auto got = inner().read(out);
    if (!got) {
        return got;
    }
    const auto fresh = out.first(*got).last(std::min(*got, kFormatTail));
    const auto kept = static_cast<std::ptrdiff_t>(std::min(m_tail.size(), kFormatTail - fresh.size()));
    m_tail.erase(m_tail.begin(), m_tail.end() - kept);
    m_tail.insert(m_tail.end(), fresh.begin(), fresh.end());
    if (*got < out.size()) {
        if (const auto format = formatByTail(m_tail)) {
            return failure(ErrorCode::ImageUnsupported, std::string(nameOf(*format)) + " inside " + m_outer);
        }
    }
    return got;
}

} // namespace burin
