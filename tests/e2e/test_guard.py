# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Disks that matter are never written, by whatever name they are called."""
import ctypes
import fcntl
import json
import os
import struct
import subprocess
from pathlib import Path

from lab import MIB, REFUSED, VERIFIED, Lab, main, noise, report, run, sha256


def system_disk():
    """The whole disk under / of this machine, or nothing (in some containers)."""
    for line in Path("/proc/1/mountinfo").read_text().splitlines():
        if line.split()[4] == "/":
            link = Path("/sys/dev/block") / line.split()[2]
            if link.exists():
                real = link.resolve()
                return "/dev/" + (real.parent if (real / "partition").exists() else real).name
    return None


class Guard(Lab):
    def refused(self, drive, *options, codes):
        image = self.file("a.img", noise(MIB))
        r = run("flash", image, drive, "--yes", "--json", *options)
        self.assertEqual(r.returncode, REFUSED, (drive, r.stdout, r.stderr))
        self.assertIn(report(r)["error"]["code"], codes, r.stderr)
        self.assertFalse(report(r)["drive_touched"])
        return r

    def add_partition(self, drive, number, start, length):
        """Not every kernel reads the partition tables of loop devices: this tells it (BLKPG, linux/blkpg.h)."""
        partition = struct.pack("@qqi64s64s", start, length, number, b"", b"")
        buffer = ctypes.create_string_buffer(partition)
        with open(drive, "rb") as f:
            add = struct.pack("@iiiP", 1, 0, len(partition), ctypes.addressof(buffer))
            fcntl.ioctl(f, 0x1269, add)
        self.addCleanup(subprocess.run, ["partx", "-d", drive], stderr=subprocess.DEVNULL)

    def test_the_system_disk_by_every_name(self):
        disk = system_disk()
        if not disk or not os.path.exists(disk):
            self.skipTest("the disk under / can't be seen here")
        link = self.dir / "innocent"
        link.symlink_to(disk)
        codes = ("DriveIsSystem", "DriveProtected")
        by_id = [p for p in Path("/dev/disk/by-id").glob("*") if p.resolve() == Path(disk)] if Path("/dev/disk/by-id").exists() else []
        for name in (disk, os.path.basename(disk), link, *by_id):
            r = self.refused(name, codes=codes)
            self.assertIn("Nothing was written", r.stderr)
        self.refused(disk, "--confirm-model", os.path.basename(disk), codes=codes)
        self.refused(disk, "--file", codes=codes + ("DriveNotADrive",))

    def test_what_is_no_drive(self):
        self.refused("/dev/null", codes=("DriveNotADrive", "DriveNotFound"))
        self.refused("/dev/no-such-drive", codes=("DriveNotFound",))
        self.refused(self.dir, codes=("DriveNotADrive", "DriveNotFound"))
        self.refused(self.file("plain", bytes(4 * MIB)), codes=("DriveNotADrive", "DriveNotFound"))  # without --file

    def test_file_never_means_a_device(self):
        """With --file a name that is also a node, or a link to one, is the file or nothing."""
        backing = self.sparse("back.img", 8 * MIB)
        drive = self.loop(backing)
        image = self.file("a.img", noise(MIB))
        plain = self.sparse(os.path.basename(drive), 4 * MIB)
        r = run("flash", image, os.path.basename(drive), "--file", "--loop", "--yes", cwd=self.dir)
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.assertEqual(plain.read_bytes()[:MIB], image.read_bytes())
        link = self.dir / "link"
        link.symlink_to(drive)
        for name in (drive, link):
            r = run("flash", image, name, "--file", "--loop", "--yes")
            self.assertEqual(r.returncode, REFUSED, (name, r.stderr))
        self.assertEqual(backing.read_bytes(), bytes(8 * MIB))

    def test_a_wrong_name_is_never_confirmed(self):
        backing = self.sparse("back.img", 8 * MIB)
        drive = self.loop(backing)
        image = self.file("a.img", noise(MIB))
        r = run("flash", image, drive, "--loop", "--yes", "--confirm-model", "Samsung T7")
        self.assertEqual(r.returncode, REFUSED, r.stderr)
        self.assertEqual(backing.read_bytes(), bytes(8 * MIB))

    def test_a_loop_device_must_be_asked_for(self):
        backing = self.sparse("back.img", 8 * MIB)
        drive = self.loop(backing)
        self.refused(drive, codes=("DriveNotFound", "DriveNotADrive", "DriveProtected"))
        self.assertEqual(backing.read_bytes(), bytes(8 * MIB))

    def test_a_partition_is_refused_and_its_disk_named(self):
        backing = self.sparse("back.img", 16 * MIB)
        subprocess.run(["sfdisk", "-q", backing], input="2048,8192\n", text=True, check=True)
        drive = self.loop(backing)
        self.add_partition(drive, 1, 2048 * 512, 8192 * 512)
        before = sha256(backing)
        r = self.refused(f"{drive}p1", "--loop", codes=("DriveIsPartition",))
        self.assertIn(drive, r.stderr)
        self.assertEqual(sha256(backing), before)

    def test_a_mounted_drive(self):
        backing = self.sparse("back.img", 16 * MIB)
        subprocess.run(["mke2fs", "-q", "-F", backing], check=True)
        drive = self.loop(backing)
        mnt = self.dir / "mnt"
        mnt.mkdir()
        subprocess.run(["mount", drive, mnt], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt], stderr=subprocess.DEVNULL)
        (mnt / "precious").write_text("precious")
        r = self.refused(drive, "--loop", codes=("DriveIsSystem", "DriveProtected", "DriveBusy"))
        self.assertIn(str(mnt), r.stderr)
        self.assertEqual((mnt / "precious").read_text(), "precious")
        listed = json.loads(run("list", "--loop", "--json").stdout)
        row = next(d for d in listed if d["path"] == drive)
        self.assertEqual(row["access"], "read")

    def test_active_swap(self):
        backing = self.file("back.img", bytes(16 * MIB))
        subprocess.run(["mkswap", "-q", backing], check=True, stderr=subprocess.DEVNULL)
        drive = self.loop(backing)
        subprocess.run(["swapon", drive], check=True)
        self.addCleanup(subprocess.run, ["swapoff", drive])
        r = self.refused(drive, "--loop", codes=("DriveIsSystem", "DriveBusy"))
        self.assertIn("swap", r.stderr)

    def test_the_drive_that_holds_the_image(self):
        backing = self.sparse("back.img", 64 * MIB)
        subprocess.run(["mke2fs", "-q", "-F", backing], check=True)
        drive = self.loop(backing)
        mnt = Path("/mnt") / self.dir.name  # a place for removable drives
        mnt.mkdir()
        self.addCleanup(mnt.rmdir)
        subprocess.run(["mount", drive, mnt], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt])
        image = mnt / "a.img"
        image.write_bytes(noise(MIB))
        r = run("flash", image, drive, "--loop", "--yes", "--json")
        self.assertEqual(r.returncode, REFUSED)
        self.assertEqual(report(r)["error"]["code"], "DriveHoldsImage", r.stderr)
        self.assertTrue(image.exists())

    def test_a_loop_over_a_disk_leads_to_that_disk(self):
        lower = self.loop(self.sparse("back.img", 64 * MIB))
        subprocess.run(["mke2fs", "-q", "-F", lower], check=True)
        upper = self.loop(lower)
        mnt = self.dir / "mnt"
        mnt.mkdir()
        subprocess.run(["mount", lower, mnt], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt])
        self.refused(upper, "--loop", codes=("DriveIsSystem", "DriveProtected", "DriveBusy"))

    def test_a_write_protected_drive(self):
        backing = self.sparse("back.img", 8 * MIB)
        drive = self.loop(backing, "--read-only")
        self.refused(drive, "--loop", codes=("DriveReadOnly",))
        image = self.file("zero.img", bytes(4 * MIB))
        self.assertEqual(run("verify", image, drive, "--loop").returncode, VERIFIED)  # reading is allowed

    def test_a_drive_without_a_medium(self):
        drive = self.loop(self.file("empty.img"))
        self.refused(drive, "--loop", codes=("DriveNoMedium",))

    def test_a_drive_that_somebody_holds(self):
        drive = self.loop(self.sparse("back.img", 8 * MIB))
        holder = os.open(drive, os.O_RDONLY | os.O_EXCL)
        self.addCleanup(os.close, holder)
        self.refused(drive, "--loop", codes=("DriveBusy",))

    def test_in_a_chroot_the_machine_s_mounts_count(self):
        """A disk that the machine has mounted must be seen from a chroot that shows nothing of it."""
        drive = os.environ.get("BURIN_SECOND_DISK")
        if not drive:
            self.skipTest("tests/run mounts a second disk only where it works in a chroot, as root")
        mounts = [line.split() for line in Path("/proc/1/mountinfo").read_text().splitlines()]
        where = next(m[4] for m in mounts if drive in m)
        # In this chroot's own mount namespace it goes; the machine's mount stays.
        if drive in Path("/proc/self/mountinfo").read_text():
            subprocess.run(["umount", "-l", where], check=True)
        self.assertNotIn(drive, Path("/proc/self/mountinfo").read_text())
        r = self.refused(drive, "--loop", codes=("DriveIsSystem",))
        self.assertIn(where, r.stderr)


if __name__ == "__main__":
    main()
