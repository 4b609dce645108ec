// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// VMware's format, where the whole disk is one file: monolithicSparse and streamOptimized. (Virtual Disk
/// Format 5.0, VMware, 2011)
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openVmdk(const FileRange& place);

} // namespace burin
