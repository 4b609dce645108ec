// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "systemdiskguard.h"

#include "storagestack.h"
#include "sysfile.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

namespace burin {

namespace {

constexpr std::size_t kNamedMounts = 4;

/// What holds a device, as far as Burin knows it.
struct Holder {
    ProtectionKind kind = ProtectionKind::StackInUse;
    bool lockable = false; ///< an encrypted volume: may be unmounted and locked on an external drive
    std::string detail;
    std::string release;
};

Holder describeDm(const BlockNode& node)
{
    using enum ProtectionKind;
    // UUID prefixes: LVM2 lib/dev_manager, cryptsetup lib/utils_dm.h (CRYPT-TYPE-...), multipath-tools.
    if (node.dmUuid.starts_with("LVM-")) {
        const auto group = volumeGroupOf(node.dmName);
        return {.kind = StackInUse,
                .lockable = false,
                .detail = "LVM " + group,
                .release = "vgchange -an " + group};
    }
    constexpr std::array kEncrypted{"CRYPT-LUKS", "CRYPT-PLAIN", "CRYPT-TCRYPT", "CRYPT-BITLK",
                                    "CRYPT-FVAULT2"};
    if (std::ranges::any_of(kEncrypted,
                            [&](const char* prefix) { return node.dmUuid.starts_with(prefix); })) {
        return {.kind = StackInUse,
                .lockable = true,
                .detail = "LUKS " + node.dmName,
                .release = "cryptsetup close " + node.dmName};
    }
    if (node.dmUuid.starts_with("mpath-")) {
        return {.kind = StackInUse,
                .lockable = false,
                .detail = "multipath " + node.dmName,
                .release = "multipath -f " + node.dmName};
    }
    return {.kind = CannotTell,
            .lockable = false,
            .detail = node.dmName.empty() ? node.name : node.dmName,
            .release = {}};
}

Holder describeHolder(const std::string& name, const BlockNode* node)
{
    using enum ProtectionKind;
    if (node == nullptr) {
        return {.kind = CannotTell, .lockable = false, .detail = name, .release = {}};
    }
    if (node->isMd) {
        return {.kind = StackInUse,
                .lockable = false,
                .detail = "RAID " + name,
                .release = "mdadm --stop /dev/" + name};
    }
    if (node->isBcache) {
        return {.kind = StackInUse, .lockable = false, .detail = "bcache " + name, .release = {}};
    }
    if (!node->dmUuid.empty() || !node->dmName.empty()) {
        return describeDm(*node);
    }
    return {.kind = CannotTell, .lockable = false, .detail = name, .release = {}};
}

class Guard
{
public:
    explicit Guard(const SystemSnapshot& snapshot) : m_snapshot(snapshot), m_stack(snapshot) { }
    std::map<std::string, Judgement> judge(const std::vector<GuardSubject>& subjects);

private:
    using Kind = ProtectionKind;
    struct Uses {
        std::set<std::string> system; ///< mount points, "swap", "resume"
        std::set<std::string> image, fstab, crypttab;
    };

    void collect();
    void collectMounts(const MountTable& table, const MountTable* machine);
    void collectSwaps();
    void collectResume();
    void collectFstab();
    void collectCrypttab();
    void note(const Backing& backing, std::set<std::string> Uses::* kind, const std::string& detail);
    void cannotTell(const std::string& source) { m_untold.insert(source); }

    void addUses(std::vector<Protection>& to, const std::string& name) const;
    void addStack(std::vector<Protection>& to, const GuardSubject& subject) const;
    void addPools(std::vector<Protection>& to, const GuardSubject& subject) const;
    void addUnreadable(std::vector<Protection>& to, const GuardSubject& subject) const;
    std::vector<Protection> protectionsOf(const GuardSubject& subject) const;

