// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "storagestack.h"

#include "sysfile.h"

#include <algorithm>
#include <array>
#include <cctype>

#include <sys/sysmacros.h>

namespace burin {

namespace {

constexpr std::string_view kDeleted = " (deleted)"; // d_path() of the kernel, for a file without a name

std::string lower(std::string_view text)
{
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return out;
}

std::string withoutQuotes(std::string_view text)
{
    std::string out(text);
    std::erase(out, '"');
    return out;
}

bool sameBacking(const BlockNode& a, const BlockNode& b)
{
    if (a.backingFile.empty() || b.backingFile.empty()) {
        return false;
    }
    return a.backingFile == b.backingFile || (a.backingInode && a.backingInode == b.backingInode);
}

} // namespace

struct StorageStack::Walk {
    Backing found;
    std::set<const MountEntry*> mounts;
};

bool mayHaveDisk(const MountEntry& mount)
{
    if (major(mount.devno) != 0) {
        return true;
    }
    constexpr std::array kOnDisks{"btrfs", "bcachefs", "zfs",   "overlay",
                                  "aufs",  "unionfs",  "erofs", "ecryptfs"};
    if (std::ranges::find(kOnDisks, mount.fileSystem) != kOnDisks.end()) {
        return true;
    }
    constexpr std::array kNever{"devtmpfs", "devpts", "tmpfs", "proc", "sysfs",   "autofs",
                                "nfs",      "nfs4",   "cifs",  "9p",   "virtiofs"};
    return std::ranges::find(kNever, mount.fileSystem) == kNever.end() && mount.source.starts_with('/')
        && !mount.source.starts_with("//") && mount.source != "/dev/fuse";
}

const BlockNode* StorageStack::node(const std::string& name) const
{
    const auto found = m_snapshot.nodes.find(name);
    return found == m_snapshot.nodes.end() ? nullptr : &found->second;
}

const BlockNode* StorageStack::nodeOf(std::uint64_t devno) const
{
    const auto found =
        std::ranges::find_if(m_snapshot.nodes, [&](const auto& item) { return item.second.devno == devno; });
    return found == m_snapshot.nodes.end() ? nullptr : &found->second;
}

Backing StorageStack::underNode(const std::string& name) const
{
    Walk walk;
    addNode(walk, name);
    return walk.found;
}

Backing StorageStack::underMount(const MountEntry& mount, const MountTable& table) const
{
    Walk walk;
    addMount(walk, mount, table);
    return walk.found;
}

Backing StorageStack::underPath(const std::string& path) const
{
    Walk walk;
    addPathAnywhere(walk, path);
    return walk.found;
}

Backing StorageStack::underFile(const KeptFile& file) const
{
    Walk walk;
    const auto device = file.blockDevice.value_or(file.device);
    if (major(device) == 0) {
        addPathAnywhere(walk, file.path);
    } else if (const auto* found = nodeOf(device)) {
        addNode(walk, found->name);
    } else {
        walk.found.unknown = true;
    }
    return walk.found;
}

void StorageStack::addNode(Walk& walk, const std::string& name) const
{
    if (!walk.found.nodes.insert(name).second) {
        return;
    }
    const auto* self = node(name);
    if (self == nullptr) {
        walk.found.unknown = true;
        return;
    }
    if (!self->disk.empty()) {
        addNode(walk, self->disk);
    }
    for (const auto& slave : self->slaves) {
        addNode(walk, slave);
    }
    for (const auto& members : m_snapshot.memberSets) {
        if (std::ranges::find(members, name) != members.end()) {
            std::ranges::for_each(members, [&](const std::string& member) { addNode(walk, member); });
        }
    }
    if (!self->backingDevice.empty()) {
        addNode(walk, self->backingDevice);
    } else if (!self->backingFile.empty()) {
        addPathAnywhere(walk, self->backingFile);
    }
    for (const auto& [other, candidate] : m_snapshot.nodes) {
        // Two loops over one file: writing the one writes the other.
        if (sameBacking(*self, candidate)) {
            addNode(walk, other);
        }
    }
}

void StorageStack::addPool(Walk& walk, std::string_view pool) const
{
    // Members carry the pool's name as their label. One whose signature could not be read may be a member
    // too.
    bool any = false;
    for (const auto& [name, candidate] : m_snapshot.nodes) {
        if (candidate.fsType == "zfs_member" && (candidate.label == pool || candidate.label.empty())) {
            addNode(walk, name);
            any = true;
        }
    }
    walk.found.unknown |= !any;
}

std::vector<std::string> StorageStack::nodesOf(const MountEntry& mount) const
{
    if (major(mount.devno) != 0) {
        const auto* found = nodeOf(mount.devno);
        return found == nullptr ? std::vector<std::string>() : std::vector{found->name};
    }
    if (!mayHaveDisk(mount) || mount.fileSystem == "zfs") {
        return {};
    }
    std::vector<std::string> nodes;
    // bcachefs names all its devices: /dev/sda:/dev/sdb
    for (const auto part : splitWords(mount.source, ":")) {
        auto found = bySpec(part);
        nodes.insert(nodes.end(), found.begin(), found.end());
    }
    for (const auto& members : m_snapshot.memberSets) {
        if (std::ranges::any_of(
                nodes, [&](const auto& name) { return std::ranges::find(members, name) != members.end(); })) {
            nodes.insert(nodes.end(), members.begin(), members.end());
        }
    }
    std::ranges::sort(nodes);
    nodes.erase(std::ranges::unique(nodes).begin(), nodes.end());
    return nodes;
}

void StorageStack::addMount(Walk& walk, const MountEntry& mount, const MountTable& table) const
{
    if (!mayHaveDisk(mount) || !walk.mounts.insert(&mount).second) {
        return;
    }
    const auto nodes = nodesOf(mount);
    for (const auto& name : nodes) {
        addNode(walk, name);
    }
    if (!nodes.empty()) {
        return;
    }
    if (mount.fileSystem == "zfs") {
        addPool(walk, std::string_view(mount.source).substr(0, mount.source.find('/')));
    } else if (mount.fileSystem == "overlay") {
        addOverlay(walk, mount, table);
    } else if (mount.fileSystem == "ecryptfs" || mount.fileSystem == "erofs"
               || mount.fileSystem.starts_with("fuse")) {
        addPath(walk, mount.source, table); // a folder or a file elsewhere
    } else if (mount.fileSystem == "btrfs" && !m_snapshot.memberSets.empty()) {
        // Booted without an initramfs the source is /dev/root, which names nothing: it is one of these.
        for (const auto& members : m_snapshot.memberSets) {
            std::ranges::for_each(members, [&](const std::string& member) { addNode(walk, member); });
        }
    } else {
        walk.found.unknown = true;
    }
}

void StorageStack::addOverlay(Walk& walk, const MountEntry& mount, const MountTable& table) const
{
    // lowerdir=/a:/b,upperdir=/c,workdir=/d; a layer added by fsconfig is lowerdir+=/a (kernel:
    // overlayfs.rst).
    for (auto option : splitWords(mount.superOptions, ",")) {
        const auto equals = option.find('=');
        if (equals == std::string_view::npos) {
            continue;
        }
        constexpr std::array kLayers{"lowerdir", "lowerdir+", "datadir+", "upperdir", "workdir"};
        if (std::ranges::find(kLayers, option.substr(0, equals)) != kLayers.end()) {
            for (const auto path : splitWords(option.substr(equals + 1), ":")) {
                addPath(walk, std::string(path), table);
            }
        }
    }
}

void StorageStack::addPath(Walk& walk, const std::string& path, const MountTable& table) const
{
    for (const auto* mount : mountsHolding(table, path)) {
        addMount(walk, *mount, table);
    }
}

void StorageStack::addPathAnywhere(Walk& walk, const std::string& path) const
{
    auto clean = path;
    if (clean.ends_with(kDeleted)) {
        clean.resize(clean.size() - kDeleted.size());
    }
    if (m_snapshot.ownMounts && !mountsHolding(*m_snapshot.ownMounts, clean).empty()) {
        addPath(walk, clean, *m_snapshot.ownMounts);
    } else if (m_snapshot.initMounts) {
        addPath(walk, clean, *m_snapshot.initMounts);
    }
}

std::vector<std::string> StorageStack::bySpec(std::string_view spec) const
{
    const auto wanted = withoutQuotes(spec);
    std::vector<std::string> found;
    if (wanted.starts_with("/dev/")) {
        const auto link = m_snapshot.links.find(wanted);
        auto direct = wanted.substr(5);
        std::ranges::replace(direct, '/', '!');
        for (const auto& [name, candidate] : m_snapshot.nodes) {
            // /dev/mapper/VG-LV and /dev/VG/LV need not be links known to us where udev doesn't run.
            const bool mapped = !candidate.dmName.empty()
                && (wanted == "/dev/mapper/" + candidate.dmName
                    || (candidate.dmUuid.starts_with("LVM-")
                        && wanted.starts_with("/dev/" + volumeGroupOf(candidate.dmName) + '/')));
            if (name == direct || mapped || (link != m_snapshot.links.end() && link->second == name)) {
                found.push_back(name);
            }
        }
        return found;
    }
    const auto equals = wanted.find('=');
    if (equals == std::string::npos) {
        return found;
    }
    const auto folded = lower(wanted);
    for (const auto& [name, candidate] : m_snapshot.nodes) {
        if (std::ranges::any_of(candidate.tags,
                                [&](const std::string& tag) { return lower(tag) == folded; })) {
            found.push_back(name);
        }
    }
    return found;
}

std::vector<std::string> StorageStack::holdersOf(const BlockNode& of) const
{
    auto holders = of.holders;
    for (const auto& [name, candidate] : m_snapshot.nodes) {
        const bool slave = std::ranges::find(candidate.slaves, of.name) != candidate.slaves.end();
        if ((slave || candidate.backingDevice == of.name)
            && std::ranges::find(holders, name) == holders.end()) {
            holders.push_back(name);
        }
    }
    return holders;
}

std::vector<std::string> StorageStack::above(const std::string& disk) const
{
    std::vector<std::string> all{disk};
    const auto add = [&all](const std::string& name) {
        if (std::ranges::find(all, name) == all.end()) {
            all.push_back(name);
        }
    };
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto current = all[i];
        for (const auto& [name, candidate] : m_snapshot.nodes) {
            if (candidate.disk == current) {
                add(name);
            }
        }
        if (const auto* self = node(current)) {
            std::ranges::for_each(holdersOf(*self), add);
        }
    }
    return all;
}

std::string volumeGroupOf(std::string_view dmName)
{
    std::string group;
    for (std::size_t i = 0; i < dmName.size(); ++i) {
        if (dmName[i] == '-') {
            if (i + 1 >= dmName.size() || dmName[i + 1] != '-') {
                break;
            }
            ++i;
        }
        group += dmName[i];
    }
    return group;
}

} // namespace burin
