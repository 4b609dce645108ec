// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "flashstate.h"

#include "badranges.h"
#include "rangelist.h"

#include <algorithm>
#include <cmath>
#include <type_traits>
#include <utility>

namespace burin {

namespace {

double secondsBetween(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

/// What is still to be done in a pass, in bytes of the image; nothing where the size is not known.
std::optional<double> bytesLeft(const FlashState& state)
{
    const auto fraction = state.fraction();
    if (!fraction) {
        return {};
    }
    const auto done = static_cast<double>(state.pass().done);
    if (state.pass().total) {
        return static_cast<double>(*state.pass().total) - done;
    }
    return *fraction > 0 ? std::optional(done / *fraction - done) : std::nullopt;
}

/// Bytes that the verify will read: the image's, as far as its size is known or can be foreseen.
std::optional<double> bytesToVerify(const FlashState& state)
{
    const auto left = bytesLeft(state);
    return left ? std::optional(static_cast<double>(state.write.done) + *left) : std::nullopt;
}

std::optional<std::chrono::seconds> wholeSeconds(std::optional<double> bytes, std::optional<double> rate)
{
    if (!bytes || !rate || *rate <= 0) {
        return {};
    }
    return std::chrono::seconds(std::llround(std::ceil(*bytes / *rate)));
}

/// The stretch of the image between two counts of what was done, without what was left out.
void addToCurve(PassState& pass, Bytes done, double seconds)
{
    if (!pass.ranges) {
        pass.curve.add(pass.done, done, seconds);
        return;
    }
    const auto perByte = seconds / static_cast<double>(done - pass.done);
    Bytes before = 0;
    for (const auto& range : *pass.ranges) {
        const Bytes from = std::max(pass.done, before);
        const Bytes to = std::min(done, before + range.length);
        if (from < to) {
            pass.curve.add(range.offset + (from - before), range.offset + (to - before),
                           static_cast<double>(to - from) * perByte);
        }
        before += range.length;
        if (before >= done) {
            return;
        }
    }
}

/// The rest of the image follows on what has been done so far; what was left out comes at the end.
void refute(FlashState& state, const MapRefuted& refuted)
{
    state.refuted = refuted;
    PassState& pass = state.phase == Phase::Verifying ? state.verify : state.write;
    pass.total = refuted.total;
    if (!refuted.total) {
        pass.ranges.reset();
    }
    if (pass.ranges) {
        auto ranges = partsWithin(*pass.ranges, {.offset = 0, .length = refuted.offset});
        ranges.push_back(
            {.offset = refuted.offset, .length = *refuted.total - std::min(refuted.offset, *refuted.total)});
        pass.ranges = std::make_shared<const std::vector<Range>>(std::move(ranges));
    }
}

void advance(FlashState& state, const Advanced& advanced, Clock::time_point at)
{
    PassState& pass = state.phase == Phase::Verifying ? state.verify : state.write;
    if (advanced.done > pass.done) {
        const auto since = pass.lastMove.value_or(state.phaseBegan.value_or(at));
        addToCurve(pass, advanced.done, secondsBetween(since, at));
        pass.done = advanced.done;
        pass.lastMove = at;
    }
    pass.recent.add(at, pass.done);
    state.sourceConsumed = std::max(state.sourceConsumed, advanced.sourceConsumed);
    state.sourceSize = advanced.sourceSize;
}

void start(FlashState& state, const PhaseStarted& started, Clock::time_point at)
{
    state.phase = started.phase;
    state.phaseBegan = at;
    state.stalledSince.reset();
    if (started.phase == Phase::Writing || started.phase == Phase::Verifying) {
        PassState& pass = started.phase == Phase::Verifying ? state.verify : state.write;
        pass.began = at;
        pass.total = started.total;
        pass.ranges = started.ranges;
        pass.recent.add(at, 0);
    }
}

void finish(FlashState& state, const FlashReport& report)
{
    state.phase = Phase::Finished;
    state.stalledSince.reset();
    state.badRanges = report.badRanges;
    state.retries = report.retries;
    state.report = report;
}

} // namespace

Offset PassState::position() const
{
    if (!ranges) {
        return done;
    }
    Bytes before = 0;
    for (const auto& range : *ranges) {
        if (done <= before + range.length) {
            return range.offset + (done - before);
        }
        before += range.length;
    }
    return ranges->empty() ? done : ranges->back().end();
}

std::optional<double> FlashState::fraction() const
{
    const PassState& current = pass();
    if (current.total) {
        return *current.total == 0 ? 0.0
                                   : static_cast<double>(current.done) / static_cast<double>(*current.total);
    }
    if (sourceSize == 0) {
        return {};
    }
    return std::min(1.0, static_cast<double>(sourceConsumed) / static_cast<double>(sourceSize));
}

std::optional<std::chrono::seconds> FlashState::verifyTimeExpected() const
{
    // Until it has a rate of its own the verify is taken to read as fast as the drive writes: few read
    // slower.
    return wholeSeconds(bytesToVerify(*this), write.recent.rate());
}

std::optional<std::chrono::seconds> FlashState::timeLeft() const
{
    const auto left = wholeSeconds(bytesLeft(*this), pass().recent.rate());
    if (!left || phase == Phase::Verifying || !willVerify) {
        return left;
    }
    const auto verifying = verifyTimeExpected();
    return verifying ? std::optional(*left + *verifying) : std::nullopt;
}

FlashState initialState(bool willVerify)
{
    FlashState state;
    state.willVerify = willVerify;
    return state;
}

FlashState reduce(FlashState state, const FlashEvent& event)
{
    if (state.phase == Phase::Finished) {
        return state;
    }
    state.now = event.at;
    std::visit(
        [&](const auto& what) {
            using T = std::decay_t<decltype(what)>;
            if constexpr (std::is_same_v<T, PhaseStarted>) {
                start(state, what, event.at);
            } else if constexpr (std::is_same_v<T, Advanced>) {
                advance(state, what, event.at);
            } else if constexpr (std::is_same_v<T, MapRefuted>) {
                refute(state, what);
            } else if constexpr (std::is_same_v<T, RangeDiffered>) {
                addBadRange(state.badRanges, what.bad);
            } else if constexpr (std::is_same_v<T, Retrying>) {
                ++state.retries;
            } else if constexpr (std::is_same_v<T, Stalled>) {
                state.stalledSince = what.since;
                state.stalledByDrive = what.drive;
            } else if constexpr (std::is_same_v<T, Resumed>) {
                state.stalledSince.reset();
            } else {
                static_assert(std::is_same_v<T, Finished>);
                finish(state, what.report);
            }
        },
        event.what);
    return state;
}

} // namespace burin
