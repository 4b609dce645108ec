// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// Virtual PC's and Hyper-V's older format: fixed and dynamic disks. (Virtual Hard Disk Image Format
/// Specification, Microsoft, 2006)
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openVhd(const FileRange& place);

} // namespace burin
