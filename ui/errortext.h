// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashevent.h"
#include "engine/imageprobe.h"
#include "platform/driveinfo.h"

#include <QString>

namespace burin {

/// What an error's words are about.
struct ErrorContext {
    QString image{};     ///< file name, for people
    QString drive{};     ///< name for people, "SanDisk Ultra Fit"
    Bytes imageSize = 0; ///< 0 if unknown
    Bytes driveSize = 0;
    bool driveTouched = false; ///< from the report
    QString sum{};             ///< the published sum that the image differs from
};

/// An error in words: what happened, what state the drive is in, what to do.
struct ErrorText {
    QString title;
    QString text;    ///< whole sentences, the drive's state and the advice included
    QString details; ///< node, errno, byte offset, the library's words; for the fold and for reports
};

[[nodiscard]] ErrorText errorText(const FlashError& error, const ErrorContext& context);

/// Why a drive is protected: a sentence, and the two words at the end of its row ("system disk").
[[nodiscard]] QString protectionText(const Protection& protection);
[[nodiscard]] QString protectionBadge(const Protection& protection);

[[nodiscard]] QString warningText(ImageWarning warning);

/// The headline of an ended job ("Verified: every byte on the drive equals the image"), and what the drive
/// holds now and whether it may be used, for the line beside the buttons.
[[nodiscard]] QString verdictTitle(const FlashReport& report, const ErrorContext& context);
[[nodiscard]] QString verdictAdvice(const FlashReport& report, const ErrorContext& context);

} // namespace burin
