# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that are none, or not whole: never a false "verified", and the drive's state in words."""
import subprocess

from lab import BURIN, MIB, REFUSED, VERIFIED, WRITE_FAILED, Lab, main, noise, report, run

TOOLS = {"gz": ["gzip", "-c"], "bz2": ["bzip2", "-c"], "xz": ["xz", "-c"], "zst": ["zstd", "-qc"]}


def pack(kind, data):
    return subprocess.run(TOOLS[kind], input=data, stdout=subprocess.PIPE, check=True).stdout


class BadImages(Lab):
    def setUp(self):
        super().setUp()
        self.drive = self.sparse("drive", 64 * MIB)

    def flash(self, path):
        return run("flash", path, self.drive, "--file", "--yes", "--json")

    def refused(self, path, code):
        """Refused before anything was written, with words."""
        r = self.flash(path)
        self.assertEqual(r.returncode, REFUSED, (path, r.stderr))
        self.assertEqual(report(r)["error"]["code"], code, path)
        self.assertFalse(report(r)["drive_touched"])
        self.assertIn("Nothing was written", r.stderr)
        self.assertEqual(self.drive.read_bytes().count(0), 64 * MIB)
        return r

    def test_no_image_directory_empty_text(self):
        self.refused(self.dir / "none.img", "ImageUnreadable")
        self.refused(self.dir, "ImageUnreadable")
        self.refused(self.file("empty.img"), "ImageEmpty")
        self.refused(self.file("page.iso", b"<html><body>404 Not Found</body></html>\n" * 30), "ImageFormatUnknown")
        self.refused(self.file("note.img", b"just some words\n" * 400), "ImageFormatUnknown")
        self.refused(self.file("doc.img", b"%PDF-1.7\n" + noise(20000)), "ImageFormatUnknown")

    def test_truncated_and_corrupt_of_each_kind(self):
        raw = noise(9 * MIB)
        for kind in TOOLS:
            data = pack(kind, raw)
            for cut in (len(data) // 2, len(data) - 1):
                r = self.flash(self.file(f"cut.img.{kind}", data[:cut]))
                self.assertIn(r.returncode, (REFUSED, WRITE_FAILED), (kind, cut))
                self.assertEqual(report(r)["error"]["code"], "ImageTruncated", (kind, cut, r.stderr))
                self.assertNotEqual(report(r)["verdict"], "verified")
            for at in (len(data) // 2, len(data) - 5):
                bad = bytearray(data)
                bad[at] ^= 0x55
                r = self.flash(self.file(f"bad.img.{kind}", bytes(bad)))
                self.assertIn(r.returncode, (REFUSED, WRITE_FAILED), (kind, at))
                self.assertIn(report(r)["error"]["code"], ("ImageCorrupt", "ImageTruncated"), (kind, at, r.stderr))

    def test_cut_within_the_first_bytes_touches_nothing(self):
        for kind in TOOLS:
            self.refused(self.file(f"short.img.{kind}", pack(kind, noise(2 * MIB))[:2000]), "ImageTruncated")

    def test_joined_streams_arrive_whole(self):
        a, b = noise(3 * MIB + 11), noise(5 * MIB, 2)
        for kind in TOOLS:
            r = self.flash(self.file(f"joined.img.{kind}", pack(kind, a) + pack(kind, b)))
            self.assertEqual(r.returncode, VERIFIED, (kind, r.stderr))
            with open(self.drive, "rb") as f:
                self.assertEqual(f.read(len(a) + len(b)), a + b, kind)

    def test_data_after_the_last_stream(self):
        for kind in TOOLS:
            packed = pack(kind, noise(MIB))
            self.assertEqual(self.flash(self.file(f"zeros.img.{kind}", packed + bytes(4096))).returncode, VERIFIED, kind)
            self.drive = self.sparse("drive", 64 * MIB)
            r = self.flash(self.file(f"more.img.{kind}", packed + b"something else that follows"))
            self.assertEqual(report(r)["error"]["code"], "ImageCorrupt", kind)

    def test_wrong_names_do_not_matter(self):
        raw = noise(MIB)
        for kind in TOOLS:
            r = self.flash(self.file(f"named-{kind}.iso.download", pack(kind, raw)))
            self.assertEqual(r.returncode, VERIFIED)
            with open(self.drive, "rb") as f:
                self.assertEqual(f.read(MIB), raw, kind)

    def test_a_tar_with_a_size_in_base_256(self):
        """As of 8 GiB and more: the smaller member must not be taken for the image."""
        self.file("boot.img", noise(MIB))
        raw = bytes(512) + noise(2 * MIB)
        self.file("disk.img", raw)
        data = bytearray(subprocess.run(["tar", "-c", "--format=gnu", "-C", self.dir, "boot.img", "disk.img"], check=True,
                                        stdout=subprocess.PIPE).stdout)
        at = 512 + MIB
        self.assertEqual(data[at:at + 8], b"disk.img")
        data[at + 124:at + 136] = b"\x80" + (2 * MIB + 512).to_bytes(11, "big")
        data[at + 148:at + 156] = b" " * 8
        data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])
        two = self.file("two.tar", bytes(data))
        r = run("flash", two, self.drive, "--file", "--yes", "--json")
        self.assertEqual(r.returncode, REFUSED)  # two candidates, none picked
        self.assertIn("disk.img", r.stderr)
        self.assertIn("--entry", r.stderr)
        r = run("flash", two, self.drive, "--file", "--yes", "--json", "--entry", "disk.img")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        with open(self.drive, "rb") as f:
            self.assertEqual(f.read(len(raw)), raw)

    def test_an_image_cut_and_then_packed(self):
        """gzip doesn't tell its size, so the missing part is noticed only at the end."""
        with open(self.dir / "whole.img", "wb") as f:
            f.truncate(16 * MIB)
        subprocess.run(["sfdisk", "-q", self.dir / "whole.img"], input=b"label: gpt\nstart=2048\n", check=True)
        cut = (self.dir / "whole.img").read_bytes()[:12 * MIB]
        packed = self.file("cut.img.gz", pack("gz", cut))
        r = self.flash(packed)
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(report(r)["error"]["code"], "ImageTruncated")
        r = run("flash", packed, self.drive, "--file", "--yes", "--json", "--allow-short")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)

    def test_standard_input(self):
        raw = noise(5 * MIB + 17)
        good, cut = pack("xz", raw), pack("xz", raw)[:-100]
        for name, data, status in (("good", good, VERIFIED), ("cut", cut, WRITE_FAILED)):
            path = self.file(f"{name}.xz", data)
            for through in (f"cat '{path}' |", ""):  # a pipe, and a file that stdin comes from
                at = "" if through else f"< '{path}'"
                r = subprocess.run(f"{through} '{BURIN}' flash - '{self.drive}' --file --yes --json {at}", shell=True,
                                   capture_output=True, text=True, timeout=120)
                self.assertIn(r.returncode, (status, REFUSED) if name == "cut" else (status,), r.stderr)
                if name == "cut":
                    self.assertEqual(report(r)["error"]["code"], "ImageTruncated")
                else:
                    with open(self.drive, "rb") as f:
                        self.assertEqual(f.read(len(raw)), raw)

    def test_a_drive_is_no_image(self):
        """By its name, and as standard input, which would be read like a pipe."""
        drive = self.loop(self.file("other", noise(4 * MIB)))
        self.refused(drive, "ImageUnreadable")
        with open(drive, "rb") as f:
            r = run("flash", "-", self.drive, "--file", "--yes", "--json", stdin=f)
        self.assertEqual((r.returncode, report(r)["error"]["code"]), (REFUSED, "ImageUnreadable"), r.stderr)

    def test_other_formats_are_named_not_written(self):
        r = self.refused(self.file("a.rar.img", b"Rar!\x1a\x07\x01\x00" + noise(65536)), "ImageUnsupported")
        self.assertIn("RAR", r.stderr)
        r = self.refused(self.file("disk.img.gz", pack("gz", b"QFI\xfb\x00\x00\x00\x03" + bytes(65536))), "ImageUnsupported")
        self.assertIn("qcow2 inside gzip", r.stderr)
        self.refused(self.file("a.7z.img", b"7z\xbc\xaf\x27\x1c" + noise(4096)), "ImageCorrupt")


if __name__ == "__main__":
    main()
