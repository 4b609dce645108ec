// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveclassifier.h"
#include "drivelist.h"
#include "systemsnapshot.h"

namespace burin {

/// The list together with what it was judged by.
struct DriveScan {
    SystemSnapshot snapshot;
    std::vector<DriveInfo> drives;
};

[[nodiscard]] DriveScan scanDrives(const ListOptions& options);
/// The same over any snapshot and root folder: for tests.
[[nodiscard]] DriveScan scanDrives(const ListOptions& options, const SnapshotSources& sources);

/// What sysfs says of a whole device. Attributes that are missing keep their defaults.
[[nodiscard]] DriveAttributes readDriveAttributes(const std::string& root, const BlockNode& node,
                                                  const UdevProperties& properties);

} // namespace burin
