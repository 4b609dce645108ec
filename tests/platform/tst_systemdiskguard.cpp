// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fixturetree.h"
#include "platform/systemdiskguard.h"

#include <QTest>

#include <functional>

#include <sys/sysmacros.h>

using namespace burin;

namespace {

/// sda: the internal system disk with / on sda1; sdb: a spare stick with sdb1, not mounted.
void plainMachine(FixtureTree& t)
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
void secondDisk(FixtureTree& t, const std::string& type = "ext4")
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

const char* kindName(ProtectionKind kind)
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
std::string judged(const SystemSnapshot& snapshot)
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

KeptFile image(const std::string& path, unsigned maj, unsigned min)
{
    return {.path = path, .device = makedev(maj, min), .inode = 77, .blockDevice = {}};
}

} // namespace

class TestSystemDiskGuard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void judges_data();
    void judges();
    void takesFstabOfTheMachineInAChroot();
    void judgesByDriveWhereCrypttabIsForbidden();
    void protectsTheLoopThatIsTheImage();

private:
    static void add(const std::vector<Row>& rows);
    static std::vector<Row> plainRows();
    static std::vector<Row> stackRows();
    static std::vector<Row> useRows();
    static std::vector<Row> loopRows();
    static std::vector<Row> imageRows();
    static std::vector<Row> tableRows();
    static std::vector<Row> closedRows();
};

std::vector<Row> TestSystemDiskGuard::plainRows()
{
    return {
        {"plain, spare stick allowed", [](FixtureTree&) {}, "sda:SystemDisk(/) sdb:write"},
        {"stick mounted by the desktop allowed",
         [](FixtureTree& t) { t.mount("8:17 / /media/x/STICK vfat /dev/sdb1"); },
         "sda:SystemDisk(/) sdb:write"},
        {"stick under /run/media and /mnt allowed",
         [](FixtureTree& t) {
             t.mount("8:17 / /run/media/x/STICK vfat /dev/sdb1");
             t.mount("8:17 / /mnt vfat /dev/sdb1");
         },
         "sda:SystemDisk(/) sdb:write"},
        {"whole-disk file system in use", [](FixtureTree& t) { t.mount("8:16 / /srv ext4 /dev/sdb"); },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)"},
        {"second disk with /home",
         [](FixtureTree& t) {
             secondDisk(t);
             t.mount("8:33 / /home ext4 /dev/sdc1");
         },
         "sda:SystemDisk(/) sdb:write sdc:SystemDisk(/home)"},
        {"second disk idle allowed", [](FixtureTree& t) { secondDisk(t); },
         "sda:SystemDisk(/) sdb:write sdc:write"},
        {"home bound from /mnt",
         [](FixtureTree& t) {
             secondDisk(t);
             t.mount("8:33 / /mnt/data ext4 /dev/sdc1");
             t.mount("8:33 /home /home ext4 /dev/sdc1");
         },
         "sda:SystemDisk(/) sdb:write sdc:SystemDisk(/home)"},
        {"write-protected", [](FixtureTree& t) { t.write("/sys/block/sdb/ro", "1\n"); },
         "sda:SystemDisk(/) sdb:WriteProtected()"},
        {"no medium", [](FixtureTree& t) { t.write("/sys/block/sdb/size", "0\n"); },
         "sda:SystemDisk(/) sdb:NoMedium():none"},
        {"network and FUSE have no disk",
         [](FixtureTree& t) {
             t.mount("0:50 / /home/net nfs4 server:/x");
             t.mount("0:51 / /home/smb smb3 //server/x");
             t.mount("0:52 / /run/user/1000/doc fuse.portal portal");
             t.mount("0:53 / /home/me/ssh fuse.sshfs me@host:/");
         },
         "sda:SystemDisk(/) sdb:write"},
        {"ntfs-3g in /srv", [](FixtureTree& t) { t.mount("0:54 / /srv fuse /dev/sdb1"); },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)"},
    };
}

