// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "writemap.h"

#include "alignedbuffer.h"
#include "rangelist.h"

#include <algorithm>

namespace burin {

WriteMap::WriteMap(const Settings& settings) : m_used(settings.used), m_clearRest(settings.clearRest)
{
    if (m_used) {
        auto ranges = m_used->ranges;
        ranges.push_back({.offset = 0, .length = std::min(settings.chunkSize, m_used->imageSize)});
        m_ranges = roundedOut(joined(std::move(ranges)), AlignedBuffer::kAlignment, kLeastGap);
    }
}

std::optional<Bytes> WriteMap::total() const
{
    if (!m_used) {
        return {};
    }
    return totalLength(partsWithin(m_ranges, {.offset = 0, .length = m_used->imageSize}));
}

std::vector<Range> WriteMap::written(Range chunk) const
{
    return m_used ? partsWithin(m_ranges, chunk) : std::vector{chunk};
}

std::vector<Range> WriteMap::cleared(Range chunk) const
{
    return m_used && m_clearRest ? gapsWithin(m_ranges, chunk) : std::vector<Range>();
}

std::vector<Range> WriteMap::required(Range chunk) const
{
    return m_clearRest ? std::vector{chunk} : written(chunk);
}

void WriteMap::drop()
{
    m_used.reset();
    m_ranges.clear();
}

} // namespace burin
