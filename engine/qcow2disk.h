// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// QEMU's format, versions 2 and 3, without a backing file. Of several states the current one is read, not
/// the snapshots. (docs/interop/qcow2.rst in QEMU's source)
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openQcow2(const FileRange& place);

} // namespace burin
