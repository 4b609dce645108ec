// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/units.h"

#include <vector>

namespace burin {

/// An axis from 0 in equal steps; `top` is where it ends, not always a multiple of `step`.
struct Axis {
    double step = 1;
    double top = 1;

    [[nodiscard]] int ticks() const; ///< the one at 0 included
    bool operator==(const Axis&) const = default;
};

/// Four steps of 1, 2, 3 or 5 x 10^n that hold `peak`, which may stand out at the top by a hair.
[[nodiscard]] Axis rateAxis(double peak);

/// Round decimal sizes (1, 2 or 5 x 10^n) of which at most `maxSteps` fit in `extent`.
[[nodiscard]] Axis sizeAxis(Bytes extent, int maxSteps);

/// Value to pixel and back along one direction; from > to runs upwards.
struct PixelMap {
    double from = 0;
    double to = 0;
    double top = 1; ///< the value at `to`

    [[nodiscard]] double pixel(double value) const { return from + (to - from) * (value / top); }
    [[nodiscard]] double value(double pixel) const
    {
        return to == from ? 0 : (pixel - from) / (to - from) * top;
    }
};

} // namespace burin
