# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images that are none, or not whole: never a false "verified", and the drive's state in words."""
import subprocess

from lab import MIB, REFUSED, VERIFIED, WRITE_FAILED, Lab, main, noise, report, run

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

    def test_a_tar_whose_largest_member_can_t_be_followed(self):
        """A size in base 256, as of 8 GiB and more: the smaller member must not be taken for the image."""
        self.file("boot.img", noise(MIB))
        self.file("disk.img", bytes(512) + noise(2 * MIB))
        data = bytearray(subprocess.run(["tar", "-c", "--format=gnu", "-C", self.dir, "boot.img", "disk.img"], check=True,
                                        stdout=subprocess.PIPE).stdout)
        at = 512 + MIB
        self.assertEqual(data[at:at + 8], b"disk.img")
        data[at + 124:at + 136] = b"\x80" + (2 * MIB + 512).to_bytes(11, "big")
        data[at + 148:at + 156] = b" " * 8
        data[at + 148:at + 156] = b"%06o\0 " % sum(data[at:at + 512])
        self.refused(self.file("two.tar", bytes(data)), "ImageUnsupported")

    def test_other_formats_are_named_not_written(self):
        r = self.refused(self.file("disk.img", b"QFI\xfb\x00\x00\x00\x03" + bytes(65536)), "ImageUnsupported")
        self.assertIn("qcow2", r.stderr)
        self.refused(self.file("a.7z.img", b"7z\xbc\xaf\x27\x1c" + noise(4096)), "ImageUnsupported")
        self.refused(self.file("tar.img", pack("xz", subprocess.run(["tar", "-c", "-C", self.dir, "disk.img"], check=True,
                                                                    stdout=subprocess.PIPE).stdout)), "ImageUnsupported")


if __name__ == "__main__":
    main()