    const SystemSnapshot& m_snapshot;
    StorageStack m_stack;
    std::map<std::string, Uses> m_uses; ///< by node
    std::set<std::string> m_untold;     ///< why no real drive can be judged
    bool m_unresolvedTag = false;       ///< fstab or crypttab name a device that no known tag fits
};

void addOnce(std::vector<Protection>& to, Protection protection)
{
    if (std::ranges::find(to, protection) == to.end()) {
        to.push_back(std::move(protection));
    }
}

void Guard::note(const Backing& backing, std::set<std::string> Uses::* kind, const std::string& detail)
{
    for (const auto& name : backing.nodes) {
        (m_uses[name].*kind).insert(detail);
    }
    if (backing.unknown) {
        cannotTell(detail);
    }
}

void Guard::collect()
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
        && std::ranges::all_of(m_uses, [](const auto& item) { return item.second.system.empty(); })) {
        cannotTell("/");
    }
    collectSwaps();
    collectResume();
    collectFstab();
    collectCrypttab();
    for (const auto& file : m_snapshot.keptFiles) {
        note(m_stack.underFile(file), &Uses::image, file.path);
        for (const auto& [name, node] : m_snapshot.nodes) {
            // The image is itself attached: writing that loop writes the image.
            if (node.backingInode == std::pair(file.device, file.inode)) {
                m_uses[name].image.insert(file.path);
            }
        }
    }
}

void Guard::collectMounts(const MountTable& table, const MountTable* machine)
{
    for (const auto& mount : table.entries) {
        if (isRemovableFolder(mount.mountPoint) || !mayHaveDisk(mount)
            || (machine != nullptr && isCopyOfRemovable(mount, *machine))) {
            continue;
        }
        note(m_stack.underMount(mount, table), &Uses::system, mount.mountPoint);
    }
}

void Guard::collectSwaps()
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
                nodes, [&](const auto& name) { note(m_stack.underNode(name), &Uses::system, "swap"); });
            continue;
        }
        const auto backing = m_stack.underPath(path);
        note(backing, &Uses::system, "swap");
        if (backing.nodes.empty()) {
            cannotTell("/proc/swaps");
        }
    }
}

void Guard::collectResume()
{
    const auto note8 = [this](const std::string& name) {
        note(m_stack.underNode(name), &Uses::system, "resume");
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

void Guard::collectFstab()
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
        std::ranges::for_each(nodes,
                              [&](const auto& name) { note(m_stack.underNode(name), &Uses::fstab, detail); });
        m_unresolvedTag |= nodes.empty() && isTag(spec);
        const bool isFile = spec.starts_with('/') && !spec.starts_with("/dev/") && !spec.starts_with("//");
        if (isFile && !hasOption(options, "bind") && !hasOption(options, "rbind")) {
            note(m_stack.underPath(spec), &Uses::fstab, detail);
        }
    }
}

void Guard::collectCrypttab()
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
            m_unresolvedTag |= nodes.empty() && isTag(spec);
            std::ranges::for_each(nodes, [&](const auto& name) {
                note(m_stack.underNode(name), &Uses::crypttab, std::string(words[0]));
            });
        }
    }
}

std::string joined(const std::set<std::string>& details)
{
    std::vector<std::string> sorted(details.begin(), details.end());
    std::ranges::stable_sort(sorted, {}, &std::string::size);
    sorted.resize(std::min(sorted.size(), kNamedMounts));
    std::string text;
    for (const auto& detail : sorted) {
        text += (text.empty() ? "" : ", ") + detail;
    }
    return text;
}

void Guard::addUses(std::vector<Protection>& to, const std::string& name) const
{
    const auto found = m_uses.find(name);
    if (found == m_uses.end()) {
        return;
    }
    const auto add = [&to](Kind kind, const std::set<std::string>& details) {
        if (!details.empty()) {
            addOnce(to, {.kind = kind, .detail = joined(details), .release = {}});
        }
    };
    add(Kind::SystemDisk, found->second.system);
    add(Kind::HoldsImage, found->second.image);
    add(Kind::NamedInFstab, found->second.fstab);
    add(Kind::NamedInCrypttab, found->second.crypttab);
}

void Guard::addStack(std::vector<Protection>& to, const GuardSubject& subject) const
{
    for (const auto& name : m_stack.above(subject.name)) {
        const auto* node = m_stack.node(name);
        const bool partition = node != nullptr && (node->name == subject.name || !node->disk.empty());
        const bool loop = node != nullptr && node->isLoop;
        if (partition || loop) {
            continue; // what is mounted from a loop over the drive counts as a use of the drive
        }
        auto holder = describeHolder(name, node);
        if (!(holder.lockable && subject.external)) {
            addOnce(to,
                    {.kind = holder.kind,
                     .detail = std::move(holder.detail),
                     .release = std::move(holder.release)});
        }
    }
}

