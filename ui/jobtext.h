// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashstate.h"
#include "errortext.h"
#include "throughputchart.h"

#include <QString>

namespace burin {

/// The words above and inside the chart.
struct JobText {
    QString headline;
    QString detail;
    QString message; ///< in the middle, where there is something to explain
    HeadlineMark mark = HeadlineMark::None;
};

/// What a running or ended job says. `now` moves the seconds on between two events.
[[nodiscard]] JobText jobText(const FlashState& state, const ErrorContext& context, bool cancelling,
                              Clock::time_point now);

} // namespace burin
