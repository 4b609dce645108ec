// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include <array>

namespace burin {

namespace {

// In the order of ErrorCode; a test compares the ends.
constexpr std::array kNames{"ImageUnreadable",    "ImageEmpty",     "ImageFormatUnknown", "ImageUnsupported",
                            "ImageNoMember",      "ImageEncrypted", "ImageTruncated",     "ImageCorrupt",
                            "ImageNeedsMemory",   "ImageChanged",   "BlockMapBad",        "ImageTooLarge",
                            "ImageGrewPastDrive", "DriveNotFound",  "DriveAmbiguous",     "DriveIsPartition",
                            "DriveNotADrive",     "DriveIsSystem",  "DriveHoldsImage",    "DriveProtected",
                            "DriveBusy",          "DriveNoMedium",  "DriveReadOnly",      "DriveNoDirectIo",
                            "AuthDismissed",      "AuthDenied",     "AuthNoAgent",        "ServiceMissing",
                            "DriveChanged",       "DriveGone",      "DriveTooSlow",       "WriteFailed",
                            "FlushFailed",        "ReadBackFailed", "VerifyMismatch",     "Internal"};
static_assert(kNames.size() == static_cast<std::size_t>(ErrorCode::Internal) + 1);

} // namespace

QString errorCodeName(ErrorCode code)
{
    return QString::fromLatin1(kNames.at(static_cast<std::size_t>(code)));
}

} // namespace burin