void Guard::addPools(std::vector<Protection>& to, const GuardSubject& subject) const
{
    for (const auto& pool : m_snapshot.zfsPools) {
        for (const auto& name : m_stack.above(subject.name)) {
            const auto* node = m_stack.node(name);
            if (node != nullptr && node->fsType == "zfs_member"
                && (node->label == pool || node->label.empty())) {
                addOnce(
                    to,
                    {.kind = Kind::StackInUse, .detail = "ZFS " + pool, .release = "zpool export " + pool});
            } else if (node != nullptr && !node->fsType && !subject.loop) {
                addOnce(to, {.kind = Kind::CannotTell, .detail = "ZFS " + pool, .release = {}});
            }
        }
    }
}

void Guard::addUnreadable(std::vector<Protection>& to, const GuardSubject& subject) const
{
    if (subject.loop) {
        return;
    }
    for (const auto& reason : m_untold) {
        addOnce(to, {.kind = Kind::CannotTell, .detail = reason, .release = {}});
    }
    for (const auto& name : m_stack.above(subject.name)) {
        const auto* node = m_stack.node(name);
        if (node == nullptr) {
            continue;
        }
        if (m_unresolvedTag && !node->fsType) {
            addOnce(to, {.kind = Kind::CannotTell, .detail = "/etc/fstab", .release = {}});
        }
        // crypttab names LUKS and BitLocker volumes, and plain ones, which look like nothing at all.
        const bool encrypted = !node->fsType || node->fsType == "crypto_LUKS" || node->fsType == "BitLocker";
        const bool maybePlain = node->fsType == "" && !subject.external;
        if (m_snapshot.crypttabForbidden && (encrypted || maybePlain)) {
            addOnce(to, {.kind = Kind::CannotTell, .detail = "/etc/crypttab", .release = {}});
        }
    }
}

std::vector<Protection> Guard::protectionsOf(const GuardSubject& subject) const
{
    std::vector<Protection> found;
    const auto* node = m_stack.node(subject.name);
    if (node == nullptr) {
        return {{.kind = Kind::CannotTell, .detail = "/sys/block/" + subject.name, .release = {}}};
    }
    addUses(found, subject.name);
    addStack(found, subject);
    addPools(found, subject);
    addUnreadable(found, subject);
    if (node->isLoop && !node->backingDevice.empty()) {
        // Writing this loop writes the disks under that device, so it is judged like each of them.
        for (const auto& under : m_stack.underNode(node->backingDevice).nodes) {
            const auto* lower = m_stack.node(under);
            if (lower != nullptr && lower->disk.empty() && under != subject.name) {
                const bool loop = lower->isLoop;
                addUses(found, under);
                addStack(found, {.name = under, .external = subject.external, .loop = loop});
                addUnreadable(found, {.name = under, .external = subject.external, .loop = loop});
            }
        }
    }
    if (node->readOnly) {
        addOnce(found, {.kind = Kind::WriteProtected, .detail = {}, .release = {}});
    }
    if (node->size == 0) {
        addOnce(found, {.kind = Kind::NoMedium, .detail = {}, .release = {}});
    }
    return found;
}

std::map<std::string, Judgement> Guard::judge(const std::vector<GuardSubject>& subjects)
{
    collect();
    std::map<std::string, Judgement> judgements;
    for (const auto& subject : subjects) {
        auto protections = protectionsOf(subject);
        const auto access = accessUnder(protections);
        judgements.emplace(subject.name, Judgement{.access = access, .protections = std::move(protections)});
    }
    return judgements;
}

} // namespace

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

Access accessUnder(const std::vector<Protection>& protections)
{
    auto access = Access::Write;
    for (const auto& protection : protections) {
        access =
            std::min(access, protection.kind == ProtectionKind::NoMedium ? Access::None : Access::ReadOnly);
    }
    return access;
}

std::map<std::string, Judgement> judgeDrives(const SystemSnapshot& snapshot,
                                             const std::vector<GuardSubject>& subjects)
{
    return Guard(snapshot).judge(subjects);
}

} // namespace burin
