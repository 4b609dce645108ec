// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "systemsnapshot.h"

#include "blockgraph.h"
#include "sysfile.h"

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

namespace burin {

namespace {

std::optional<MountTable> readMounts(const std::string& path)
{
    const auto text = readWhole(path);
    if (!text) {
        return {};
    }
    auto table = parseMountInfo(*text);
    // A line that isn't understood may be the mount that matters.
    return table.unreadable == 0 ? std::optional(std::move(table)) : std::nullopt;
}

/// The text of a file, "" where it doesn't exist, nothing where it can't be read.
std::optional<std::string> readIfThere(const std::string& path)
{
    auto text = readWhole(path);
    if (!text && errno == ENOENT) {
        return std::string();
    }
    return text;
}

bool isMountPoint(const MountTable& table, std::string_view path)
{
    return std::ranges::any_of(table.entries,
                               [&](const MountEntry& entry) { return entry.mountPoint == path; });
}

bool isInitialPidNamespace(const std::string& root)
{
    std::array<char, 64> target{};
    const auto n = ::readlink((root + "/proc/self/ns/pid").c_str(), target.data(), target.size());
    // PROC_PID_INIT_INO of include/linux/proc_ns.h: the same on every machine.
    return n > 0 && std::string_view(target.data(), static_cast<std::size_t>(n)) == "pid:[4026531836]";
}

void readTables(SystemSnapshot& snapshot, const std::string& root)
{
    if (!snapshot.ownMounts || !snapshot.initMounts) {
        return;
    }
    std::string etc = root + "/etc";
    if (!sharesRootWithInit(*snapshot.ownMounts, *snapshot.initMounts)) {
        const auto machineEtc = root + "/proc/1/root/etc";
        if (exists(machineEtc + "/.")) {
            etc = machineEtc;
        } else if (isMountPoint(*snapshot.ownMounts, "/etc/fstab")) {
            snapshot.fstab = readWhole(etc + "/fstab");
            // enter-root binds crypttab beside it, if the machine has one.
            snapshot.crypttab = isMountPoint(*snapshot.ownMounts, "/etc/crypttab")
                ? readWhole(etc + "/crypttab")
                : std::string();
            return;
        } else {
            return;
        }
    }
    snapshot.fstab = readIfThere(etc + "/fstab");
    snapshot.crypttab = readIfThere(etc + "/crypttab");
    snapshot.crypttabForbidden = !snapshot.crypttab && errno == EACCES;
}

/// /sys/fs/btrfs/UUID/devices/sda1 (Documentation/ABI/testing/sysfs-fs-btrfs in spirit: links named like the
/// device), /sys/fs/bcachefs/UUID/dev-0/block -> the device.
void readMemberSets(SystemSnapshot& snapshot, const std::string& root)
{
    const auto btrfs = root + "/sys/fs/btrfs";
    for (const auto& id : readFolder(btrfs).value_or(std::vector<std::string>())) {
        if (auto members = readFolder(btrfs + '/' + id + "/devices")) {
            snapshot.memberSets.push_back(std::move(*members));
        }
    }
    const auto bcachefs = root + "/sys/fs/bcachefs";
    for (const auto& id : readFolder(bcachefs).value_or(std::vector<std::string>())) {
        std::vector<std::string> members;
        for (const auto& dev : readFolder(bcachefs + '/' + id).value_or(std::vector<std::string>())) {
            const auto target = resolvedPath(bcachefs + '/' + id + '/' + dev + "/block");
            if (dev.starts_with("dev-") && !target.empty()) {
                members.emplace_back(baseName(target));
            }
        }
        snapshot.memberSets.push_back(std::move(members));
    }
}

void readKeptFiles(SystemSnapshot& snapshot, const SnapshotSources& sources)
{
    for (const auto& path : sources.keptFiles) {
        struct stat status = {};
        if (::stat(path.c_str(), &status) != 0) {
            // A report that is not there yet: the folder's disk is the one to keep.
            const auto folder = path.substr(0, path.rfind('/'));
            if (folder.empty() || folder == path || ::stat(folder.c_str(), &status) != 0) {
                continue;
            }
        }
        const auto resolved = resolvedPath(path);
        KeptFile kept{.path = resolved.empty() ? path : resolved,
                      .device = status.st_dev,
                      .inode = status.st_ino,
                      .blockDevice = {}};
        if (S_ISBLK(status.st_mode)) {
            kept.blockDevice = status.st_rdev;
        } else if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) {
            continue; // a pipe or a terminal lies on no disk
        }
        snapshot.keptFiles.push_back(std::move(kept));
    }
}

} // namespace

bool sharesRootWithInit(const MountTable& own, const MountTable& init)
{
    const auto rootOf = [](const MountTable& table) -> const MountEntry* {
        const MountEntry* found = nullptr;
        for (const auto& entry : table.entries) {
            found = entry.mountPoint == "/" ? &entry : found;
        }
        return found;
    };
    const auto* mine = rootOf(own);
    const auto* machine = rootOf(init);
    return mine != nullptr && machine != nullptr && mine->devno == machine->devno
        && mine->root == machine->root;
}

SystemSnapshot readSystemSnapshot(const SnapshotSources& sources)
{
    const auto& root = sources.root;
    SystemSnapshot snapshot;
    snapshot.ownMounts = readMounts(root + "/proc/self/mountinfo");
    snapshot.initMounts = readMounts(root + "/proc/1/mountinfo");
    snapshot.initialPidNamespace = isInitialPidNamespace(root);
    // No such file: a kernel without swap.
    snapshot.swaps = readIfThere(root + "/proc/swaps");
    snapshot.resumeDevice = readAttribute(root + "/sys/power/resume");
    snapshot.commandLine = readWhole(root + "/proc/cmdline");
    readTables(snapshot, root);
    readBlockGraph(snapshot, sources);
    readMemberSets(snapshot, root);
    // Each imported pool has a folder there, beside a few files (OpenZFS, spl kstats).
    const auto kstat = root + "/proc/spl/kstat/zfs";
    for (const auto& name : readFolder(kstat).value_or(std::vector<std::string>())) {
        if (exists(kstat + '/' + name + "/.")) {
            snapshot.zfsPools.push_back(name);
        }
    }
    readKeptFiles(snapshot, sources);
    return snapshot;
}

} // namespace burin
