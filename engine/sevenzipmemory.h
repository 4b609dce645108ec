// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"

namespace burin {

/// The memory that unpacking this 7z archive takes for its largest dictionary: as the headers say, which
/// libarchive passes to the codecs without asking anybody (3.7). 0 if they can't be read; what is wrong with
/// them is for libarchive to say.
[[nodiscard]] Bytes sevenZipMemory(const FileRange& archive);

} // namespace burin
