// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveinfo.h"
#include "engine/blockdevice.h"
#include "engine/imageprobe.h"

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace burin {

struct OpenRequest {
    DriveInfo drive;                    ///< as it was chosen; its identity is what is opened
    bool write = true;                  ///< false: O_RDONLY, allowed on protected drives too
    std::vector<std::string> keptFiles; ///< the image, the report: a drive that holds one is refused
};

/// Opens a drive for a job: the only way to a BlockDevice of one. Blocks (for a password question, for an
/// automounter, up to 10 s for a drive in use), so it runs in the job's thread; `stop` ends it, with an
/// error like any other (AuthDismissed, or DriveBusy where it waited).
/// In order (SPEC 4.6, 5): identity, guard, unmount, open with O_EXCL | O_DIRECT | O_CLOEXEC (itself, where
/// the caller may; else by udisks2), flock, identity on the descriptor, guard on fresh data. On an error
/// nothing was written and what was unmounted is mounted again. Errors: DriveGone, DriveChanged,
/// DriveIsSystem, DriveHoldsImage, DriveProtected, DriveBusy, DriveReadOnly, DriveNoMedium, DriveNoDirectIo,
/// AuthDismissed, AuthDenied, AuthNoAgent, ServiceMissing, Internal.
[[nodiscard]] Result<std::unique_ptr<BlockDevice>> openDrive(const OpenRequest& request,
                                                             std::stop_token stop);

} // namespace burin
