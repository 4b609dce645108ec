// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/units.h"
#include "mounttable.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace burin {

/// A block device as sysfs shows it: a disk, a partition, or a device made of others.
struct BlockNode {
    std::string name; ///< in sysfs: "sda1", "dm-0"
    std::uint64_t devno = 0;
    std::string disk; ///< of a partition: the disk's name; empty for whole devices
    Bytes size = 0;
    bool readOnly = false;
    std::vector<std::string> slaves;
    std::vector<std::string> holders;
    std::string dmUuid;
    std::string dmName;
    bool isLoop = false;
    bool isMd = false;
    bool isBcache = false;
    std::string backingFile;   ///< of a loop (or zram): as sysfs shows it, empty if none
    std::string backingDevice; ///< the name of the block device that backingFile is
    std::optional<std::pair<std::uint64_t, std::uint64_t>> backingInode; ///< st_dev and st_ino of backingFile
    std::optional<std::string> fsType; ///< signature; empty: none found; nothing: could not be looked at
    std::string label;
    std::vector<std::string> tags; ///< "UUID=...", "LABEL=...", "PARTUUID=...", "PARTLABEL=..."
};

/// A file that must survive: the image, the report.
struct KeptFile {
    std::string path;         ///< symlinks resolved
    std::uint64_t device = 0; ///< st_dev
    std::uint64_t inode = 0;
    std::optional<std::uint64_t> blockDevice; ///< st_rdev where the "file" is itself a block device
};

/// What the guard judges by, read at one moment. A source that could not be read is empty: the guard then
/// protects every real drive.
struct SystemSnapshot {
    std::optional<MountTable> ownMounts;
    std::optional<MountTable> initMounts; ///< pid 1's: the machine's
    bool initialPidNamespace = false;
    std::optional<std::string> swaps;
    std::optional<std::string> fstab; ///< the machine's, see readSystemSnapshot()
    std::optional<std::string> crypttab;
    bool crypttabForbidden = false; ///< crypttab is there and may not be read (mode 0600 on Fedora)
    std::string resumeDevice;       ///< /sys/power/resume, "8:3"; "0:0" is none
    std::optional<std::string> commandLine;
    bool graphRead = false;
    std::map<std::string, BlockNode> nodes;
    std::map<std::string, std::string> links;         ///< "/dev/disk/by-uuid/X" -> node name
    std::vector<std::vector<std::string>> memberSets; ///< mounted btrfs and bcachefs: the nodes of each
    std::vector<std::string> zfsPools;                ///< imported ones
    std::vector<KeptFile> keptFiles;
};

using UdevProperties = std::map<std::string, std::string>;

/// Where a snapshot is read from; tests give a tree of their own.
struct SnapshotSources {
    std::string root;                                               ///< put before every path
    std::function<UdevProperties(const BlockNode&)> udevProperties; ///< udev's data, empty where it has none
    bool probe = true;                                              ///< ask libblkid where udev has nothing
    std::vector<std::string> keptFiles;
};

/// Reads the machine. fstab and crypttab are those of the machine: where Burin runs in another root than pid
/// 1 they are taken from /proc/1/root, or from /etc if the file there is a mount of its own
/// (packaging/enter-root binds the host's), else not at all.
[[nodiscard]] SystemSnapshot readSystemSnapshot(const SnapshotSources& sources);

/// The sources of this machine.
[[nodiscard]] SnapshotSources machineSources(std::vector<std::string> keptFiles);

/// Whether Burin's root folder is pid 1's: the "/" entries lead to the same folder of the same file system.
[[nodiscard]] bool sharesRootWithInit(const MountTable& own, const MountTable& init);

} // namespace burin
