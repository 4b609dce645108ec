# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks under the system's stacks are refused by every name, and a spare stick beside them is not."""
import json

from lab import MIB, REFUSED, VERIFIED, GuestCase, quick
from screen import Screen

LUKS = ("cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 --pbkdf-force-iterations 1000 {0} --key-file /share/key; "
        "cryptsetup open --key-file /share/key {0} {1}; ")


class Guard(Screen, GuestCase):
    def setUp(self):
        super().setUp()
        (self.share / "key").write_text("secret")

    def flash_refused(self, drive, image, user, *options):
        r = self.guest.run(f"burin flash {image} {drive} --yes --json {' '.join(options)}", user=user)
        report = json.loads(r.out.strip().splitlines()[-1])
        self.assertEqual((r.rc, report.get("drive_touched")), (REFUSED, False), (drive, user, report))
        self.assertIn(report["error"]["code"], ("DriveIsSystem", "DriveProtected", "DriveIsPartition"), (drive, report))
        return report

    def refused_by_every_name(self, node, image):
        """As tester and as root, by node, by-id link, partition and a loop device over the drive."""
        row = self.list()[node]
        self.assertEqual(row["access"], "read", row)
        self.assertTrue(row["protections"], row)
        names = self.guest.check(f"udevadm info -q symlink /dev/{node}").split()
        by_id = next(f"/dev/{n}" for n in names if n.startswith("disk/by-id/"))
        partition = self.guest.check(f"lsblk -lnro NAME,TYPE /dev/{node} | awk '$2 == \"part\" {{ print $1; exit }}'").strip()
        for user in ("tester", None):
            for name in (f"/dev/{node}", by_id, *([f"/dev/{partition}"] if partition else [])):
                self.flash_refused(name, image, user)
            self.flash_refused(f"/dev/{node}", image, user, f"--confirm-model '{row['model']}'")
        # Not before: with the loop there, links by the file system's UUID may lead to it.
        loop = self.guest.check(f"losetup -f --show /dev/{node}").strip()
        for user in ("tester", None):
            self.flash_refused(loop, image, user, "--loop")
        self.guest.check(f"losetup -d {loop}")
        return row

    def stack(self, make, legs=1, place="/srv", partitions="label: gpt\nsize=60M\n"):
        """Makes a stack of the legs' first partitions and mounts it; returns the legs' nodes. In `make` {0} and {1} are
        the partitions, and it sets R to what is to be mounted."""
        nodes = [self.plug("usb", f"leg{i}", size="256M", serial=f"LEG-{i}") for i in range(legs)]
        (self.share / "table").write_text(partitions)
        for node in nodes:
            self.guest.check(f"sfdisk -q /dev/{node} < /share/table; udevadm settle")
        parts = [f"/dev/{node}1" for node in nodes]
        self.guest.check("set -e; " + make.format(*parts) + (f"; mount $R {place}; echo kept > {place}/file; sync" if place else ""))
        self.guest.check("udevadm settle")
        return nodes

    def spare_accepted(self):
        node = self.plug("usb", "spare", serial="SPARE")
        data, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assert_holds("spare", data)

    def refused_in_the_window(self, nodes, image):
        """Each row says why it is protected, and a click on it chooses nothing."""
        self.open(image)
        for node in nodes:
            row = self.see("list item", node)
            self.assertIn("this system runs from it", row["name"])
            self.click(row)
        self.shot("protected")
        self.assertFalse(self.see("button", "Flash")["enabled"])
        self.close()

    def all_refused(self, nodes, place="/srv"):
        _, image = self.image(MIB)
        self.refused_in_the_window(nodes, image)
        for node in nodes:
            row = self.refused_by_every_name(node, image)
            if place:
                self.assertTrue(any(place in p["detail"] for p in row["protections"]), row["protections"])
        self.spare_accepted()
        if place:
            self.assertEqual(self.guest.check(f"sysctl -q vm.drop_caches=3; cat {place}/file").strip(), "kept")

    @quick
    def test_lvm(self):
        self.all_refused(self.stack("pvcreate -q {0}; vgcreate -q data {0}; lvcreate -q -y -l 100%FREE -n home data; "
                                    "mkfs.ext4 -q /dev/data/home; R=/dev/data/home", place="/home"), "/home")

    def test_luks(self):
        self.all_refused(self.stack(LUKS.format("{0}", "vault") + "mkfs.ext4 -q /dev/mapper/vault; R=/dev/mapper/vault"))

    def test_luks_on_lvm(self):
        self.all_refused(self.stack("pvcreate -q {0}; vgcreate -q data {0}; lvcreate -q -y -l 100%FREE -n raw data; "
                                    + LUKS.format("/dev/data/raw", "vault") + "mkfs.ext4 -q /dev/mapper/vault; R=/dev/mapper/vault"))

    def test_md_raid1(self):
        self.all_refused(self.stack("modprobe raid1; mdadm --create /dev/md0 --run --level=1 --raid-devices=2 --homehost=any "
                                    "--assume-clean {0} {1} 2>/dev/null; mkfs.ext4 -q /dev/md0; R=/dev/md0", legs=2))

    def test_btrfs_on_two_disks(self):
        nodes = self.stack("modprobe btrfs; mkfs.btrfs -q -f -d raid1 -m raid1 {0} {1}; udevadm settle; R={1}", legs=2,
                           partitions="label: gpt\nsize=200M\n")
        self.all_refused(nodes)

    def test_swap(self):
        nodes = self.stack("mkswap -q {0}; swapon {0}", place=None)
        self.all_refused(nodes, None)
        self.assertIn(f"/dev/{nodes[0]}1", self.guest.check("cat /proc/swaps"))

    def test_active_lvm_without_mount(self):
        nodes = self.stack("pvcreate -q {0}; vgcreate -q data {0}; lvcreate -q -y -l 100%FREE -n home data", place=None)
        _, image = self.image(MIB)
        row = self.refused_by_every_name(nodes[0], image)
        self.assertEqual([p["release"] for p in row["protections"]], ["vgchange -an data"])
        self.guest.check("vgchange -q -an data; udevadm settle")
        data, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{nodes[0]}"), VERIFIED)
        self.assert_holds("leg0", data)

    def test_live_stack(self):
        """As a live system has it: squashfs in a loop file on the stick, below an overlay."""
        nodes = self.stack("mkfs.ext4 -q {0}; mkdir -p /run/live/medium /run/live/system /run/live/upper /run/live/work; "
                           "mount {0} /run/live/medium; mkdir /tmp/tree; echo kept > /tmp/tree/file; "
                           "mksquashfs /tmp/tree /run/live/medium/system.squashfs -quiet -no-progress; "
                           "modprobe -a loop squashfs overlay; mount -o loop /run/live/medium/system.squashfs /run/live/system; "
                           "mount -t overlay -o lowerdir=/run/live/system,upperdir=/run/live/upper,workdir=/run/live/work "
                           "overlay /srv", place=None)
        self.all_refused(nodes, "/srv")


class LiveStick(GuestCase):
    """The system itself runs from a stick."""
    GUEST = {"root_on": "usb"}
    refused_by_every_name = Guard.refused_by_every_name
    flash_refused = Guard.flash_refused
    spare_accepted = Guard.spare_accepted

    def test_the_stick_of_the_system(self):
        node = self.guest.check("findmnt -nro SOURCE /").strip().removeprefix("/dev/")
        self.assertTrue(node.startswith("sd"), node)
        _, image = self.image(MIB)
        row = self.refused_by_every_name(node, image)
        self.assertTrue(any("/" in p["detail"] for p in row["protections"]), row)
        self.spare_accepted()
