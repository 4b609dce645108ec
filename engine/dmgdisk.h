// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

namespace burin {

/// Apple's disk images (UDIF) in one file, with a property list. Apple has published no description; the
/// layout is known from libdmg-hfsplus and 7-Zip.
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openDmg(const FileRange& place);

} // namespace burin
