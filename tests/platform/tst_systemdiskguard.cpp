// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "guardtable.h"

using namespace burin;

class TestSystemDiskGuard : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void judges_data();
    void judges();

private:
    static std::vector<Row> plainRows();
    static std::vector<Row> stackRows();
    static std::vector<Row> poolRows();
    static std::vector<Row> loopRows();
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
    };
}

std::vector<Row> TestSystemDiskGuard::poolRows()
{
    return {
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
        {"fstab names one leg of a btrfs on two disks",
         [](FixtureTree& t) {
             secondDisk(t, "btrfs");
             t.write("/sys/fs/btrfs/uuid/devices/sdb1", "");
             t.write("/sys/fs/btrfs/uuid/devices/sdc1", "");
             t.mount("0:40 / /mnt btrfs /dev/sdc1");
             t.write("/etc/fstab", "/dev/sdc1 /mnt btrfs defaults\n");
         },
         "sda:SystemDisk(/) sdb:NamedInFstab(/mnt) sdc:NamedInFstab(/mnt)"},
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

void TestSystemDiskGuard::judges_data()
{
    QTest::addColumn<Row>("row");
    addRows(plainRows());
    addRows(stackRows());
    addRows(poolRows());
    addRows(loopRows());
}

void TestSystemDiskGuard::judges()
{
    QFETCH(Row, row);
    judgeRow(row);
}

QTEST_APPLESS_MAIN(TestSystemDiskGuard)
#include "tst_systemdiskguard.moc"
