// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "jobtext.h"

#include "formatting.h"
#include "progresstext.h"
#include "words.h"

#include <QStringList>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

QString joined(QStringList parts)
{
    parts.removeAll(QString());
    return parts.join(u" · "_s);
}

QString passSummary(const QString& what, std::chrono::nanoseconds time, Bytes bytes)
{
    if (bytes == 0 || time.count() <= 0) {
        return {};
    }
    const double rate = double(bytes) / std::chrono::duration<double>(time).count();
    return Words::tr("%1 %2, %3").arg(what, formatTimeTaken(time), formatRate(rate));
}

QString mismatchDetail(const FlashReport& report)
{
    const BadRange& first = report.badRanges.front();
    const QString again = first.unreadable ? Words::tr("can't be read")
        : first.sameAgain                  ? Words::tr("read twice, same result")
                                           : Words::tr("read twice, two results");
    return joined({Words::tr("first at %1").arg(formatSize(first.range.offset)), again});
}

JobText endedText(const FlashReport& report, const ErrorContext& context)
{
    JobText text;
    text.headline = verdictTitle(report, context);
    text.detail = joined({passSummary(Words::tr("write"), report.writeTime, report.bytesWritten),
                          passSummary(Words::tr("verify"), report.verifyTime, report.bytesVerified)});
    switch (report.verdict) {
    case Verdict::Verified:
        text.mark = HeadlineMark::Good;
        break;
    case Verdict::WrittenNotVerified:
    case Verdict::Cancelled:
        break;
    case Verdict::Failed:
        text.mark = HeadlineMark::Bad;
        if (!report.badRanges.empty()) {
            text.detail = mismatchDetail(report);
        } else if (report.error) {
            text.message = errorText(*report.error, context).text;
        }
        break;
    }
    return text;
}

} // namespace

JobText jobText(const FlashState& state, const ErrorContext& context, bool cancelling, Clock::time_point now)
{
    if (state.report) {
        return endedText(*state.report, context);
    }
    FlashState current = state;
    current.now = std::max(state.now, now);
    JobText text;
    text.headline = progressTitle(current);
    text.detail = progressDetail(current);
    if (state.stalledSince) {
        return text;
    }
    if (cancelling) {
        text.headline = Words::tr("Cancelling…");
        text.detail = Words::tr("waiting for the drive to finish what it has begun");
    } else if (state.phase == Phase::Preparing) {
        text.detail = Words::tr("opening %1").arg(context.drive);
    } else if (!state.badRanges.empty()) {
        text.detail = joined({Words::tr("places that differ: %1").arg(state.badRanges.size()), text.detail});
    }
    return text;
}

} // namespace burin
