// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "driveunmounter.h"

#include "engine/uniquefd.h"
#include "storagestack.h"
#include "sysfile.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <format>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace burin {

namespace {

struct Found {
    MountEntry mount;
    std::string node;
    bool isOwn = true; ///< in Burin's own view; else only pid 1 sees it
};

/// The mount to take off next: the last one made, so that what covers others goes first.
std::optional<Found> nextMount(const SystemSnapshot& snapshot, const std::string& disk)
{
    const StorageStack stack(snapshot);
    const auto nodes = stack.above(disk);
    for (const auto* table : {&snapshot.ownMounts, &snapshot.initMounts}) {
        if (!*table) {
            continue;
        }
        const auto& entries = (*table)->entries;
        for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry) {
            for (const auto& node : stack.nodesOf(*entry)) {
                if (std::ranges::find(nodes, node) != nodes.end()) {
                    return Found{.mount = *entry, .node = node, .isOwn = table == &snapshot.ownMounts};
                }
            }
        }
    }
    return {};
}

unsigned long mountFlags(const MountEntry& mount)
{
    constexpr std::array<std::pair<std::string_view, unsigned long>, 8> kFlags{{{"ro", MS_RDONLY},
                                                                                {"nosuid", MS_NOSUID},
                                                                                {"nodev", MS_NODEV},
                                                                                {"noexec", MS_NOEXEC},
                                                                                {"noatime", MS_NOATIME},
                                                                                {"nodiratime", MS_NODIRATIME},
                                                                                {"relatime", MS_RELATIME},
                                                                                {"sync", MS_SYNCHRONOUS}}};
    unsigned long flags = 0;
    for (const auto& options : {mount.options, mount.superOptions}) {
        for (const auto word : splitWords(options, ",")) {
            const auto found = std::ranges::find(kFlags, word, [](const auto& item) { return item.first; });
            flags |= found == kFlags.end() ? 0 : found->second;
        }
    }
    return flags;
}

/// The folder within the file system that was mounted, where the mount options don't say it themselves, as
/// btrfs does (subvol=): a bind mount of "/sub" gives "/sub", a plain mount "".
std::string folderWithin(const MountEntry& mount)
{
    constexpr std::string_view kSubvolume = "subvol=";
    std::string_view folder = mount.root;
    for (const auto word : splitWords(mount.superOptions, ",")) {
        if (word.starts_with(kSubvolume) && isWithin(folder, word.substr(kSubvolume.size()))) {
            folder.remove_prefix(std::min(folder.size(), word.size() - kSubvolume.size()));
        }
    }
    return folder == "/" ? std::string() : std::string(folder);
}

/// Puts a folder of the file system that is mounted there in its place.
void showOnly(const std::string& folder, const std::string& place)
{
    const UniqueFd tree(::open_tree(AT_FDCWD, (place + '/' + folder).c_str(),
                                    OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW));
    // Rather nothing there than more than there was.
    if (::umount2(place.c_str(), UMOUNT_NOFOLLOW) == 0 && tree) {
        (void)::move_mount(tree.get(), "", AT_FDCWD, place.c_str(), MOVE_MOUNT_F_EMPTY_PATH);
    }
}

void mountDirectly(const MountEntry& mount)
{
    std::string data;
    for (const auto word : splitWords(mount.superOptions, ",")) {
        if (word != "rw" && word != "ro" && word != "sync") {
            data += (data.empty() ? "" : ",") + std::string(word);
        }
    }
    const auto flags = mountFlags(mount);
    const auto attempt = [&](const char* options) {
        return ::mount(mount.source.c_str(), mount.mountPoint.c_str(), mount.fileSystem.c_str(), flags,
                       options)
            == 0;
    };
    // Some file systems show options that they don't take back. Failing here is not worth an error of its
    // own: the one that stopped the job is reported.
    const bool mounted = attempt(data.c_str()) || attempt("");
    if (const auto folder = folderWithin(mount); mounted && !folder.empty()) {
        showOnly(folder, mount.mountPoint);
    }
}

/// Whether a path leads to this mount. umount(2) takes off what lies on top, and that may be another drive's.
bool isOnTop(const MountEntry& mount)
{
    struct statx status = {};
    return ::statx(AT_FDCWD, mount.mountPoint.c_str(),
                   AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, STATX_MNT_ID, &status)
        == 0
        && (status.stx_mask & STATX_MNT_ID) != 0 && status.stx_mnt_id == mount.id;
}

std::string processOn(const std::vector<std::string>& places)
{
    const auto inPlace = [&places](const std::string& target) {
        return std::ranges::any_of(places, [&](const std::string& place) { return isWithin(target, place); });
    };
    const auto own = std::to_string(::getpid());
    for (const auto& pid : readFolder("/proc").value_or(std::vector<std::string>())) {
        if (pid.front() < '0' || pid.front() > '9' || pid == own) {
            continue;
        }
        const auto folder = "/proc/" + pid;
        std::vector<std::string> links{folder + "/cwd", folder + "/root"};
        for (const auto& fd : readFolder(folder + "/fd").value_or(std::vector<std::string>())) {
            links.push_back(folder + "/fd/" + fd);
        }
        for (const auto& link : links) {
            std::array<char, 4096> target{};
            const auto n = ::readlink(link.c_str(), target.data(), target.size());
            if (n > 0 && inPlace(std::string(target.data(), static_cast<std::size_t>(n)))) {
                return readAttribute(folder + "/comm") + " (" + pid + ')';
            }
        }
    }
    return {};
}

} // namespace

