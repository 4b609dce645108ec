// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "progresstext.h"

#include "formatting.h"
#include "words.h"

#include <QStringList>

namespace burin {

using namespace Qt::StringLiterals;

namespace {

std::chrono::seconds secondsSince(const std::optional<Clock::time_point>& since, Clock::time_point now)
{
    return since ? std::chrono::duration_cast<std::chrono::seconds>(now - *since) : std::chrono::seconds{};
}

QString withRate(const QString& what, const FlashState& state)
{
    QStringList parts{what};
    if (const auto fraction = state.fraction()) {
        parts[0] += u' ' + formatPercent(*fraction);
    }
    if (const auto rate = state.pass().recent.rate()) {
        parts += formatRate(*rate);
    }
    return parts.join(u" · "_s);
}

QString amount(const PassState& pass)
{
    return pass.total ? formatSizeOf(pass.done, *pass.total) : formatSize(pass.done);
}

QString stalledText(const FlashState& state)
{
    const QString waited = formatDuration(secondsSince(state.stalledSince, state.now));
    return state.stalledByDrive ? Words::tr("The drive has not answered for %1").arg(waited)
                                : Words::tr("The image's file has not answered for %1").arg(waited);
}

/// What is left of the running pass, since the detail names the verify to come on its own.
std::optional<std::chrono::seconds> passTimeLeft(const FlashState& state)
{
    FlashState alone = state;
    alone.willVerify = false;
    return alone.timeLeft();
}

} // namespace

QString progressTitle(const FlashState& state)
{
    switch (state.phase) {
    case Phase::Preparing:
        return Words::tr("Preparing");
    case Phase::Writing:
        return withRate(Words::tr("Writing"), state);
    case Phase::Flushing:
        return Words::tr("Flushing · %1").arg(formatDuration(secondsSince(state.phaseBegan, state.now)));
    case Phase::Verifying:
        return withRate(Words::tr("Verifying"), state);
    case Phase::Finished:
        return Words::tr("Finished");
    }
    return {};
}

QString progressDetail(const FlashState& state)
{
    if (state.stalledSince) {
        return stalledText(state);
    }
    QStringList parts;
    const auto left = passTimeLeft(state);
    if (state.phase == Phase::Writing) {
        parts += amount(state.write);
        if (left) {
            parts += Words::tr("%1 left").arg(formatDuration(*left));
        }
        if (const auto verify = state.verifyTimeExpected(); verify && state.willVerify) {
            parts += Words::tr("then verify, about %1").arg(formatRoughly(*verify));
        }
    } else if (state.phase == Phase::Flushing) {
        parts += Words::tr("the drive empties its own cache");
    } else if (state.phase == Phase::Verifying) {
        parts += Words::tr("%1 read back").arg(amount(state.verify));
        if (left) {
            parts += Words::tr("%1 left").arg(formatDuration(*left));
        }
    }
    return parts.join(u" · "_s);
}

} // namespace burin
