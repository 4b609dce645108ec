// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"

#include <cstddef>
#include <span>

namespace burin {

/// How the blocks of a virtual disk are packed, each for itself.
enum class BlockPacking { Deflate, Zlib, Zstd, Bzip2, Xz };

/// Unpacks one block, whose size is known, from memory to memory; what follows it in `in` is not looked at.
/// ImageCorrupt, also if it makes less or more; ImageNeedsMemory.
[[nodiscard]] Result<void> unpackBlock(BlockPacking packing, std::span<const std::byte> in,
                                       std::span<std::byte> out);

} // namespace burin
