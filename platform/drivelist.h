// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveinfo.h"
#include "engine/error.h"

#include <string>
#include <vector>

namespace burin {

struct ListOptions {
    bool loops = false;                   ///< loop devices too
    std::vector<std::string> keptFiles{}; ///< drives that hold one of these are protected
    std::vector<std::string> files{};     ///< regular files that stand for drives
};

/// Every drive that SPEC 4.2 lets appear, classified and judged by the guard, protected ones included, in
/// a stable order: chosen most likely first, large and internal ones last. Reads sysfs, udev's data where
/// there are any, and the guard's sources; a few milliseconds. A drive that can't be read is listed with
/// what is known, and protected. Never fails as a whole.
[[nodiscard]] std::vector<DriveInfo> listDrives(const ListOptions& options);

/// The drive that a person named by node, path, by-id link, any symlink, serial number, or (where
/// options.files names it) file. Errors: DriveNotFound, DriveAmbiguous, DriveIsPartition (detail: the
/// disk), DriveNotADrive.
[[nodiscard]] Result<DriveInfo> findDrive(const std::string& name, const std::vector<DriveInfo>& drives);

} // namespace burin