std::vector<Row> TestSystemDiskGuard::stackRows()
{
    return {
        {"LVM",
         [](FixtureTree& t) {
             secondDisk(t, "LVM2_member");
             t.dm("dm-0", "253:0", "LVM-abc", "my--vg-home", {"sdc1"});
             t.mount("253:0 / /home ext4 /dev/mapper/my--vg-home");
         },
         "sda:SystemDisk(/) sdb:write sdc:SystemDisk(/home)+StackInUse(LVM my-vg; vgchange -an my-vg)"},
        {"active LVM without mounts on a stick",
         [](FixtureTree& t) { t.dm("dm-0", "253:0", "LVM-abc", "data-x", {"sdb1"}); },
         "sda:SystemDisk(/) sdb:StackInUse(LVM data; vgchange -an data)"},
        {"LUKS",
         [](FixtureTree& t) {
             secondDisk(t, "crypto_LUKS");
             t.dm("dm-0", "253:0", "CRYPT-LUKS2-abc", "crypt", {"sdc1"});
             t.mount("253:0 / /home ext4 /dev/mapper/crypt");
         },
         "sda:SystemDisk(/) sdb:write sdc:SystemDisk(/home)+StackInUse(LUKS crypt; cryptsetup close crypt)"},
        {"unlocked LUKS stick in /media allowed",
         [](FixtureTree& t) {
             t.dm("dm-0", "253:0", "CRYPT-LUKS2-abc", "luks-1", {"sdb1"});
             t.mount("253:0 / /media/x/secret ext4 /dev/mapper/luks-1");
         },
         "sda:SystemDisk(/) sdb:write"},
        {"unlocked LUKS stick in /home",
         [](FixtureTree& t) {
             t.dm("dm-0", "253:0", "CRYPT-LUKS2-abc", "luks-1", {"sdb1"});
             t.mount("253:0 / /home/x ext4 /dev/mapper/luks-1");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/home/x)"},
        {"LUKS on LVM",
         [](FixtureTree& t) {
             t.dm("dm-0", "253:0", "LVM-abc", "vg-x", {"sdb1"});
             t.dm("dm-1", "253:1", "CRYPT-LUKS1-abc", "inner", {"dm-0"});
             t.mount("253:1 / /srv ext4 /dev/mapper/inner");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)+StackInUse(LVM vg; vgchange -an vg)"},
        {"LVM on LUKS on a stick",
         [](FixtureTree& t) {
             t.dm("dm-0", "253:0", "CRYPT-LUKS2-abc", "outer", {"sdb1"});
             t.dm("dm-1", "253:1", "LVM-abc", "vg-x", {"dm-0"});
         },
         "sda:SystemDisk(/) sdb:StackInUse(LVM vg; vgchange -an vg)"},
        {"md RAID1, both legs",
         [](FixtureTree& t) {
             secondDisk(t, "linux_raid_member");
             t.md("md0", "9:0", {"sdb1", "sdc1"});
             t.mount("9:0 / /srv ext4 /dev/md0");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)+StackInUse(RAID md0; mdadm --stop /dev/md0) "
         "sdc:SystemDisk(/srv)+StackInUse(RAID md0; mdadm --stop /dev/md0)"},
        {"bcache",
         [](FixtureTree& t) {
             t.stack("bcache0", "252:0", {"sdb"});
             t.mount("252:0 / /srv ext4 /dev/bcache0");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)+StackInUse(bcache bcache0)"},
        {"unknown holder", [](FixtureTree& t) { t.hold("sdb1", "drbd0"); },
         "sda:SystemDisk(/) sdb:CannotTell(drbd0)"},
        {"unknown device-mapper", [](FixtureTree& t) { t.dm("dm-0", "253:0", "", "odd", {"sdb"}); },
         "sda:SystemDisk(/) sdb:CannotTell(odd)"},
        {"btrfs on two disks, source names one",
         [](FixtureTree& t) {
             secondDisk(t, "btrfs");
             t.write("/sys/fs/btrfs/uuid/devices/sdb1", "");
             t.write("/sys/fs/btrfs/uuid/devices/sdc1", "");
             t.mount("0:40 /@home /home btrfs /dev/sdc1 subvol=/@home");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/home) sdc:SystemDisk(/home)"},
        {"btrfs root without a name",
         [](FixtureTree& t) {
             t.write("/sys/fs/btrfs/uuid/devices/sdb1", "");
             t.mount("0:40 / /srv btrfs /dev/root");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv)"},
        {"bcachefs on two disks",
         [](FixtureTree& t) {
             secondDisk(t, "bcachefs");
             t.mount("0:40 / /srv bcachefs /dev/sdb1:/dev/sdc1");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(/srv) sdc:SystemDisk(/srv)"},
        {"ZFS, mounted and only imported",
         [](FixtureTree& t) {
             t.disk("sdc", "8:32");
             t.partition("sdc", "sdc1", "8:33", {{"ID_FS_TYPE", "zfs_member"}, {"ID_FS_LABEL", "tank"}});
             t.disk("sdd", "8:48", {{"ID_FS_TYPE", "zfs_member"}, {"ID_FS_LABEL", "other"}});
             t.disk("sde", "8:64", {{"ID_FS_TYPE", "zfs_member"}, {"ID_FS_LABEL", "exported"}});
             t.write("/proc/spl/kstat/zfs/tank/io", "");
             t.write("/proc/spl/kstat/zfs/other/io", "");
             t.write("/proc/spl/kstat/zfs/arcstats", "");
             t.mount("0:41 / /home zfs tank/home");
         },
         "sda:SystemDisk(/) sdb:write sdc:SystemDisk(/home)+StackInUse(ZFS tank; zpool export tank) "
         "sdd:StackInUse(ZFS other; zpool export other) sde:write"},
    };
}

std::vector<Row> TestSystemDiskGuard::useRows()
{
    return {
        {"swap partition only",
         [](FixtureTree& t) { t.write("/proc/swaps", "Filename Type\n/dev/sdb1 partition 1 0 -2\n"); },
         "sda:SystemDisk(/) sdb:SystemDisk(swap)"},
        {"swap on LVM",
         [](FixtureTree& t) {
             t.dm("dm-0", "253:0", "LVM-x", "vg-swap", {"sdb1"});
             t.write("/proc/swaps", "Filename Type\n/dev/dm-0 partition 1 0 -2\n");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(swap)+StackInUse(LVM vg; vgchange -an vg)"},
        {"swap file on a stick in /mnt",
         [](FixtureTree& t) {
             t.mount("8:17 / /mnt/my\\040stick ext4 /dev/sdb1");
             t.write("/proc/swaps", "Filename Type\n/mnt/my\\040stick/swapfile file 1 0 -2\n");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(swap)"},
        {"deleted swap file",
         [](FixtureTree& t) {
             t.mount("8:17 / /mnt ext4 /dev/sdb1");
             t.write("/proc/swaps", "Filename Type\n/mnt/swapfile\\040(deleted) file 1 0 -2\n");
         },
         "sda:SystemDisk(/) sdb:SystemDisk(swap)"},
        {"swap on a device that nobody knows",
         [](FixtureTree& t) { t.write("/proc/swaps", "Filename Type\n/dev/odd partition 1 0 -2\n"); },
         "sda:SystemDisk(/)+CannotTell(/proc/swaps) sdb:CannotTell(/proc/swaps)"},
        {"resume of the kernel", [](FixtureTree& t) { t.write("/sys/power/resume", "8:17\n"); },
         "sda:SystemDisk(/) sdb:SystemDisk(resume)"},
        {"resume on the command line",
         [](FixtureTree& t) { t.write("/proc/cmdline", "quiet resume=UUID=abcd-1234\n"); },
         "sda:SystemDisk(/) sdb:SystemDisk(resume)"},
        {"live USB: iso9660, squashfs loop, overlay",
         [](FixtureTree& t) {
             t.disk("sdb", "8:16");
             t.partition("sdb", "sdb1", "8:17");
             t.disk("sde", "8:64");
             t.loop("loop0", "7:0", "/run/live/medium/live/filesystem.squashfs");
             t.mount("8:17 / /run/live/medium iso9660 /dev/sdb1");
             t.mount("7:0 / /run/live/rootfs squashfs /dev/loop0");
             t.mount("0:30 / / overlay overlay "
                     "lowerdir=/run/live/rootfs,upperdir=/run/live/rw,workdir=/run/live/w");
         },
         "loop0:SystemDisk(/, /run/live/rootfs) sdb:SystemDisk(/, /run/live/medium, /run/live/rootfs) "
         "sde:write",
         false},
        {"live USB of another make",
         [](FixtureTree& t) {
             t.disk("sdb", "8:16");
             t.partition("sdb", "sdb1", "8:17");
             t.loop("loop0", "7:0", "/cdrom/filesystem.squashfs");
             t.mount("8:17 / /cdrom iso9660 /dev/sdb1");
             t.mount("0:30 / / overlay overlay lowerdir=/rofs,upperdir=/cow/u,workdir=/cow/w");
             t.mount("7:0 / /rofs squashfs /dev/loop0");
         },
         "loop0:SystemDisk(/, /rofs) sdb:SystemDisk(/, /rofs, /cdrom)", false},
    };
}

std::vector<Row> TestSystemDiskGuard::loopRows()
{
    return {
        {"system on a loop whose file lies on a stick",
         [](FixtureTree& t) {
             t.mount("8:17 / /mnt ext4 /dev/sdb1");
             t.loop("loop0", "7:0", "/mnt/root.img");
             t.mount("7:0 / /srv ext4 /dev/loop0");
         },
         "loop0:SystemDisk(/srv) sda:SystemDisk(/) sdb:SystemDisk(/srv)"},
        {"loop over a file on the system disk allowed",
         [](FixtureTree& t) { t.loop("loop0", "7:0", "/var/tmp/x.img"); },
         "loop0:write sda:SystemDisk(/) sdb:write"},
        {"loop over a system partition", [](FixtureTree& t) { t.loop("loop0", "7:0", "/dev/sda1"); },
         "loop0:SystemDisk(/) sda:SystemDisk(/) sdb:write"},
        {"loop over a spare stick allowed", [](FixtureTree& t) { t.loop("loop0", "7:0", "/dev/sdb"); },
         "loop0:write sda:SystemDisk(/) sdb:write"},
        {"mounted loop over a stick",
         [](FixtureTree& t) {
             t.loop("loop0", "7:0", "/dev/sdb");
             t.mount("7:0 / /srv ext4 /dev/loop0");
         },
         "loop0:SystemDisk(/srv) sda:SystemDisk(/) sdb:SystemDisk(/srv)"},
        {"two loops over one file",
         [](FixtureTree& t) {
             t.loop("loop0", "7:0", "/var/tmp/x.img");
             t.loop("loop1", "7:1", "/var/tmp/x.img");
             t.loop("loop2", "7:2", "/var/tmp/y.img");
             t.mount("7:1 / /srv ext4 /dev/loop1");
         },
         "loop0:SystemDisk(/srv) loop1:SystemDisk(/srv) loop2:write sda:SystemDisk(/, /srv) sdb:write"},
        {"active LVM on a loop",
         [](FixtureTree& t) {
             t.loop("loop0", "7:0", "/var/tmp/x.img");
             t.dm("dm-0", "253:0", "LVM-x", "vg-x", {"loop0"});
         },
         "loop0:StackInUse(LVM vg; vgchange -an vg) sda:SystemDisk(/) sdb:write"},
        {"overlay in /srv with a layer on a stick in /mnt",
         [](FixtureTree& t) {
             t.mount("8:17 / /mnt/lower ext4 /dev/sdb1");
             t.mount("0:30 / /srv overlay overlay lowerdir=/mnt/lower:/usr,upperdir=/var/u,workdir=/var/w");
         },
         "sda:SystemDisk(/, /srv) sdb:SystemDisk(/srv)"},
    };
}

std::vector<Row> TestSystemDiskGuard::imageRows()
{
    return {
        {"image on the stick",
         [](FixtureTree& t) {
             t.mount("8:17 / /media/x ext4 /dev/sdb1");
             t.keptFiles = {image("/media/x/a.img", 8, 17)};
         },
         "sda:SystemDisk(/) sdb:HoldsImage(/media/x/a.img)"},
        {"image on the system disk, stick allowed",
         [](FixtureTree& t) { t.keptFiles = {image("/home/a.img", 8, 1)}; },
         "sda:SystemDisk(/)+HoldsImage(/home/a.img) sdb:write"},
        {"image on btrfs with an anonymous device",
         [](FixtureTree& t) {
             t.mount("0:40 /sub /media/x btrfs /dev/sdb1 subvol=/sub");
             t.keptFiles = {image("/media/x/a.img", 0, 57)};
         },
         "sda:SystemDisk(/) sdb:HoldsImage(/media/x/a.img)"},
        {"image on FUSE over a disk",
         [](FixtureTree& t) {
             t.mount("0:40 / /media/x fuse.exfat /dev/sdb1");
             t.keptFiles = {image("/media/x/a.img", 0, 40)};
         },
         "sda:SystemDisk(/) sdb:HoldsImage(/media/x/a.img)"},
        {"image on NFS",
         [](FixtureTree& t) {
             t.mount("0:40 / /home/net nfs4 server:/x");
             t.keptFiles = {image("/home/net/a.img", 0, 40)};
         },
         "sda:SystemDisk(/) sdb:write"},
        {"image in a loop whose file is on the stick",
         [](FixtureTree& t) {
             t.mount("8:17 / /media/x ext4 /dev/sdb1");
             t.loop("loop0", "7:0", "/media/x/big.img");
             t.mount("7:0 / /media/y ext4 /dev/loop0");
             t.keptFiles = {image("/media/y/a.img", 7, 0)};
         },
         "loop0:HoldsImage(/media/y/a.img) sda:SystemDisk(/) sdb:HoldsImage(/media/y/a.img)"},
        {"image is a device that sysfs doesn't show",
         [](FixtureTree& t) { t.keptFiles = {image("/odd/a.img", 240, 1)}; },
         "sda:SystemDisk(/)+CannotTell(/odd/a.img) sdb:CannotTell(/odd/a.img)"},
    };
}

std::vector<Row> TestSystemDiskGuard::tableRows()
{
    return {
        {"fstab by UUID, not mounted",
         [](FixtureTree& t) { t.write("/etc/fstab", "UUID=ABCD-1234 /backup vfat nofail 0 2\n"); },
         "sda:SystemDisk(/) sdb:NamedInFstab(/backup)"},
        {"fstab by label, mounted in /mnt",
         [](FixtureTree& t) {
             t.write("/etc/fstab", "LABEL=\"STICK\"\t/mnt/b vfat defaults\n");
             t.mount("8:17 / /mnt/b vfat /dev/sdb1");
         },
         "sda:SystemDisk(/) sdb:NamedInFstab(/mnt/b)"},
        {"fstab by path and by link",
         [](FixtureTree& t) {
             secondDisk(t);
             t.link("/dev/disk/by-id/usb-x", "../../sdb");
             t.write("/etc/fstab", "/dev/disk/by-id/usb-x /a ext4 defaults\n/dev/sdc1 none swap sw\n");
         },
         "sda:SystemDisk(/) sdb:NamedInFstab(/a) sdc:NamedInFstab(swap)"},
        {"fstab noauto allowed",
         [](FixtureTree& t) { t.write("/etc/fstab", "UUID=ABCD-1234 /backup vfat user,noauto 0 2\n"); },
         "sda:SystemDisk(/) sdb:write"},
        {"fstab noauto with automount",
         [](FixtureTree& t) {
             t.write("/etc/fstab", "UUID=ABCD-1234 /backup vfat noauto,x-systemd.automount\n");
         },
         "sda:SystemDisk(/) sdb:NamedInFstab(/backup)"},
        {"fstab comment and absent disk allowed",
         [](FixtureTree& t) {
             t.write("/etc/fstab", "#UUID=ABCD-1234 /backup vfat defaults\nUUID=gone /x ext4 nofail\n");
         },
         "sda:SystemDisk(/) sdb:write"},
        {"fstab names a UUID and one partition can't be looked at",
         [](FixtureTree& t) {
             t.write("/etc/fstab", "UUID=gone /x ext4 nofail\n");
             t.forgetUdev("sdb1");
         },
         "sda:SystemDisk(/) sdb:CannotTell(/etc/fstab)"},
        {"crypttab", [](FixtureTree& t) { t.write("/etc/crypttab", "vault UUID=abcd-1234 none luks\n"); },
         "sda:SystemDisk(/) sdb:NamedInCrypttab(vault)"},
        {"crypttab key on a stick",
         [](FixtureTree& t) { t.write("/etc/crypttab", "vault UUID=root-uuid /key:LABEL=STICK luks\n"); },
         "sda:SystemDisk(/)+NamedInCrypttab(vault) sdb:NamedInCrypttab(vault)"},
        {"crypttab noauto allowed",
         [](FixtureTree& t) { t.write("/etc/crypttab", "vault UUID=abcd-1234 none luks,noauto\n"); },
         "sda:SystemDisk(/) sdb:write"},
    };
}

std::vector<Row> TestSystemDiskGuard::closedRows()
{
    constexpr auto kNoMachine =
        "loop0:write "
        "sda:SystemDisk(/)+CannotTell(/etc/crypttab)+CannotTell(/etc/fstab)+CannotTell(/proc/1/mountinfo) "
        "sdb:CannotTell(/etc/crypttab)+CannotTell(/etc/fstab)+CannotTell(/proc/1/mountinfo)";
    const auto withLoop = [](const std::function<void(FixtureTree&)>& change) {
        return [change](FixtureTree& t) {
            t.loop("loop0", "7:0", "/var/tmp/x.img");
            change(t);
        };
    };
    return {
        {"pid 1's mounts unreadable", withLoop([](FixtureTree& t) { t.write("/proc/1/mountinfo/x", ""); }),
         kNoMachine},
        {"pid 1's mounts without /", withLoop([](FixtureTree& t) {
             t.write("/proc/1/mountinfo", "1 1 0:20 / /proc rw - proc proc rw\n");
         }),
         kNoMachine},
        {"a line of mountinfo that isn't understood", withLoop([](FixtureTree& t) {
             t.write("/proc/1/mountinfo", "1 1 8:1 / / rw - ext4 /dev/sda1 rw\nodd\n");
         }),
         kNoMachine},
        {"container", withLoop([](FixtureTree& t) { t.link("/proc/self/ns/pid", "pid:[4026532999]"); }),
         "loop0:write sda:SystemDisk(/)+CannotTell(/proc/self/ns/pid) sdb:CannotTell(/proc/self/ns/pid)"},
        {"swaps unreadable", withLoop([](FixtureTree& t) {
             t.remove("/proc/swaps");
             t.write("/proc/swaps/x", "");
         }),
         "loop0:write sda:SystemDisk(/)+CannotTell(/proc/swaps) sdb:CannotTell(/proc/swaps)"},
        {"crypttab unreadable", withLoop([](FixtureTree& t) { t.write("/etc/crypttab/x", ""); }),
         "loop0:write sda:SystemDisk(/)+CannotTell(/etc/crypttab) sdb:CannotTell(/etc/crypttab)"},
        {"no sysfs", [](FixtureTree& t) { t.remove("/sys/block"); }, ""},
        {"a system mount on a device that sysfs doesn't show",
         withLoop([](FixtureTree& t) { t.mount("240:1 / /odd ext4 /dev/odd"); }),
         "loop0:write sda:SystemDisk(/)+CannotTell(/odd) sdb:CannotTell(/odd)"},
        {"a btrfs whose devices are nowhere",
         withLoop([](FixtureTree& t) { t.mount("0:77 / /odd btrfs /dev/odd"); }),
         "loop0:write sda:SystemDisk(/)+CannotTell(/odd) sdb:CannotTell(/odd)"},
        {"root is an overlay whose layers are hidden",
         [](FixtureTree& t) {
             t.disk("sdb", "8:16");
             t.mount("0:30 / / overlay overlay lowerdir=/rofs,upperdir=/cow/u,workdir=/cow/w");
         },
         "sdb:CannotTell(/)", false},
        {"loop over a spare stick is judged like the stick",
         [](FixtureTree& t) {
             t.loop("loop0", "7:0", "/dev/sdb");
             t.link("/proc/self/ns/pid", "pid:[4026532999]");
         },
         "loop0:CannotTell(/proc/self/ns/pid) sda:SystemDisk(/)+CannotTell(/proc/self/ns/pid) "
         "sdb:CannotTell(/proc/self/ns/pid)"},
    };
}

void TestSystemDiskGuard::add(const std::vector<Row>& rows)
{
    for (const auto& row : rows) {
        QTest::newRow(row.name) << row;
    }
}

Q_DECLARE_METATYPE(Row)

void TestSystemDiskGuard::judges_data()
{
    QTest::addColumn<Row>("row");
    add(plainRows());
    add(stackRows());
    add(useRows());
    add(loopRows());
    add(imageRows());
    add(tableRows());
    add(closedRows());
}

void TestSystemDiskGuard::judges()
{
    QFETCH(Row, row);
    FixtureTree tree;
    if (row.plain) {
        plainMachine(tree);
    }
    row.change(tree);
    QCOMPARE(judged(tree.snapshot()), std::string(row.expected));
}

namespace {

/// Burin in a chroot on the system disk; the machine has a second disk on /srv and a stick in /media.
void chrootMachine(FixtureTree& t)
{
    t.disk("sda", "8:0");
    t.partition("sda", "sda1", "8:1", {{"ID_FS_TYPE", "ext4"}});
    t.disk("sdb", "8:16");
    t.partition("sdb", "sdb1", "8:17", {{"ID_FS_TYPE", "vfat"}, {"ID_FS_UUID", "ABCD-1234"}});
    t.disk("sdc", "8:32");
    t.partition("sdc", "sdc1", "8:33", {{"ID_FS_TYPE", "ext4"}});
    t.mountInit("8:1 / / ext4 /dev/sda1");
    t.mountInit("8:33 / /srv ext4 /dev/sdc1");
    t.mountInit("8:17 / /media/x ext4 /dev/sdb1");
    t.mountOwn("8:1 /tmp /tmp ext4 /dev/sda1");
}

} // namespace

void TestSystemDiskGuard::takesFstabOfTheMachineInAChroot()
{
    {
        FixtureTree t;
        chrootMachine(t);
        t.write("/etc/fstab", ""); // the chroot's own: says nothing of the machine
        QCOMPARE(judged(t.snapshot()),
                 std::string("sda:SystemDisk(/, /tmp)+CannotTell(/etc/crypttab)+CannotTell(/etc/fstab) "
                             "sdb:CannotTell(/etc/crypttab)+CannotTell(/etc/fstab) "
                             "sdc:SystemDisk(/srv)+CannotTell(/etc/crypttab)+CannotTell(/etc/fstab)"));
    }
    {
        FixtureTree t;
        chrootMachine(t);
        t.mountOwn("8:1 /etc/fstab /etc/fstab ext4 /dev/sda1"); // as packaging/enter-root binds it
        t.mountOwn("8:17 / /root/.cache/burin/trixie/media/x ext4 /dev/sdb1"); // and what it shows twice
        QCOMPARE(judged(t.snapshot()),
                 std::string("sda:SystemDisk(/, /tmp, /etc/fstab) sdb:write sdc:SystemDisk(/srv)"));
    }
    {
        FixtureTree t;
        chrootMachine(t);
        t.write("/proc/1/root/etc/fstab", "UUID=ABCD-1234 /backup vfat nofail\n");
        QCOMPARE(judged(t.snapshot()),
                 std::string("sda:SystemDisk(/, /tmp) sdb:NamedInFstab(/backup) sdc:SystemDisk(/srv)"));
    }
}

void TestSystemDiskGuard::judgesByDriveWhereCrypttabIsForbidden()
{
    FixtureTree t;
    plainMachine(t);
    secondDisk(t, "crypto_LUKS");
    t.disk("sdd", "8:48");
    t.disk("sde", "8:64");
    auto snapshot = t.snapshot();
    snapshot.crypttab.reset();
    snapshot.crypttabForbidden = true;
    // sda carries no signature of its own, as no partitioned disk does; it is protected anyhow.
    QCOMPARE(judged(snapshot),
             std::string("sda:SystemDisk(/)+CannotTell(/etc/crypttab) sdb:write "
                         "sdc:CannotTell(/etc/crypttab) sdd:CannotTell(/etc/crypttab) sde:write"));
}

void TestSystemDiskGuard::protectsTheLoopThatIsTheImage()
{
    FixtureTree t;
    plainMachine(t);
    t.loop("loop0", "7:0", "/home/a.img");
    auto snapshot = t.snapshot();
    snapshot.nodes.at("loop0").backingInode = {makedev(8, 1), 77};
    snapshot.keptFiles = {image("/home/a.img", 8, 1)};
    QVERIFY(judged(snapshot).starts_with("loop0:HoldsImage(/home/a.img) "));
}

QTEST_APPLESS_MAIN(TestSystemDiskGuard)
#include "tst_systemdiskguard.moc"
