// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// Android's sparse images, version 1. (libsparse/sparse_format.h of AOSP)
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openAndroidSparse(const FileRange& place);

} // namespace burin
