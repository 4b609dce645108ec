// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "driveinfo.h"

#include <algorithm>

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

FlashError protectionError(const DriveInfo& drive)
{
    // Of several reasons a missing card is the first: nothing else can be known of it.
    const auto none = std::ranges::find(drive.protections, ProtectionKind::NoMedium, &Protection::kind);
    const Protection reason = none != drive.protections.end() ? *none
        : drive.protections.empty()                           ? Protection{}
                                                              : drive.protections.front();
    FlashError error{.code = ErrorCode::DriveProtected, .detail = reason.detail};
    switch (reason.kind) {
    case ProtectionKind::SystemDisk:
        error.code = ErrorCode::DriveIsSystem;
        break;
    case ProtectionKind::HoldsImage:
        error.code = ErrorCode::DriveHoldsImage;
        break;
    case ProtectionKind::WriteProtected:
        error.code = ErrorCode::DriveReadOnly;
        break;
    case ProtectionKind::NoMedium:
        error.code = ErrorCode::DriveNoMedium;
        break;
    case ProtectionKind::StackInUse:
    case ProtectionKind::NamedInFstab:
    case ProtectionKind::NamedInCrypttab:
    case ProtectionKind::CannotTell:
        break;
    }
    return error;
}

std::string typedName(const DriveInfo& drive)
{
    return drive.model.empty() ? drive.node : drive.model;
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
