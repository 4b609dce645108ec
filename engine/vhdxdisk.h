// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// Hyper-V's format: fixed and dynamic disks whose log is empty. (MS-VHDX; its sections are cited.)
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openVhdx(const FileRange& place);

} // namespace burin
