// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashstate.h"
#include "errortext.h"
#include "flashcontroller.h"

#include <QJsonObject>
#include <QString>

namespace burin {

/// The report of an ended job (SPEC 6.11) for programs: sizes in bytes, speeds in bytes a second, times in
/// seconds.
[[nodiscard]] QJsonObject reportToJson(const FlashRequest& request, const FlashState& state);

/// The same for people, some lines of text that end with a line feed.
[[nodiscard]] QString reportToText(const FlashRequest& request, const FlashState& state);

/// Writes the report to a file, as JSON where its name ends so, else as text. Errors are
/// WriteFailed with the system's words in `detail`.
[[nodiscard]] Result<void> saveReport(const FlashRequest& request, const FlashState& state,
                                      const QString& path);

/// The same words everywhere for "writing", "verified"...: the report's and the JSON events'.
[[nodiscard]] QString phaseWord(Phase phase);
[[nodiscard]] QString verdictWord(Verdict verdict);

/// "DriveGone": a code as reports and JSON name it.
[[nodiscard]] QString errorCodeName(ErrorCode code);
/// `{"code": …, "title": …, "text": …, "details": …}`
[[nodiscard]] QJsonObject errorToJson(const FlashError& error, const ErrorContext& context);

/// What the words about this job are about.
[[nodiscard]] ErrorContext errorContext(const FlashRequest& request, const FlashReport& report);

/// The command line's exit status (SPEC 8).
enum class ExitStatus { Good = 0, Usage = 1, Refused = 2, WriteFailed = 3, VerifyFailed = 4, Cancelled = 5 };
[[nodiscard]] ExitStatus exitStatus(const FlashReport& report);

} // namespace burin
