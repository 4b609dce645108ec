# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Used blocks only: real file systems and block maps, on drives full of old data, checked from outside."""
import filecmp
import os
import shutil
import struct
import subprocess
import unittest

from lab import MIB, REFUSED, VERIFIED, VERIFY_FAILED, Lab, loops_missing, main, noise, report, run, sha256

FAT_AT, FAT_SIZE, EXT_AT, EXT_SIZE, SIZE = 4 * MIB, 40 * MIB, 44 * MIB, 80 * MIB, 128 * MIB


def sh(*command):
    subprocess.run([str(c) for c in command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


class UsedBlocks(Lab):
    def part(self, backing, at, size):
        return self.loop(backing, "--offset", str(at), "--sizelimit", str(size))

    def mounted(self, device, *options):
        folder = self.dir / f"mnt{len(list(self.dir.iterdir()))}"
        folder.mkdir()
        sh("mount", *options, device, folder)
        self.addCleanup(subprocess.run, ["umount", "-l", folder], stderr=subprocess.DEVNULL)
        return folder

    def fill(self, folder):
        """Files of many sizes, every third one deleted again, one that holds zeros only."""
        for i in range(60):
            (folder / f"file{i}").write_bytes(noise(1 + i * 9000, i))
        for i in range(0, 60, 3):
            (folder / f"file{i}").unlink()
        (folder / "zeros").write_bytes(bytes(3 * MIB))
        (folder / "folder").mkdir()
        (folder / "folder" / "last").write_bytes(noise(2 * MIB, 99))
        os.sync()

    def fill_fat(self, raw, folder):
        """Copies the same into a FAT, in an order that leaves gaps. With mtools: not every kernel mounts a FAT."""
        holes = self.dir / "holes"
        holes.mkdir()
        for i in range(60):
            (holes / f"hole{i}").write_bytes(noise(1 + i * 5000, 100 + i))
        files = sorted(f for f in folder.iterdir() if f.name.startswith("file"))
        rest = [f for f in folder.iterdir() if f not in files]
        for hole, file in zip(sorted(holes.iterdir()), files):
            sh("mcopy", "-i", f"{raw}@@{FAT_AT}", hole, file, "::")
        sh("mdel", "-i", f"{raw}@@{FAT_AT}", "::hole*")
        sh("mcopy", "-s", "-i", f"{raw}@@{FAT_AT}", *rest, "::")

    def image(self, fat=("-F", "16"), ext=("-t", "ext4")):
        """A table, a FAT and an ext file system with files; the folder "copy" gets the same files."""
        raw = self.sparse("disk.img", SIZE)
        with open(raw, "r+b") as f:
            f.write(noise(MIB, 7)[:446])
            for kind, at, size in ((0x0c, FAT_AT, FAT_SIZE), (0x83, EXT_AT, EXT_SIZE)):
                f.write(struct.pack("<B3xB3xII", 0, kind, at // 512, size // 512))
            f.write(bytes(32) + b"\x55\xaa")
        for maker, at, size in ((["mkfs.vfat", *fat], FAT_AT, FAT_SIZE), (["mkfs.ext4", "-q", "-F", *ext], EXT_AT, EXT_SIZE)):
            device = self.part(raw, at, size)
            sh(*maker, device)
            if at == EXT_AT:
                folder = self.mounted(device)
                self.fill(folder)
                shutil.copytree(folder, self.dir / "copy", ignore=shutil.ignore_patterns("lost+found"))
                sh("umount", folder)
            sh("losetup", "-d", device)
        self.fill_fat(raw, self.dir / "copy")
        return raw

    def stale(self, size=SIZE + 8 * MIB):
        return self.file("drive.img", noise(MIB, 3) * (size // MIB))

    def same_tree(self, a, b):
        found = filecmp.dircmp(a, b, ignore=["lost+found"])
        self.assertEqual((found.left_only, found.right_only), ([], []))
        names = [n for n in found.common_files]
        self.assertEqual(filecmp.cmpfiles(a, b, names, shallow=False)[1:], ([], []))
        for name in found.common_dirs:
            self.same_tree(a / name, b / name)

    def check_drive(self, backing):
        """Both file systems on the drive are sound and hold the files."""
        device = self.part(backing, FAT_AT, FAT_SIZE)
        sh("fsck.vfat", "-n", device)
        sh("losetup", "-d", device)
        folder = self.dir / "from-fat"
        folder.mkdir()
        sh("mcopy", "-s", "-n", "-i", f"{backing}@@{FAT_AT}", "::*", folder)
        self.same_tree(self.dir / "copy", folder)
        device = self.part(backing, EXT_AT, EXT_SIZE)
        sh("e2fsck", "-f", "-n", device)
        folder = self.mounted(device, "-o", "ro")
        self.same_tree(self.dir / "copy", folder)
        sh("umount", folder)
        sh("losetup", "-d", device)

    def flash(self, image, backing, *options, expect=VERIFIED):
        r = run("flash", image, backing, "--file", "--yes", "--json", *options)
        self.assertEqual(r.returncode, expect, r.stderr)
        return report(r)

    @unittest.skipIf(loops_missing(), loops_missing())
    def test_file_systems_of_many_kinds_on_a_drive_full_of_old_data(self):
        kinds = [("ext4",), ("ext4", "-b", "1024"), ("ext4", "-b", "1024", "-O", "^metadata_csum,uninit_bg"),
                 ("ext4", "-O", "bigalloc", "-C", "65536"), ("ext4", "-O", "^64bit"), ("ext3", "-b", "1024"), ("ext2",)]
        fats = [("-F", "16"), ("-F", "12", "-s", "64"), ("-F", "32", "-s", "1")]
        for number, kind in enumerate(kinds):
            with self.subTest(kind):
                raw = self.image(fats[number % 3], ("-t", *kind))
                backing = self.stale()
                r = self.flash(raw, backing)
                self.assertEqual((r["verdict"], r["coverage"]), ("verified", "all used blocks"))
                self.assertGreater(r["bytes_skipped"], SIZE // 8, kind)
                self.assertEqual(r["bytes_written"] + r["bytes_skipped"], SIZE)
                self.assertEqual(r["image"]["sha256"], sha256(raw))
                self.check_drive(backing)
                self.assertNotEqual(subprocess.run(["cmp", "-s", "-n", str(SIZE), raw, backing]).returncode, 0)
                # The verify on its own agrees, and finds a change in a file that is in use.
                self.assertEqual(run("verify", raw, backing, "--file").returncode, VERIFIED)
                with open(backing, "r+b") as f:
                    f.seek(EXT_AT + 1024 + 120)
                    f.write(b"\x42")
                self.assertEqual(run("verify", raw, backing, "--file").returncode, VERIFY_FAILED)
            for path in self.dir.iterdir():
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    @unittest.skipIf(loops_missing(), loops_missing())
    def test_any_doubt_writes_everything(self):
        raw = self.image()
        r = run("info", raw)
        self.assertIn("used blocks", r.stdout)
        for change in ("set_super_value state 0", "set_super_value last_orphan 12", "set_super_value free_blocks_count 5",
                       "feature needs_recovery"):
            dirty = self.dir / "dirty.img"
            shutil.copyfile(raw, dirty)
            device = self.part(dirty, EXT_AT, EXT_SIZE)
            sh("debugfs", "-w", "-R", change, device)
            sh("losetup", "-d", device)
            backing = self.stale()
            r = self.flash(dirty, backing)
            # The FAT beside it is still clean.
            self.assertLess(r["bytes_skipped"], FAT_SIZE, change)
            sh("cmp", "-n", EXT_SIZE, "-i", EXT_AT, dirty, backing)

    def test_every_block_on_request(self):
        raw = self.sparse("disk.img", 32 * MIB)
        sh("mkfs.ext4", "-q", "-F", raw)
        for option in ("--all-blocks", "--no-used-blocks"):
            backing = self.stale(40 * MIB)
            r = self.flash(raw, backing, option)
            self.assertEqual((r["coverage"], r["bytes_skipped"]), ("every byte", 0))
            sh("cmp", "-n", 32 * MIB, raw, backing)

    def test_clear_rest_leaves_no_old_data(self):
        raw = self.sparse("disk.img", 32 * MIB)
        sh("mkfs.ext4", "-q", "-F", raw)
        backing = self.stale(40 * MIB)
        r = self.flash(raw, backing, "--clear-rest")
        self.assertEqual((r["coverage"], r["bytes_skipped"]), ("all used blocks", 0))
        self.assertGreater(r["bytes_cleared"], 8 * MIB)
        sh("cmp", "-n", 32 * MIB, raw, backing)  # its free blocks are zero

    def sparse_image(self):
        raw = self.sparse("disk.img", 48 * MIB + 1000)
        with open(raw, "r+b") as f:
            for at, size in ((0, 5000), (9 * MIB, 3 * MIB + 77), (30 * MIB, MIB), (48 * MIB, 1000)):
                f.seek(at)
                f.write(noise(size, at + 1))
        return raw

    def test_a_block_map_by_bmaptool(self):
        raw = self.sparse_image()
        sh("bmaptool", "create", "-o", f"{raw}.bmap", raw)
        sh("xz", "-1", "-k", raw)
        sh("sh", "-c", f"gzip -1 < {raw} > {raw}.gz")  # tells no size in advance
        for form in (raw, f"{raw}.xz", f"{raw}.gz"):
            backing = self.stale(56 * MIB)
            r = self.flash(form, backing)
            self.assertEqual((r["verdict"], r["coverage"]), ("verified", "all used blocks"), form)
            self.assertEqual(r["used_blocks"]["source"], "block map")
            self.assertGreater(r["bytes_skipped"], 20 * MIB)
            self.assertEqual(r["image"]["sha256"], sha256(raw))
            for at, size in ((0, 5000), (9 * MIB, 3 * MIB + 77), (30 * MIB, MIB), (48 * MIB, 1000)):
                sh("cmp", "-n", size, "-i", at, raw, backing)
        with open(raw, "rb") as image:  # from a pipe, by name
            r = run("flash", "-", self.stale(56 * MIB), "--file", "--yes", "--json", "--bmap", f"{raw}.bmap", stdin=image)
        self.assertEqual((r.returncode, report(r)["coverage"]), (VERIFIED, "all used blocks"), r.stderr)

    def test_a_block_map_that_is_wrong(self):
        raw = self.sparse_image()
        sh("bmaptool", "create", "-o", f"{raw}.bmap", raw)
        good = (self.dir / "disk.img.bmap").read_text()
        backing = self.stale(56 * MIB)
        before = sha256(backing)
        self.file("disk.img.bmap", good.replace("<BlockSize> 4096", "<BlockSize> 8192").encode())
        r = run("flash", raw, backing, "--file", "--yes")
        self.assertEqual(r.returncode, REFUSED)
        self.assertIn("--no-bmap", r.stderr)
        self.assertEqual(sha256(backing), before)
        for option in ("--no-bmap", "--all-blocks"):
            self.assertEqual(self.flash(raw, backing, option)["coverage"], "every byte")
        # The image has data where its map has none: everything is written, and why is said.
        self.file("disk.img.bmap", good.encode())
        with open(raw, "r+b") as f:
            f.seek(40 * MIB)
            f.write(b"x")
        backing = self.stale(56 * MIB)
        r = self.flash(raw, backing)
        self.assertEqual((r["verdict"], r["coverage"]), ("verified", "every byte"))
        self.assertEqual(r["used_blocks"]["dropped_because"], "left out data")
        sh("cmp", "-n", os.path.getsize(raw), raw, backing)
        # Data that the map sums are others.
        with open(raw, "r+b") as f:
            f.seek(10 * MIB)
            f.write(b"x")
        r = run("flash", raw, backing, "--file", "--yes", "--json")
        self.assertEqual(report(r)["error"]["code"], "ImageCorrupt")
        self.assertNotEqual(r.returncode, VERIFIED)

    def test_makes_block_maps_that_bmaptool_takes(self):
        raw = self.sparse("disk.img", 64 * MIB)
        sh("mkfs.ext4", "-q", "-F", raw)
        if not loops_missing():
            device = self.loop(raw)
            folder = self.mounted(device)
            self.fill(folder)
            sh("umount", folder)
            sh("losetup", "-d", device)
        for number, options in enumerate(((), ("--from-holes",))):
            bmap = self.dir / f"map{number}"
            r = run("info", raw, "--make-bmap", bmap, *options)
            self.assertEqual(r.returncode, 0, r.stderr)
            self.assertEqual("promise" in r.stderr, bool(options))
            target = self.sparse(f"target{number}", 64 * MIB)
            sh("bmaptool", "copy", "--bmap", bmap, raw, target)
            sh("cmp", raw, target)
            r = self.flash(raw, self.stale(72 * MIB), "--bmap", bmap)
            self.assertEqual((r["coverage"], r["used_blocks"].get("dropped_because")), ("all used blocks", None))
            again = run("info", raw, "--make-bmap", bmap)
            self.assertEqual(again.returncode, REFUSED)  # never over a file
        none = self.file("none.img", bytes(510) + b"\x55\xaa" + noise(MIB))
        self.assertEqual(run("info", none, "--make-bmap", self.dir / "no").returncode, REFUSED)

    def test_only_what_differs(self):
        raw = self.file("a.img", bytes(510) + b"\x55\xaa" + noise(24 * MIB))
        backing = self.stale(40 * MIB)
        r = self.flash(raw, backing, "--only-differences")
        self.assertEqual((r["coverage"], r["bytes_unchanged"]), ("every byte", 0))
        r = self.flash(raw, backing, "--only-differences")
        self.assertEqual((r["coverage"], r["bytes_written"]), ("every byte", 0))
        self.assertFalse(r["drive_touched"])
        with open(backing, "r+b") as f:
            f.seek(13 * MIB)
            f.write(b"changed")
        r = self.flash(raw, backing, "--only-differences")
        self.assertEqual(r["bytes_written"], 8 * MIB)  # that chunk, and the first one
        self.assertEqual(r["bytes_verified"], os.path.getsize(raw))
        sh("cmp", "-n", os.path.getsize(raw), raw, backing)

    def test_rewriting_never_mends_a_drive_that_wraps(self):
        drive, _ = self.bad_drive(32 * MIB, f"real {10 * MIB} wrap")
        image = self.file("a.img", noise(24 * MIB))
        for _ in range(3):
            r = run("flash", image, drive, "--loop", "--yes", "--json", "--only-differences")
            self.assertEqual(r.returncode, VERIFY_FAILED, r.stderr)

    def test_goes_on_after_a_pull(self):
        drive, tell = self.bad_drive(32 * MIB, f"gone-after {16 * MIB}")
        image = self.file("a.img", noise(24 * MIB))
        r = run("flash", image, drive, "--loop", "--yes", "--json")
        self.assertEqual(report(r)["error"]["code"], "DriveGone")
        tell("reset")
        r = run("flash", image, drive, "--loop", "--yes", "--json", "--only-differences")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.assertGreater(report(r)["bytes_unchanged"], 6 * MIB)
        self.assertEqual(report(r)["bytes_verified"], 24 * MIB)


if __name__ == "__main__":
    main()
