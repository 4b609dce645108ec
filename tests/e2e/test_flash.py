# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Real images on real (loop) devices, compared from outside."""
import os
import shutil
import subprocess
import zipfile

from lab import MIB, REFUSED, VERIFIED, WRITE_FAILED, Lab, main, noise, report, run, sha256

PACKERS = {"xz": ["xz", "-1", "-k"], "gz": ["gzip", "-1", "-k"], "bz2": ["bzip2", "-1", "-k"], "zst": ["zstd", "-q", "-1"]}
IMAGES = ["/usr/lib/memtest86+/memtest86+x64.iso", "/usr/lib/grub-rescue/grub-rescue-cdrom.iso",
          "/usr/lib/grub-rescue/grub-rescue-floppy.img", "/usr/lib/ipxe/ipxe.iso"]


class Flash(Lab):
    def packed(self, raw):
        """The image in every form that Burin unpacks."""
        forms = {"raw": raw}
        for suffix, command in PACKERS.items():
            subprocess.run([*command, raw], check=True, cwd=self.dir)
            forms[suffix] = f"{raw}.{suffix}"
        for name, method in (("deflated.zip", zipfile.ZIP_DEFLATED), ("stored.zip", zipfile.ZIP_STORED)):
            with zipfile.ZipFile(self.dir / name, "w", method) as z:
                z.write(raw, raw.name)
                z.writestr("README.txt", "read me")
            forms[name] = self.dir / name
        subprocess.run(["tar", "-cf", "image.tar", raw.name], check=True, cwd=self.dir)
        forms["tar"] = self.dir / "image.tar"
        return forms

    def equal(self, raw, backing, what):
        size = os.path.getsize(raw)
        r = subprocess.run(["cmp", "-n", str(size), raw, backing], capture_output=True, text=True)
        self.assertEqual(r.returncode, 0, f"{what}: {r.stdout}{r.stderr}")

    def test_real_images_in_every_form_on_both_block_sizes(self):
        found = [i for i in IMAGES if os.path.exists(i)]
        self.assertGreaterEqual(len(found), 3, "Debian's images are not there")
        for path in found:
            raw = self.dir / os.path.basename(path)
            shutil.copyfile(path, raw)
            for form, image in self.packed(raw).items():
                for block in ("512", "4096"):
                    what = f"{raw.name} as {form} on {block}"
                    backing = self.file("back.img", os.urandom(4096) * (64 * MIB // 4096))
                    drive = self.loop(backing, "--sector-size", block)
                    r = run("flash", image, drive, "--loop", "--yes", "--json")
                    self.assertEqual(r.returncode, VERIFIED, f"{what}: {r.stderr}")
                    self.assertEqual(report(r)["image"]["sha256"], sha256(raw), what)
                    self.equal(raw, backing, what)
                    self.assertEqual(backing.read_bytes()[-MIB:], bytes(MIB), what)
                    subprocess.run(["losetup", "-d", drive], check=True)
            for f in self.dir.iterdir():
                f.unlink()

    def test_an_image_as_large_as_the_drive(self):
        for size in (8 * MIB, 8 * MIB + 4096, 8 * MIB - 512, 8 * MIB - 1):
            image = self.file("a.img", noise(size))
            backing = self.sparse("back.img", -(-size // 512) * 512)
            drive = self.loop(backing)
            r = run("flash", image, drive, "--loop", "--yes")
            self.assertEqual(r.returncode, VERIFIED, (size, r.stderr))
            self.equal(image, backing, size)
            subprocess.run(["losetup", "-d", drive], check=True)

    def test_beyond_4_gib(self):
        raw = self.sparse("big.img", (4 << 30) + 3 * MIB)
        with open(raw, "r+b") as f:
            f.write(noise(MIB))
            f.seek((4 << 30) + MIB + 5)
            f.write(noise(MIB, 2))
        subprocess.run(f"gzip -1 < {raw} > {raw}.gz", shell=True, check=True)
        backing = self.sparse("back.img", (4 << 30) + 8 * MIB)
        drive = self.loop(backing)
        r = run("flash", f"{raw}.gz", drive, "--loop", "--yes", "--no-sha256", timeout=500)
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.equal(raw, backing, "beyond 4 GiB")

    def test_known_size_that_does_not_fit_is_refused_before(self):
        image = self.file("a.img", noise(5 * MIB))
        subprocess.run(["xz", "-0", "-k", image], check=True)
        backing = self.file("back.img", noise(4 * MIB, 3))
        before = sha256(backing)
        drive = self.loop(backing)
        for path in (image, f"{image}.xz"):
            r = run("flash", path, drive, "--loop", "--yes", "--json")
            self.assertEqual(r.returncode, REFUSED)
            self.assertEqual(report(r)["error"]["code"], "ImageTooLarge")
            self.assertIn("Nothing was written", r.stderr)
        self.assertEqual(sha256(backing), before)

    def test_unknown_size_that_does_not_fit_is_said_on_the_way(self):
        image = self.file("a.img", noise(20 * MIB))
        subprocess.run(f"zstd -qc < {image} > {image}.zst", shell=True, check=True)
        drive = self.loop(self.sparse("back.img", 12 * MIB))
        r = run("flash", f"{image}.zst", drive, "--loop", "--yes", "--json")
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(report(r)["error"]["code"], "ImageGrewPastDrive")
        self.assertTrue(report(r)["drive_touched"])
        self.assertNotIn("ENOSPC", report(r)["error"]["text"])

    def test_a_cancelled_or_failed_drive_does_not_look_whole(self):
        drive, tell = self.bad_drive(32 * MIB, "fail write 5 16M 4096")
        image = self.file("a.img", noise(24 * MIB))
        subprocess.run(["sfdisk", "-q", image], input="label: gpt\n2048,8192\n", text=True, check=True)
        r = run("flash", image, drive, "--loop", "--yes")
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(subprocess.run(["wipefs", drive], capture_output=True, text=True).stdout, "")

    def test_two_equal_runs_one_after_the_other(self):
        backing = self.sparse("back.img", 32 * MIB)
        drive = self.loop(backing)
        for i in range(4):
            image = self.file("a.img", noise(20 * MIB, i % 2))
            self.assertEqual(run("flash", image, drive, "--loop", "--yes").returncode, VERIFIED)
            self.equal(image, backing, i)


if __name__ == "__main__":
    main()
