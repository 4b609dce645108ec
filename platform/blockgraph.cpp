// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "blockgraph.h"

#include "engine/uniquefd.h"
#include "sysfile.h"

#include <algorithm>
#include <array>
#include <memory>

#include <blkid/blkid.h>
#include <fcntl.h>
#include <libudev.h>
#include <sys/file.h>
#include <sys/stat.h>

namespace burin {

namespace {

using Names = std::vector<std::string>;

std::optional<BlockNode> readNode(const std::string& folder, const std::string& name)
{
    const auto devno = parseDevnoText(readAttribute(folder + "/dev"));
    if (!devno) {
        return {};
    }
    BlockNode node;
    node.name = name;
    node.devno = *devno;
    // In units of 512 bytes, whatever the logical block (Documentation/ABI/stable/sysfs-block).
    node.size = readNumber(folder + "/size") * 512;
    node.readOnly = readNumber(folder + "/ro") != 0;
    node.slaves = readFolder(folder + "/slaves").value_or(Names());
    node.holders = readFolder(folder + "/holders").value_or(Names());
    node.dmUuid = readAttribute(folder + "/dm/uuid");
    node.dmName = readAttribute(folder + "/dm/name");
    node.isLoop = name.starts_with("loop");
    node.isMd = exists(folder + "/md");
    node.isBcache = name.starts_with("bcache");
    if (node.isLoop) {
        node.backingFile = readAttribute(folder + "/loop/backing_file");
    } else if (name.starts_with("zram")) {
        node.backingFile = readAttribute(folder + "/backing_dev");
        if (node.backingFile == "none") {
            node.backingFile.clear();
        }
    }
    return node;
}

void readNodes(SystemSnapshot& snapshot, const std::string& sysBlock)
{
    const auto disks = readFolder(sysBlock);
    snapshot.graphRead = disks.has_value();
    for (const auto& disk : disks.value_or(Names())) {
        const auto folder = sysBlock + '/' + disk;
        // The paths of a multipath NVMe namespace: no nodes of their own.
        if (readNumber(folder + "/hidden") != 0) {
            continue;
        }
        auto node = readNode(folder, disk);
        if (!node) {
            continue;
        }
        snapshot.nodes.emplace(disk, std::move(*node));
        for (const auto& name : readFolder(folder).value_or(Names())) {
            if (!name.starts_with(disk) || !exists(folder + '/' + name + "/partition")) {
                continue;
            }
            if (auto partition = readNode(folder + '/' + name, name)) {
                partition->disk = disk;
                snapshot.nodes.emplace(name, std::move(*partition));
            }
        }
    }
}

/// sysfs writes "/" in names as "!" (cciss!c0d0).
std::string sysfsName(std::string_view underDev)
{
    std::string name(underDev);
    std::ranges::replace(name, '/', '!');
    return name;
}

void addLinks(SystemSnapshot& snapshot, const std::string& root, const std::string& folder, int depth)
{
    const auto dev = resolvedPath(root + "/dev");
    for (const auto& name : readFolder(root + folder).value_or(Names())) {
        const auto path = folder + '/' + name;
        struct stat status = {};
        if (::lstat((root + path).c_str(), &status) != 0) {
            continue;
        }
        if (S_ISLNK(status.st_mode)) {
            const auto target = resolvedPath(root + path);
            if (target.starts_with(dev + '/')) {
                const auto node = sysfsName(std::string_view(target).substr(dev.size() + 1));
                if (snapshot.nodes.contains(node)) {
                    snapshot.links.emplace(path, node);
                }
            }
        } else if (S_ISDIR(status.st_mode) && depth > 0) {
            constexpr std::array kNoDisks{"bus", "char", "cpu", "dri", "fd",  "input",
                                          "net", "pts",  "shm", "snd", "vfio"};
            if (std::ranges::find(kNoDisks, name) == kNoDisks.end()) {
                addLinks(snapshot, root, path, depth - 1);
            }
        }
    }
}

void resolveBackings(SystemSnapshot& snapshot, const std::string& root)
{
    for (auto& [name, node] : snapshot.nodes) {
        if (node.backingFile.empty()) {
            continue;
        }
        if (node.backingFile.starts_with("/dev/")) {
            const auto link = snapshot.links.find(node.backingFile);
            const auto direct = sysfsName(std::string_view(node.backingFile).substr(5));
            if (link != snapshot.links.end()) {
                node.backingDevice = link->second;
            } else if (snapshot.nodes.contains(direct)) {
                node.backingDevice = direct;
            }
        }
        struct stat status = {};
        if (::stat((root + node.backingFile).c_str(), &status) != 0) {
            continue;
        }
        if (S_ISBLK(status.st_mode)) {
            for (const auto& [other, candidate] : snapshot.nodes) {
                if (candidate.devno == status.st_rdev) {
                    node.backingDevice = other;
                }
            }
        } else if (S_ISREG(status.st_mode)) {
            node.backingInode = {status.st_dev, status.st_ino};
        }
    }
}

void addTag(BlockNode& node, const char* key, const std::string& value)
{
    if (!value.empty()) {
        node.tags.push_back(std::string(key) + '=' + value);
    }
}

/// \x20 and the like, in ID_*_ENC and in the names under /dev/disk/by-*.
std::string decodeHex(std::string_view text)
{
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0'
            : c >= 'a' && c <= 'f'  ? c - 'a' + 10
            : c >= 'A' && c <= 'F'  ? c - 'A' + 10
                                    : -1;
    };
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text.substr(i).starts_with("\\x") && i + 3 < text.size() && digit(text[i + 2]) >= 0
            && digit(text[i + 3]) >= 0) {
            out += static_cast<char>(digit(text[i + 2]) * 16 + digit(text[i + 3]));
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool takeFromUdev(BlockNode& node, const UdevProperties& properties)
{
    const auto get = [&properties](const char* key) {
        const auto found = properties.find(key);
        return found == properties.end() ? std::string() : found->second;
    };
    // udev's builtin blkid ran if it left anything; a node that it has only numbered proves nothing.
    if (!properties.contains("ID_FS_TYPE") && !properties.contains("ID_PART_TABLE_TYPE")
        && !properties.contains("ID_PART_ENTRY_SCHEME") && !properties.contains("USEC_INITIALIZED")) {
        return false;
    }
    node.fsType = get("ID_FS_TYPE");
    node.label = get("ID_FS_LABEL_ENC").empty() ? get("ID_FS_LABEL") : decodeHex(get("ID_FS_LABEL_ENC"));
    addTag(node, "UUID", get("ID_FS_UUID"));
    addTag(node, "LABEL", node.label);
    addTag(node, "PARTUUID", get("ID_PART_ENTRY_UUID"));
    addTag(node, "PARTLABEL", decodeHex(get("ID_PART_ENTRY_NAME")));
    return true;
}

/// Whether a program that writes the disk, Burin itself perhaps, asks all others not to look at it
/// (systemd: BLOCK_DEVICE_LOCKING). A look at a drive that hangs would hang too.
bool isBeingWritten(const BlockNode& node, const std::string& dev)
{
    const UniqueFd disk(::open((dev + (node.disk.empty() ? node.name : node.disk)).c_str(),
                               O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    return disk && ::flock(disk.get(), LOCK_SH | LOCK_NB) != 0;
}

/// Reads the node; for drives that udev doesn't know, and only where the caller may read it. O_NONBLOCK: an
/// empty slot must not wait.
void takeFromBlkid(BlockNode& node, const std::string& path)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    struct stat status = {};
    if (!fd || ::fstat(fd.get(), &status) != 0 || !S_ISBLK(status.st_mode) || status.st_rdev != node.devno) {
        return;
    }
    struct Free {
        void operator()(blkid_probe probe) const { blkid_free_probe(probe); }
    };
    const std::unique_ptr<blkid_struct_probe, Free> probe(blkid_new_probe());
    if (!probe || blkid_probe_set_device(probe.get(), fd.get(), 0, 0) != 0) {
        return;
    }
    blkid_probe_enable_superblocks(probe.get(), 1);
    blkid_probe_set_superblocks_flags(probe.get(),
                                      BLKID_SUBLKS_TYPE | BLKID_SUBLKS_LABEL | BLKID_SUBLKS_UUID);
    blkid_probe_enable_partitions(probe.get(), 1);
    blkid_probe_set_partitions_flags(probe.get(), BLKID_PARTS_ENTRY_DETAILS);
    const int found = blkid_do_safeprobe(probe.get());
    if (found < 0) {
        return; // -2: several signatures, -1: an error; then nobody can tell
    }
    const auto value = [&probe](const char* key) {
        const char* text = nullptr;
        return blkid_probe_lookup_value(probe.get(), key, &text, nullptr) == 0 ? std::string(text)
                                                                               : std::string();
    };
    node.fsType = value("TYPE");
    node.label = value("LABEL");
    addTag(node, "UUID", value("UUID"));
    addTag(node, "LABEL", node.label);
    addTag(node, "PARTUUID", value("PART_ENTRY_UUID"));
    addTag(node, "PARTLABEL", value("PART_ENTRY_NAME"));
}

void addTagsOfLinks(SystemSnapshot& snapshot)
{
    constexpr std::array<std::pair<std::string_view, const char*>, 4> kinds{
        {{"/dev/disk/by-uuid/", "UUID"},
         {"/dev/disk/by-label/", "LABEL"},
         {"/dev/disk/by-partuuid/", "PARTUUID"},
         {"/dev/disk/by-partlabel/", "PARTLABEL"}}};
    for (const auto& [path, name] : snapshot.links) {
        for (const auto& [folder, key] : kinds) {
            if (path.starts_with(folder)) {
                addTag(snapshot.nodes.at(name), key, decodeHex(std::string_view(path).substr(folder.size())));
            }
        }
    }
}

} // namespace

void readBlockGraph(SystemSnapshot& snapshot, const SnapshotSources& sources)
{
    readNodes(snapshot, sources.root + "/sys/block");
    addLinks(snapshot, sources.root, "/dev", 2);
    resolveBackings(snapshot, sources.root);
    for (auto& [name, node] : snapshot.nodes) {
        if (node.size == 0) {
            node.fsType = "";
            continue;
        }
        const bool known = sources.udevProperties && takeFromUdev(node, sources.udevProperties(node));
        if (!known && sources.probe) {
            auto path = name;
            std::ranges::replace(path, '!', '/');
            if (!isBeingWritten(node, sources.root + "/dev/")) {
                takeFromBlkid(node, sources.root + "/dev/" + path);
            }
        }
    }
    addTagsOfLinks(snapshot);
}

SnapshotSources machineSources(std::vector<std::string> keptFiles)
{
    const std::shared_ptr<udev> context(udev_new(), [](udev* u) { udev_unref(u); });
    const auto properties = [context](const BlockNode& node) {
        UdevProperties found;
        const std::unique_ptr<udev_device, decltype([](udev_device* d) { udev_device_unref(d); })> device(
            context ? udev_device_new_from_devnum(context.get(), 'b', node.devno) : nullptr);
        if (device && udev_device_get_is_initialized(device.get()) > 0) {
            for (auto* entry = udev_device_get_properties_list_entry(device.get()); entry != nullptr;
                 entry = udev_list_entry_get_next(entry)) {
                const auto* value = udev_list_entry_get_value(entry);
                found.emplace(udev_list_entry_get_name(entry), value == nullptr ? "" : value);
            }
        }
        return found;
    };
    return {.root = {}, .udevProperties = properties, .probe = true, .keptFiles = std::move(keptFiles)};
}

} // namespace burin