std::string whoHasLocked(const std::string& disk)
{
    struct stat status = {};
    if (::stat(("/dev/" + disk).c_str(), &status) != 0) {
        return {};
    }
    // "1: FLOCK  ADVISORY  WRITE 123 00:05:617 0 EOF", readable for everyone (proc_locks(5)).
    const auto inode =
        std::format("{:02x}:{:02x}:{}", major(status.st_dev), minor(status.st_dev), status.st_ino);
    const auto text = readWhole("/proc/locks").value_or(std::string());
    for (const auto line : splitLines(text)) {
        const auto words = splitWords(line);
        constexpr std::size_t kFields = 6;
        if (words.size() >= kFields && words[1] == "FLOCK" && words[3] == "WRITE" && words[5] == inode) {
            const auto name = readAttribute("/proc/" + std::string(words[4]) + "/comm");
            return (name.empty() ? "flock" : name) + " (" + std::string(words[4]) + ')';
        }
    }
    return {};
}

std::string whatKeepsBusy(const SystemSnapshot& snapshot, const std::string& disk)
{
    const StorageStack stack(snapshot);
    std::vector<std::string> places;
    std::string text;
    const auto add = [&text](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
    for (const auto& name : stack.above(disk)) {
        places.push_back("/dev/" + name);
        const auto* node = stack.node(name);
        if (name != disk && (node == nullptr || node->disk != disk)) {
            add(node != nullptr && !node->dmName.empty() ? node->dmName : name);
        }
    }
    if (const auto mount = nextMount(snapshot, disk)) {
        places.push_back(mount->mount.mountPoint);
        add(mount->mount.mountPoint);
    }
    const auto locked = whoHasLocked(disk);
    if (!locked.empty()) {
        add(locked);
    }
    if (const auto process = processOn(places); !process.empty() && process != locked) {
        add(process);
    }
    return text;
}

Result<void> DriveUnmounter::unmountOne(const MountEntry& mount, const std::string& node, bool isOwn)
{
    if (!isRemovableFolder(mount.mountPoint)) {
        // Mounted there since the guard looked: not for Burin to take off. The guard will say why.
        return failure(ErrorCode::DriveBusy, mount.mountPoint);
    }
    const bool directly = isOwn && ::geteuid() == 0;
    Result<void> done;
    if (directly) {
        if (!isOnTop(mount)) {
            return failure(ErrorCode::DriveBusy, mount.mountPoint);
        }
        if (::umount2(mount.mountPoint.c_str(), UMOUNT_NOFOLLOW) != 0) {
            if (errno == EINVAL || errno == ENOENT) {
                return {}; // somebody else was quicker
            }
            return failure(errno == EBUSY ? ErrorCode::DriveBusy : ErrorCode::Internal, errno, {},
                           mount.mountPoint);
        }
    } else {
        done = Udisks(m_stop).unmount(node);
    }
    // A call that was not waited for may do its work all the same.
    if (done || m_stop.stop_requested()) {
        m_taken.push_back({.mount = mount, .node = node, .byUdisks = !directly});
    }
    return done;
}

Result<void> DriveUnmounter::lockVolumes(const SystemSnapshot& snapshot, const std::string& disk)
{
    const StorageStack stack(snapshot);
    auto nodes = stack.above(disk);
    std::ranges::reverse(nodes);
    for (const auto& name : nodes) {
        const auto* node = stack.node(name);
        if (node == nullptr || !node->dmUuid.starts_with("CRYPT-")) {
            continue;
        }
        for (const auto& slave : node->slaves) {
            Udisks udisks(m_stop);
            if (auto locked = udisks.lock(slave); !locked) {
                const auto& error = locked.error();
                if (error.code == ErrorCode::ServiceMissing || error.code == ErrorCode::Internal) {
                    return failure(ErrorCode::DriveBusy, "cryptsetup close " + node->dmName);
                }
                return std::unexpected(error);
            }
        }
    }
    return {};
}

Result<void> DriveUnmounter::unmountAll(const std::string& disk)
{
    // Each round takes one mount; the bound only ends a fight with an automounter, which the caller may
    // resume.
    constexpr int kRounds = 64;
    for (int i = 0; i < kRounds && !m_stop.stop_requested(); ++i) {
        const auto snapshot = readSystemSnapshot(machineSources({}));
        const auto next = nextMount(snapshot, disk);
        if (!next) {
            return lockVolumes(snapshot, disk);
        }
        if (auto done = unmountOne(next->mount, next->node, next->isOwn); !done) {
            return done;
        }
    }
    return failure(ErrorCode::DriveBusy, "mounted again and again");
}

void DriveUnmounter::mountAgain()
{
    while (!m_taken.empty()) {
        const auto taken = std::move(m_taken.back());
        m_taken.pop_back();
        if (taken.byUdisks) {
            Udisks udisks;
            (void)udisks.mount(taken.node); // the error that stopped the job is the one to report
        } else {
            mountDirectly(taken.mount);
        }
    }
}

} // namespace burin
