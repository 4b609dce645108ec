// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "fixturetree.h"
#include "platform/systemdiskguard.h"

#include <QTest>

#include <functional>

#include <sys/sysmacros.h>

namespace burin {

/// sda: the internal system disk with / on sda1; sdb: a spare stick with sdb1, not mounted.
inline void plainMachine(FixtureTree& t)
{
    t.disk("sda", "8:0");
    t.partition("sda", "sda1", "8:1", {{"ID_FS_TYPE", "ext4"}, {"ID_FS_UUID", "root-uuid"}});
    t.disk("sdb", "8:16");
    t.partition("sdb", "sdb1", "8:17",
                {{"ID_FS_TYPE", "vfat"}, {"ID_FS_UUID", "ABCD-1234"}, {"ID_FS_LABEL", "STICK"}});
    t.mount("0:20 / /proc proc proc");
    t.mount("8:1 / / ext4 /dev/sda1");
}

/// A second internal disk whose partition is not in use.
inline void secondDisk(FixtureTree& t, const std::string& type = "ext4")
{
    t.disk("sdc", "8:32");
    t.partition("sdc", "sdc1", "8:33", {{"ID_FS_TYPE", type}, {"ID_FS_UUID", "data-uuid"}});
}

struct Row {
    const char* name;
    std::function<void(FixtureTree&)> change;
    const char* expected; ///< "sda:SystemDisk(/) sdb:write"
    bool plain = true;    ///< starts with plainMachine()
};

inline const char* kindName(ProtectionKind kind)
{
    using enum ProtectionKind;
    switch (kind) {
    case SystemDisk:
        return "SystemDisk";
    case HoldsImage:
        return "HoldsImage";
    case WriteProtected:
        return "WriteProtected";
    case StackInUse:
        return "StackInUse";
    case NamedInFstab:
        return "NamedInFstab";
    case NamedInCrypttab:
        return "NamedInCrypttab";
    case CannotTell:
        return "CannotTell";
    case NoMedium:
        return "NoMedium";
    }
    return "";
}

/// sda is internal, sdb and sde are sticks, other disks are internal.
inline std::string judged(const SystemSnapshot& snapshot)
{
    std::vector<GuardSubject> subjects;
    for (const auto& [name, node] : snapshot.nodes) {
        if (node.disk.empty() && (name.starts_with("sd") || node.isLoop)) {
            subjects.push_back(
                {.name = name, .external = name == "sdb" || name == "sde", .loop = node.isLoop});
        }
    }
    std::string text;
    for (const auto& [name, judgement] : judgeDrives(snapshot, subjects)) {
        text += text.empty() ? "" : " ";
        text += name + ':';
        if (judgement.access == Access::Write) {
            text += "write";
        }
        const char* separator = "";
        for (const auto& protection : judgement.protections) {
            text += separator;
            text += kindName(protection.kind);
            text +=
                '(' + protection.detail + (protection.release.empty() ? "" : "; " + protection.release) + ')';
            separator = "+";
        }
        text += judgement.access == Access::None ? ":none" : "";
    }
    return text;
}

inline KeptFile image(const std::string& path, unsigned maj, unsigned min)
{
    return {.path = path, .device = makedev(maj, min), .inode = 77, .blockDevice = {}};
}

inline void addRows(const std::vector<Row>& rows)
{
    for (const auto& row : rows) {
        QTest::newRow(row.name) << row;
    }
}

inline void judgeRow(const Row& row)
{
    FixtureTree tree;
    if (row.plain) {
        plainMachine(tree);
    }
    row.change(tree);
    QCOMPARE(judged(tree.snapshot()), std::string(row.expected));
}

} // namespace burin

Q_DECLARE_METATYPE(burin::Row)
