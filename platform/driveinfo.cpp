// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "driveinfo.h"

namespace burin {

namespace {

constexpr Bytes kLargeDrive = 256'000'000'000;
constexpr Bytes kMuchData = 64'000'000'000;

} // namespace

std::string driveName(const DriveInfo& drive)
{
    if (drive.vendor.empty() && drive.model.empty()) {
        return drive.node;
    }
    if (drive.vendor.empty() || drive.model.starts_with(drive.vendor)) {
        return drive.model;
    }
    return drive.model.empty() ? drive.vendor : drive.vendor + ' ' + drive.model;
}

bool needsTypedName(const DriveInfo& drive)
{
    if (drive.bus == Bus::Loop || drive.bus == Bus::File) {
        return false;
    }
    Bytes held = 0;
    for (const auto& content : drive.contents) {
        held += content.size;
    }
    return !drive.external || drive.rotational || drive.size > kLargeDrive || held > kMuchData;
}

} // namespace burin
