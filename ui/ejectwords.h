// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "platform/driveinfo.h"
#include "platform/ejector.h"

#include <QString>

namespace burin {

/// What came of an eject, in a sentence. A failed one never changes the verdict of the job.
[[nodiscard]] QString ejectSentence(const DriveInfo& drive, const EjectOutcome& outcome);

} // namespace burin
