// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "units.h"

#include <string>
#include <vector>

namespace burin {

/// Who says which bytes of an image matter.
enum class UsedBlocksSource {
    Bmap,        ///< a block map beside the image: all outside of it has to be zero in the image
    FileSystems, ///< the free maps of clean file systems: what is free may hold anything
};

/// Which bytes of an image matter (SPEC 3.6); the rest of the drive may stay as it is. Never guessed from
/// zeros or holes: unpacking and copying make holes of zeros that files own.
struct UsedBlocks {
    UsedBlocksSource source = UsedBlocksSource::Bmap;
    Bytes imageSize = 0;
    std::vector<Range> ranges{}; ///< in order, within the image
    std::string path{};          ///< of the block map
    DigestKind sumKind = DigestKind::Sha256;
    std::vector<std::string> sums{}; ///< of each range, lower-case hex; empty where the map has none

    bool operator==(const UsedBlocks&) const = default;
};

/// Why all of an image, or of a file system in it, counts as used.
enum class UsedDoubt {
    Packed,         ///< it can only be unpacked in order, and its free maps come too late
    NoFileSystem,   ///< none whose free map can be read
    UnusualTable,   ///< partitions that overlap or don't fit, another kind of table
    NotClean,       ///< a file system that was not unmounted, or has errors
    UnknownFeature, ///< one with a feature that may change what "free" means
    Contradiction,  ///< its parts don't agree with each other
    TooLarge,
    Interrupted,
    MapWithoutSums, ///< a block map that can't be checked, and that nobody asked for
};

} // namespace burin
