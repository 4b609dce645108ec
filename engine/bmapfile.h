// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "usedblocks.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// No map that was made for a drive of today is larger.
inline constexpr std::size_t kMostBmapBytes = 32 * kMiB;

/// Reads a block map as bmap-tools writes it, versions 1.2 (without sums) to 2.0. Its own sum and all its
/// numbers must agree. Errors: BlockMapBad, detail: what is wrong.
[[nodiscard]] Result<UsedBlocks> parseBmap(std::string_view text);

/// The same from a file. BlockMapBad also where it can't be read.
[[nodiscard]] Result<std::shared_ptr<const UsedBlocks>> readBmap(const std::string& path);

/// Where a block map of an image is looked for: IMAGE.bmap, also with compression suffixes dropped.
[[nodiscard]] std::vector<std::string> bmapPathsFor(const std::string& imagePath);

/// A block map in version 2.0. `blockSize` divides every range's offset and every length but that of one at
/// the end of the image; there is a SHA-256 for each.
[[nodiscard]] Result<std::string> bmapText(const UsedBlocks& used, Bytes blockSize);

} // namespace burin
