// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "systemsnapshot.h"

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// Everything that lies under something: nodes by their sysfs names, partitions and disks included.
struct Backing {
    std::set<std::string> nodes;
    bool unknown = false; ///< a part of it could not be resolved
};

/// What rests on what, over one snapshot, which must outlive it. Pure.
///
///     mount -> file system -> dm/md/bcache -> partition -> disk
///                 |  (all devices of a btrfs)
///                 `-> overlay -> its layers -> ...       loop -> its file -> the mount that holds it -> ...
class StorageStack
{
public:
    explicit StorageStack(const SystemSnapshot& snapshot) : m_snapshot(snapshot) { }

    [[nodiscard]] const BlockNode* node(const std::string& name) const;
    [[nodiscard]] const BlockNode* nodeOf(std::uint64_t devno) const;

    [[nodiscard]] Backing underNode(const std::string& name) const;
    [[nodiscard]] Backing underMount(const MountEntry& mount, const MountTable& table) const;
    /// The path is looked up in Burin's own mounts and in pid 1's, where a chroot's have no answer.
    [[nodiscard]] Backing underPath(const std::string& path) const;
    [[nodiscard]] Backing underFile(const KeptFile& file) const;

    /// The devices that fstab(5), crypttab(5) or the command line mean: UUID=, LABEL=, PARTUUID=, PARTLABEL=
    /// (quoted or not) or a path under /dev. Several where a label is not unique.
    [[nodiscard]] std::vector<std::string> bySpec(std::string_view spec) const;

    /// The nodes that a mount sits on directly; empty for those that have none, and for unknown ones.
    [[nodiscard]] std::vector<std::string> nodesOf(const MountEntry& mount) const;
    /// The node itself, its partitions, and all that is built on them, lowest first.
    [[nodiscard]] std::vector<std::string> above(const std::string& disk) const;
    /// Everything that holds the node: its holders, and loops over it.
    [[nodiscard]] std::vector<std::string> holdersOf(const BlockNode& node) const;

private:
    struct Walk;
    void addNode(Walk& walk, const std::string& name) const;
    void addMount(Walk& walk, const MountEntry& mount, const MountTable& table) const;
    void addOverlay(Walk& walk, const MountEntry& mount, const MountTable& table) const;
    void addPath(Walk& walk, const std::string& path, const MountTable& table) const;
    void addPathAnywhere(Walk& walk, const std::string& path) const;
    void addPool(Walk& walk, std::string_view pool) const;

    const SystemSnapshot& m_snapshot;
};

/// Whether a mount can have a disk under it at all: false for tmpfs, proc, NFS and the like.
[[nodiscard]] bool mayHaveDisk(const MountEntry& mount);

/// "data" of the device-mapper name "data-home": LVM joins group and volume by a dash and doubles dashes
/// within them (lvm(8)).
[[nodiscard]] std::string volumeGroupOf(std::string_view dmName);

} // namespace burin
