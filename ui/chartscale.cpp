// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chartscale.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace burin {

namespace {

constexpr int kRateSteps = 4;
constexpr double kOvershoot = 1.03;

/// The smallest of `mantissas` x 10^n that is at least `value`.
double niceStep(double value, std::span<const double> mantissas)
{
    const double decade = std::pow(10.0, std::floor(std::log10(value)));
    for (const double mantissa : mantissas) {
        if (mantissa * decade >= value * (1 - 1e-9)) {
            return mantissa * decade;
        }
    }
    return mantissas.front() * decade * 10;
}

} // namespace

int Axis::ticks() const
{
    return int(std::floor(top / step * (1 + 1e-9))) + 1;
}

Axis rateAxis(double peak)
{
    constexpr double kMantissas[] = {1, 2, 3, 5};
    if (!(peak > 0)) {
        return {.step = 1, .top = kRateSteps};
    }
    const double step = niceStep(peak / kOvershoot / kRateSteps, kMantissas);
    return {.step = step, .top = step * kRateSteps};
}

Axis sizeAxis(Bytes extent, int maxSteps)
{
    constexpr double kMantissas[] = {1, 2, 5};
    const double top = double(std::max<Bytes>(extent, 1));
    return {.step = std::max(niceStep(top / std::max(maxSteps, 1), kMantissas), 1.0), .top = top};
}

} // namespace burin
