// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "storagestack.h"
#include "systemsnapshot.h"

#include <map>
#include <set>
#include <string>

namespace burin {

/// What the machine needs a node for; the entries are what the guard's Protection::detail says.
struct NodeUses {
    std::set<std::string> system; ///< mount points, "swap", "resume"
    std::set<std::string> image;
    std::set<std::string> fstab;
    std::set<std::string> crypttab;
};

struct SystemUses {
    std::map<std::string, NodeUses> nodes;
    std::set<std::string> untold; ///< sources for want of which no real drive can be judged
    bool unresolvedTag = false;   ///< fstab or crypttab name a device that no known tag fits
};

/// Walks from every mount, swap, table and kept file down to the disks.
[[nodiscard]] SystemUses collectSystemUses(const SystemSnapshot& snapshot, const StorageStack& stack);

/// Whether an own mount is only the copy, in a chroot's private mount namespace, of one of the machine's
/// that lies in a removable folder: packaging/enter-root shows /media/x at ROOT/media/x too.
[[nodiscard]] bool isCopyOfRemovable(const MountEntry& own, const MountTable& init);

} // namespace burin
