// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "units.h"

#include <span>
#include <vector>

namespace burin {

// Lists of ranges in order of offset that do not overlap and are not empty.

[[nodiscard]] Bytes totalLength(std::span<const Range> ranges);

/// What of `ranges` lies within `window`, and what of `window` lies in none of them.
[[nodiscard]] std::vector<Range> partsWithin(std::span<const Range> ranges, Range window);
[[nodiscard]] std::vector<Range> gapsWithin(std::span<const Range> ranges, Range window);

/// Sorts and joins ranges that may overlap; empty ones are dropped.
[[nodiscard]] std::vector<Range> joined(std::vector<Range> ranges);

/// Rounded outwards to multiples of `step`, and joined where less than `leastGap` lies between.
[[nodiscard]] std::vector<Range> roundedOut(std::span<const Range> ranges, Bytes step, Bytes leastGap);

} // namespace burin
