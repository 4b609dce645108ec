// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "peeksource.h"

#include <algorithm>
#include <utility>

namespace burin {

PeekSource::PeekSource(std::unique_ptr<ImageSource> inner) : SourceFilter(std::move(inner)) { }

Result<std::span<const std::byte>> PeekSource::peek(std::size_t size)
{
    const std::size_t known = m_head.size();
    if (known < size && !m_ended) {
        m_head.resize(size);
        const auto got = inner().read(std::span(m_head).subspan(known));
        m_head.resize(known + got.value_or(0));
        if (!got) {
            return std::unexpected(got.error());
        }
        m_ended = m_head.size() < size;
    }
    return std::span<const std::byte>(m_head).first(std::min(size, m_head.size()));
}

std::optional<Bytes> PeekSource::end() const
{
    return m_ended ? std::optional<Bytes>(m_head.size()) : std::nullopt;
}

Result<std::size_t> PeekSource::read(std::span<std::byte> out)
{
    const std::size_t fromHead = std::min(out.size(), m_head.size() - m_taken);
    std::copy_n(m_head.begin() + static_cast<std::ptrdiff_t>(m_taken), fromHead, out.begin());
    m_taken += fromHead;
    if (m_taken == m_head.size() && !m_ended) {
        if (!m_head.empty() && fromHead > 0) {
            m_head = {}; // is not needed any more
            m_taken = 0;
        }
        const auto got = inner().read(out.subspan(fromHead));
        return got ? Result<std::size_t>(fromHead + *got) : got;
    }
    return fromHead;
}

} // namespace burin
