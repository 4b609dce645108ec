// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "rangelist.h"

#include <algorithm>

namespace burin {

namespace {

/// The first range that ends behind `offset`.
auto firstBehind(std::span<const Range> ranges, Offset offset)
{
    return std::ranges::upper_bound(ranges, offset, {}, &Range::end);
}

/// Adds a range that begins no earlier than the last one.
void append(std::vector<Range>& ranges, const Range& range, Bytes leastGap)
{
    if (range.length == 0) {
        return;
    }
    if (ranges.empty() || range.offset >= ranges.back().end() + leastGap) {
        ranges.push_back(range);
    } else {
        ranges.back().length = std::max(ranges.back().end(), range.end()) - ranges.back().offset;
    }
}

} // namespace

Bytes totalLength(std::span<const Range> ranges)
{
    Bytes total = 0;
    for (const auto& range : ranges) {
        total += range.length;
    }
    return total;
}

std::vector<Range> partsWithin(std::span<const Range> ranges, Range window)
{
    std::vector<Range> parts;
    for (auto at = firstBehind(ranges, window.offset); at != ranges.end() && at->offset < window.end();
         ++at) {
        const Offset begin = std::max(at->offset, window.offset);
        parts.push_back({.offset = begin, .length = std::min(at->end(), window.end()) - begin});
    }
    return parts;
}

std::vector<Range> gapsWithin(std::span<const Range> ranges, Range window)
{
    std::vector<Range> gaps;
    Offset position = window.offset;
    for (auto at = firstBehind(ranges, window.offset); at != ranges.end() && at->offset < window.end();
         ++at) {
        if (at->offset > position) {
            gaps.push_back({.offset = position, .length = at->offset - position});
        }
        position = at->end();
    }
    if (position < window.end()) {
        gaps.push_back({.offset = position, .length = window.end() - position});
    }
    return gaps;
}

std::vector<Range> joined(std::vector<Range> ranges)
{
    std::ranges::sort(ranges, {}, &Range::offset);
    std::vector<Range> result;
    for (const auto& range : ranges) {
        append(result, range, 1);
    }
    return result;
}

std::vector<Range> roundedOut(std::span<const Range> ranges, Bytes step, Bytes leastGap)
{
    std::vector<Range> result;
    for (const auto& range : ranges) {
        const Offset begin = alignDown(range.offset, step);
        append(result, {.offset = begin, .length = alignUp(range.end(), step) - begin},
               std::max<Bytes>(leastGap, 1));
    }
    return result;
}

} // namespace burin
