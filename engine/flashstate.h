// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "flashevent.h"
#include "throughput.h"

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

namespace burin {

/// One pass over the image, as people see it: the write or the verify.
struct PassState {
    std::optional<Clock::time_point> began;
    std::optional<Clock::time_point> lastMove;
    Bytes done = 0;
    std::optional<Bytes> total;
    /// Where in the image the pass goes, in order; nothing: from its beginning to its end.
    std::shared_ptr<const std::vector<Range>> ranges;
    SpeedCurve curve;
    RecentRate recent;

    /// How far into the image that is.
    [[nodiscard]] Offset position() const;
};

/// Everything that the window and the command line show of a job; made only by reduce().
struct FlashState {
    Phase phase = Phase::Preparing;
    PassState write;
    PassState verify;
    bool willVerify = true;
    Bytes sourceConsumed = 0;
    Bytes sourceSize = 0;
    std::vector<BadRange> badRanges;
    unsigned retries = 0;
    std::optional<Clock::time_point> stalledSince;
    bool stalledByDrive = true;
    std::optional<Clock::time_point> phaseBegan;
    Clock::time_point now;
    std::optional<FlashReport> report; ///< set exactly when phase is Finished

    [[nodiscard]] const PassState& pass() const { return phase == Phase::Verifying ? verify : write; }
    std::optional<MapRefuted> refuted; ///< why everything is written after all

    /// 0 to 1 of the running pass; falls only if a block map turns out wrong. Nothing where not even the
    /// file's size is known.
    [[nodiscard]] std::optional<double> fraction() const;
    /// Of the whole job, the verify included; nothing until there is a rate.
    [[nodiscard]] std::optional<std::chrono::seconds> timeLeft() const;
    /// Of the verify to come, while writing.
    [[nodiscard]] std::optional<std::chrono::seconds> verifyTimeExpected() const;
};

/// The state before the first event.
[[nodiscard]] FlashState initialState(bool willVerify);

/// The next state. Pure; events after Finished change nothing.
[[nodiscard]] FlashState reduce(FlashState state, const FlashEvent& event);

} // namespace burin
