// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "badranges.h"

#include <algorithm>

namespace burin {

namespace {

bool joins(const BadRange& left, const BadRange& right)
{
    return left.range.end() == right.range.offset && left.unreadable == right.unreadable
        && left.sysErrno == right.sysErrno && left.sameAgain == right.sameAgain;
}

} // namespace

void addBadRange(std::vector<BadRange>& ranges, const BadRange& bad)
{
    auto at = std::ranges::upper_bound(ranges, bad.range.offset, {},
                                       [](const BadRange& r) { return r.range.offset; });
    at = ranges.insert(at, bad);
    if (at + 1 != ranges.end() && joins(*at, *(at + 1))) {
        at->range.length += (at + 1)->range.length;
        ranges.erase(at + 1);
    }
    if (at != ranges.begin() && joins(*(at - 1), *at)) {
        (at - 1)->range.length += at->range.length;
        ranges.erase(at);
    }
}

} // namespace burin
