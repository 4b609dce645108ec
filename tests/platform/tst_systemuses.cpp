// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "guardtable.h"

using namespace burin;

class TestSystemUses : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void judges_data();
    void judges();
    void takesFstabOfTheMachineInAChroot();
    void judgesByDriveWhereCrypttabIsForbidden();
    void protectsTheLoopThatIsTheImage();

private:
    static std::vector<Row> useRows();
    static std::vector<Row> imageRows();
    static std::vector<Row> tableRows();
    static std::vector<Row> closedRows();
};

std::vector<Row> TestSystemUses::useRows()
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

std::vector<Row> TestSystemUses::imageRows()
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

std::vector<Row> TestSystemUses::tableRows()
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

std::vector<Row> TestSystemUses::closedRows()
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

void TestSystemUses::judges_data()
{
    QTest::addColumn<Row>("row");
    addRows(useRows());
    addRows(imageRows());
    addRows(tableRows());
    addRows(closedRows());
}

void TestSystemUses::judges()
{
    QFETCH(Row, row);
    judgeRow(row);
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

void TestSystemUses::takesFstabOfTheMachineInAChroot()
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
        t.mountOwn("8:17 / /home/ana/.cache/burin/trixie/media/x ext4 /dev/sdb1"); // and what it shows twice
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

void TestSystemUses::judgesByDriveWhereCrypttabIsForbidden()
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

void TestSystemUses::protectsTheLoopThatIsTheImage()
{
    FixtureTree t;
    plainMachine(t);
    t.loop("loop0", "7:0", "/home/a.img");
    auto snapshot = t.snapshot();
    snapshot.nodes.at("loop0").backingInode = {makedev(8, 1), 77};
    snapshot.keptFiles = {image("/home/a.img", 8, 1)};
    QVERIFY(judged(snapshot).starts_with("loop0:HoldsImage(/home/a.img) "));
}

QTEST_APPLESS_MAIN(TestSystemUses)
#include "tst_systemuses.moc"
