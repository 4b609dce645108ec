// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "systemuses.h"

#include "sysfile.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace burin {

namespace {

class Collector
{
public:
    Collector(const SystemSnapshot& snapshot, const StorageStack& stack)
        : m_snapshot(snapshot), m_stack(stack)
    {
    }
    void collect();
    [[nodiscard]] SystemUses take() { return std::move(m_found); }

private:
    void collectMounts(const MountTable& table, const MountTable* machine);
    void collectSwaps();
    void collectResume();
    void collectFstab();
    void collectCrypttab();
    void note(const Backing& backing, std::set<std::string> NodeUses::* kind, const std::string& detail);
    void cannotTell(const std::string& source) { m_found.untold.insert(source); }

    const SystemSnapshot& m_snapshot;
    const StorageStack& m_stack;
    SystemUses m_found;
};

void Collector::collect()
{
    if (!m_snapshot.initialPidNamespace) {
        cannotTell("/proc/self/ns/pid");
    }
    if (!m_snapshot.graphRead) {
        cannotTell("/sys/block");
    }
    const auto* init = m_snapshot.initMounts ? &*m_snapshot.initMounts : nullptr;
    if (init == nullptr || std::ranges::none_of(init->entries, [](const MountEntry& entry) {
            return entry.mountPoint == "/";
        })) {
        cannotTell("/proc/1/mountinfo");
    }
    if (init != nullptr) {
        collectMounts(*init, nullptr);
    }
    if (!m_snapshot.ownMounts) {
        cannotTell("/proc/self/mountinfo");
    } else {
        const bool otherRoot = init != nullptr && !sharesRootWithInit(*m_snapshot.ownMounts, *init);
        collectMounts(*m_snapshot.ownMounts, otherRoot ? init : nullptr);
    }
    // An overlay on / whose layers were mounted in the initramfs leads nowhere. Some other mount shows the
    // live medium then; if none does, it may be any drive.
    const bool rootOnDisk =
        init != nullptr && std::ranges::any_of(init->entries, [](const MountEntry& entry) {
            return entry.mountPoint == "/" && mayHaveDisk(entry);
        });
    if (rootOnDisk
        && std::ranges::all_of(m_found.nodes, [](const auto& item) { return item.second.system.empty(); })) {
        cannotTell("/");
    }
    collectSwaps();
    collectResume();
    collectFstab();
    collectCrypttab();
    for (const auto& file : m_snapshot.keptFiles) {
        note(m_stack.underFile(file), &NodeUses::image, file.path);
        for (const auto& [name, node] : m_snapshot.nodes) {
            // The image is itself attached: writing that loop writes the image.
            if (node.backingInode == std::pair(file.device, file.inode)) {
                m_found.nodes[name].image.insert(file.path);
            }
        }
    }
}

void Collector::collectMounts(const MountTable& table, const MountTable* machine)
{
    for (const auto& mount : table.entries) {
        if (isRemovableFolder(mount.mountPoint) || !mayHaveDisk(mount)
            || (machine != nullptr && isCopyOfRemovable(mount, *machine))) {
            continue;
        }
        note(m_stack.underMount(mount, table), &NodeUses::system, mount.mountPoint);
    }
}

void Collector::collectSwaps()
{
    if (!m_snapshot.swaps) {
        cannotTell("/proc/swaps");
        return;
    }
    const auto lines = splitLines(*m_snapshot.swaps);
    for (std::size_t i = 1; i < lines.size(); ++i) { // the first is a heading
        const auto words = splitWords(lines[i]);
        if (words.size() < 2) {
            cannotTell("/proc/swaps");
            continue;
        }
        const auto path = decodeOctal(words[0]);
        if (words[1] == "partition") {
            const auto nodes = m_stack.bySpec(path);
            if (nodes.empty()) {
                cannotTell("/proc/swaps");
            }
            std::ranges::for_each(
                nodes, [&](const auto& name) { note(m_stack.underNode(name), &NodeUses::system, "swap"); });
            continue;
        }
        const auto backing = m_stack.underPath(path);
        note(backing, &NodeUses::system, "swap");
        if (backing.nodes.empty()) {
            cannotTell("/proc/swaps");
        }
    }
}

void Collector::collectResume()
{
    const auto note8 = [this](const std::string& name) {
        note(m_stack.underNode(name), &NodeUses::system, "resume");
    };
    if (const auto devno = parseDevnoText(m_snapshot.resumeDevice)) {
        if (const auto* node = m_stack.nodeOf(*devno)) {
            note8(node->name);
        }
    }
    if (!m_snapshot.commandLine) {
        cannotTell("/proc/cmdline");
        return;
    }
    for (const auto word : splitWords(*m_snapshot.commandLine, " \t\n")) {
        if (!word.starts_with("resume=")) {
            continue;
        }
        const auto value = word.substr(7);
        std::ranges::for_each(m_stack.bySpec(value), note8);
        if (const auto devno = parseDevnoText(value)) {
            if (const auto* node = m_stack.nodeOf(*devno)) {
                note8(node->name);
            }
        }
    }
}

bool hasOption(std::string_view options, std::string_view wanted)
{
    const auto all = splitWords(options, ",");
    return std::ranges::find(all, wanted) != all.end();
}

bool isTag(std::string_view spec)
{
    constexpr std::array kKeys{"UUID=", "LABEL=", "PARTUUID=", "PARTLABEL="};
    return std::ranges::any_of(kKeys, [&](const char* key) { return spec.starts_with(key); });
}

void Collector::collectFstab()
{
    if (!m_snapshot.fstab) {
        cannotTell("/etc/fstab");
        return;
    }
    for (const auto line : splitLines(*m_snapshot.fstab)) {
        const auto words = splitWords(line);
        if (words.size() < 3 || words[0].starts_with('#')) {
            continue;
        }
        const auto options = words.size() > 3 ? words[3] : std::string_view();
        // noauto with x-systemd.automount is mounted at the first access all the same (systemd.mount(5)).
        if (hasOption(options, "noauto") && !hasOption(options, "x-systemd.automount")) {
            continue;
        }
        const auto spec = decodeOctal(words[0]);
        const auto detail = words[2] == "swap" ? std::string("swap") : decodeOctal(words[1]);
        const auto nodes = m_stack.bySpec(spec);
        std::ranges::for_each(
            nodes, [&](const auto& name) { note(m_stack.underNode(name), &NodeUses::fstab, detail); });
        m_found.unresolvedTag |= nodes.empty() && isTag(spec);
        const bool isFile = spec.starts_with('/') && !spec.starts_with("/dev/") && !spec.starts_with("//");
        if (isFile && !hasOption(options, "bind") && !hasOption(options, "rbind")) {
            note(m_stack.underPath(spec), &NodeUses::fstab, detail);
        }
    }
}

void Collector::collectCrypttab()
{
    if (!m_snapshot.crypttab) {
        // Forbidden is judged per drive: it can name only what is, or may be, encrypted.
        if (!m_snapshot.crypttabForbidden) {
            cannotTell("/etc/crypttab");
        }
        return;
    }
    for (const auto line : splitLines(*m_snapshot.crypttab)) {
        const auto words = splitWords(line);
        if (words.size() < 2 || words[0].starts_with('#')
            || (words.size() > 3 && hasOption(words[3], "noauto"))) {
            continue;
        }
        std::vector<std::string_view> specs{words[1]};
        // The key may lie on a device of its own: /keyfile:UUID=... (crypttab(5)).
        if (words.size() > 2 && words[2].contains(':')) {
            specs.push_back(words[2].substr(words[2].rfind(':') + 1));
        }
        for (const auto spec : specs) {
            const auto nodes = m_stack.bySpec(spec);
            m_found.unresolvedTag |= nodes.empty() && isTag(spec);
            std::ranges::for_each(nodes, [&](const auto& name) {
                note(m_stack.underNode(name), &NodeUses::crypttab, std::string(words[0]));
            });
        }
    }
}

void Collector::note(const Backing& backing, std::set<std::string> NodeUses::* kind,
                     const std::string& detail)
{
    for (const auto& name : backing.nodes) {
        (m_found.nodes[name].*kind).insert(detail);
    }
    if (backing.unknown) {
        cannotTell(detail);
    }
}

} // namespace

SystemUses collectSystemUses(const SystemSnapshot& snapshot, const StorageStack& stack)
{
    Collector collector(snapshot, stack);
    collector.collect();
    return collector.take();
}

bool isCopyOfRemovable(const MountEntry& own, const MountTable& init)
{
    return std::ranges::any_of(init.entries,
                               [&](const MountEntry& machine) {
                                   return machine.devno == own.devno && machine.root == own.root
                                       && isRemovableFolder(machine.mountPoint)
                                       && own.mountPoint.ends_with(machine.mountPoint);
                               })
        && std::ranges::none_of(init.entries, [&](const MountEntry& machine) {
               return machine.devno == own.devno && !isRemovableFolder(machine.mountPoint);
           });
}

} // namespace burin
