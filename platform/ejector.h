// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveinfo.h"

#include <stop_token>
#include <string>

namespace burin {

enum class EjectResult {
    SafeToRemove,
    NothingToEject, ///< a loop device or a file
    Failed,
};

struct EjectOutcome {
    EjectResult result = EjectResult::Failed;
    std::string detail; ///< of a failure: what is in the way, or the service's words
};

/// After a job, when the drive is closed (SPEC 5.4): takes off what an automounter mounted, and powers off
/// where that harms no other drive; a card reader, and what shares its housing with others, is only ejected.
/// Retried for a few seconds while an automounter gets in first. Blocks: not for the GUI thread.
[[nodiscard]] EjectOutcome ejectDrive(const DriveInfo& drive, std::stop_token stop);

} // namespace burin
