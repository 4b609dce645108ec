# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives that fail, lie and hang, by faultfile under a loop device."""
import json
import os
import subprocess

from lab import BURIN, CANCELLED, MIB, REFUSED, VERIFIED, VERIFY_FAILED, WRITE_FAILED, Lab, main, noise, report, run


class BadDrives(Lab):
    def flash(self, drive, *options, size=24 * MIB, **kw):
        image = self.file("a.img", noise(size))
        return run("flash", image, drive, "--loop", "--yes", "--json", *options, **kw)

    def test_a_flipped_byte_is_found(self):
        drive, _ = self.bad_drive(32 * MIB, "corrupt 5000000")
        r = self.flash(drive)
        self.assertEqual(r.returncode, VERIFY_FAILED, r.stderr)
        bad = report(r)["differing"]
        self.assertEqual([(b["offset"], b["length"], b["same_again"]) for b in bad], [(4 * MIB, 4 * MIB, True)])
        self.assertEqual(report(r)["error"]["code"], "VerifyMismatch")

    def test_the_cache_is_not_what_is_verified(self):
        drive, _ = self.bad_drive(32 * MIB, "corrupt 5000000")
        with open(drive, "rb"):  # keeps the kernel's cache of the drive alive
            self.assertEqual(self.flash(drive).returncode, VERIFY_FAILED)

    def test_drives_that_lie_about_their_size(self):
        drive, tell = self.bad_drive(32 * MIB)
        for real in (8 * MIB, 9 * MIB + 8192, 20 * MIB):
            for kind in ("wrap", "drop"):
                tell("reset", f"real {real} {kind}")
                r = self.flash(drive)
                self.assertEqual(r.returncode, VERIFY_FAILED, (real, kind, r.stderr))
                self.assertEqual(report(r)["counterfeit"], {"likely_size": real, "wraps": kind == "wrap"}, (real, kind))

    def test_an_honest_slow_drive_is_called_nothing(self):
        drive, _ = self.bad_drive(16 * MIB, "speed write 8M")
        r = self.flash(drive, size=8 * MIB)
        self.assertEqual(r.returncode, VERIFIED)
        self.assertNotIn("counterfeit", report(r))
        # What is shown is what the drive took, not what a cache took.
        self.assertLess(report(r)["write_mean"], 1.3 * 8 * MIB)

    def test_write_errors(self):
        drive, tell = self.bad_drive(32 * MIB, "fail write 5 16M 4096 2")
        r = self.flash(drive)
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.assertGreaterEqual(report(r)["retries"], 1)
        tell("reset", "fail write 5 16M 4096")
        r = self.flash(drive)
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(report(r)["error"]["code"], "WriteFailed")
        self.assertTrue(16 * MIB <= report(r)["error"]["offset"] < 17 * MIB + 4096)
        self.assertIn("only part of the image", report(r)["error"]["text"])

    def test_read_errors_in_the_verify(self):
        drive, _ = self.bad_drive(32 * MIB, "fail read 5 9M 4096")
        r = self.flash(drive)
        self.assertEqual(r.returncode, VERIFY_FAILED)
        self.assertEqual([(b["offset"], b["unreadable"]) for b in report(r)["differing"]], [(8 * MIB, True)])
        self.assertEqual(report(r)["bytes_verified"], 20 * MIB)  # all that could be read

    def test_flush_error(self):
        drive, _ = self.bad_drive(32 * MIB, "fail sync 5")
        r = self.flash(drive)
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(report(r)["error"]["code"], "FlushFailed")

    def test_a_drive_that_goes(self):
        drive, _ = self.bad_drive(32 * MIB, "gone-after 9M")
        r = self.flash(drive)
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertIn(report(r)["error"]["code"], ("DriveGone", "WriteFailed"))  # a loop device says EIO for ENODEV

    def test_a_full_disk_under_the_drive(self):
        mnt = self.dir / "small"
        mnt.mkdir()
        if os.geteuid() != 0:
            self.skipTest("mounting needs root")
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8M", "none", mnt], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt])
        with open(mnt / "d.raw", "wb") as f:
            f.truncate(64 * MIB)
        r = self.flash(self.loop(mnt / "d.raw"))
        self.assertEqual(r.returncode, WRITE_FAILED)
        self.assertEqual(report(r)["error"]["code"], "WriteFailed")

    def stalled(self):
        """A job whose drive has stopped answering in the middle of the write."""
        drive, tell = self.bad_drive(64 * MIB, "speed write 4M")
        image = self.file("a.img", noise(48 * MIB))
        p = subprocess.Popen([BURIN, "flash", image, drive, "--loop", "--yes", "--json"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in p.stdout:
            event = json.loads(line)
            if event["event"] == "progress" and event["phase"] == "writing" and event["done"] > 0:
                break
        tell("stall")
        return p, drive, image, tell

    def test_a_stall_is_said_and_a_cancel_ends_it_when_it_answers(self):
        p, drive, image, tell = self.stalled()
        for line in p.stdout:
            if json.loads(line).get("stalled"):
                break
        p.terminate()
        tell("reset", "resume")
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, CANCELLED, err)

    def test_a_second_burin_on_the_same_drive_is_refused(self):
        p, drive, image, tell = self.stalled()
        r = run("flash", image, drive, "--loop", "--yes", "--json")
        self.assertEqual(r.returncode, REFUSED, r.stderr)
        self.assertEqual(report(r)["error"]["code"], "DriveBusy")
        tell("reset", "resume")
        p.communicate(timeout=60)
        self.assertEqual(p.returncode, VERIFIED)


if __name__ == "__main__":
    main()
