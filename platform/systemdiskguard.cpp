// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "systemdiskguard.h"

#include "storagestack.h"
#include "systemuses.h"

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
    // The uses are asked for here, so that a guard that knows of none can't come to be by omission.
    Guard(const SystemSnapshot& snapshot, const StorageStack& stack, const SystemUses& uses)
        : m_snapshot(snapshot), m_stack(stack), m_uses(uses)
    {
    }
    [[nodiscard]] std::map<std::string, Judgement> judge(const std::vector<GuardSubject>& subjects) const;

private:
    using Kind = ProtectionKind;
    void addUses(std::vector<Protection>& to, const std::string& name) const;
    void addStack(std::vector<Protection>& to, const GuardSubject& subject) const;
    void addPools(std::vector<Protection>& to, const GuardSubject& subject) const;
    void addUnreadable(std::vector<Protection>& to, const GuardSubject& subject) const;
    std::vector<Protection> protectionsOf(const GuardSubject& subject) const;

    const SystemSnapshot& m_snapshot;
    const StorageStack& m_stack;
    const SystemUses& m_uses;
};

void addOnce(std::vector<Protection>& to, Protection protection)
{
    if (std::ranges::find(to, protection) == to.end()) {
        to.push_back(std::move(protection));
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
    const auto found = m_uses.nodes.find(name);
    if (found == m_uses.nodes.end()) {
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
    for (const auto& reason : m_uses.untold) {
        addOnce(to, {.kind = Kind::CannotTell, .detail = reason, .release = {}});
    }
    for (const auto& name : m_stack.above(subject.name)) {
        const auto* node = m_stack.node(name);
        if (node == nullptr) {
            continue;
        }
        if (m_uses.unresolvedTag && !node->fsType) {
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

std::map<std::string, Judgement> Guard::judge(const std::vector<GuardSubject>& subjects) const
{
    std::map<std::string, Judgement> judgements;
    for (const auto& subject : subjects) {
        auto protections = protectionsOf(subject);
        const auto access = accessUnder(protections);
        judgements.emplace(subject.name, Judgement{.access = access, .protections = std::move(protections)});
    }
    return judgements;
}

} // namespace

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
    const StorageStack stack(snapshot);
    return Guard(snapshot, stack, collectSystemUses(snapshot, stack)).judge(subjects);
}

} // namespace burin
