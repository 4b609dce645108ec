# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Drives that are pulled, swapped, slow or broken in the middle of a job."""
import time

from lab import MIB, REFUSED, VERIFIED, VERIFY_FAILED, WRITE_FAILED, GuestCase, quick

SOON = 20   # seconds in emulation on a busy machine; Burin itself says 2 s after the kernel's error


class Pull(GuestCase):
    def pulled(self, job, ident, offset_from):
        begin = time.monotonic()
        self.guest.unplug(ident)
        job.end(timeout=60)
        self.assertLess(time.monotonic() - begin, SOON)
        self.assertEqual(job.report["error"]["code"], "DriveGone", job.report)
        self.assertEqual(job.report["verdict"], "failed")
        if offset_from is not None:
            self.assertGreaterEqual(job.report["error"]["offset"], offset_from)
        self.assertTrue(job.report["drive_touched"])

    def the_next_one_works(self):
        node = self.plug("usb", "next")
        data, path = self.image(4 * MIB, seed=7, name="next.img")
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assert_holds("next", data)
        self.assertEqual(self.guest.check("systemd-inhibit --list --no-legend | grep -c Burin || true").strip(), "0")

    @quick
    def test_in_the_write(self):
        node = self.plug("usb", "stick", bps_wr="4M")
        _, path = self.image(48 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        self.pulled(job, "stick", 4 * MIB)
        self.assertEqual(job.status, WRITE_FAILED)
        self.assertEqual(job.report["ended_in"], "writing")
        self.assertNotIn(node, self.list())
        self.the_next_one_works()

    def test_in_the_flush(self):
        node = self.plug("usb", "stick", fault=True)
        _, path = self.image(12 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 4 * MIB)
        self.guest.fault("stick", "delay sync 4000")
        job.until_in("flushing")
        self.pulled(job, "stick", None)
        self.assertEqual(job.status, WRITE_FAILED)
        self.assertEqual(job.report["ended_in"], "flushing")
        self.the_next_one_works()

    def test_in_the_verify(self):
        node = self.plug("usb", "stick", bps_rd="3M")
        _, path = self.image(24 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("verifying", 8 * MIB)
        self.pulled(job, "stick", 4 * MIB)
        self.assertEqual(job.status, VERIFY_FAILED)
        self.assertEqual(job.report["ended_in"], "verifying")
        self.the_next_one_works()

    def test_in_the_first_moments(self):
        """While the drive is still being opened or cleared: nothing is known of it, and nothing hangs."""
        _, path = self.image(16 * MIB)
        for i in range(4):
            ident = f"stick{i}"
            node = self.plug("usb", ident, bps_wr="2M")
            job = self.start(f"flash {path} /dev/{node} --yes")
            if i:
                job.until(lambda e: e["event"] == "phase" and e["phase"] == ("preparing", "writing", "writing")[i - 1])
            self.guest.unplug(ident)
            job.end(timeout=60)
            self.assertIn(job.report.get("error", {}).get("code"), ("DriveGone", "DriveNotFound"), (job.report, job.words()))
            self.assertIn(job.status, (REFUSED, WRITE_FAILED))
            self.wait_gone(node)
        self.the_next_one_works()

    def test_plugged_in_again(self):
        """The same stick is a new drive to the job: it is not gone on with."""
        node = self.plug("usb", "stick", bps_wr="4M")
        _, path = self.image(48 * MIB)
        before = self.list()[node]["diskseq"]
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        self.guest.unplug("stick")
        again = self.plug("usb", "stick")
        job.end(timeout=60)
        self.assert_ended(job, WRITE_FAILED, "DriveGone")
        self.assert_blank("stick")   # plugged in with a new file
        row = self.list()[again]
        self.assertEqual(row["access"], "write")
        self.assertNotEqual(row["diskseq"], before)


class Reader(GuestCase):
    def card(self, size, timeout=30):
        """Waits until the reader's card has that size."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            for line in self.guest.check("lsblk -bdnro NAME,SIZE,SERIAL").splitlines():
                if line.split()[1:] == [str(size), "READER"]:
                    self.guest.check("udevadm settle")
                    return line.split()[0]
            time.sleep(0.2)
        raise AssertionError(f"the reader's card of {size} bytes is not seen")

    def test_empty_slot_and_swapped_card(self):
        self.guest.plug_reader("reader", serial="READER")
        node = self.node("READER")
        row = self.list()[node]
        self.assertEqual((row["size"], row["access"]), (0, "none"))
        _, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), REFUSED, "DriveNoMedium")
        self.guest.insert("reader", "first", size="32M")
        self.assertEqual(self.card(32 * MIB), node)
        first = self.list()[node]
        self.guest.eject("reader")
        self.guest.insert("reader", "second", size="64M")
        self.assertEqual(self.card(64 * MIB), node)
        second = self.list()[node]
        self.assertEqual((first["size"], second["size"], second["access"]), (32 * MIB, 64 * MIB, "write"))
        self.assertNotEqual(first["diskseq"], second["diskseq"])
        data, path = self.image(4 * MIB)
        job = self.flash(path, f"/dev/{node}", "--yes --eject")
        self.assert_ended(job, VERIFIED)
        self.assert_blank("first")
        self.assert_holds("second", data)
        # The reader itself keeps its power: it takes the next card.
        self.guest.insert("reader", "third", size="48M")
        self.assertEqual(self.card(48 * MIB), node)

    def swapped_in_mid_write(self, size):
        self.guest.plug_reader("reader", serial="READER")
        self.node("READER")
        self.guest.insert("reader", "first", size="64M")
        node = self.card(64 * MIB)
        self.guest.throttle("reader", bps_wr=4 << 20)
        _, path = self.image(48 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        self.guest.eject("reader")
        self.guest.insert("reader", "second", size=size)
        job.end(timeout=90)
        self.assert_ended(job, WRITE_FAILED, "DriveChanged")
        self.assert_blank("second")

    @quick
    def test_card_swapped_in_mid_write(self):
        self.swapped_in_mid_write("32M")

    def test_card_swapped_for_an_equal_one_in_mid_write(self):
        self.swapped_in_mid_write("64M")

    def test_card_taken_out_in_mid_write(self):
        self.guest.plug_reader("reader", serial="READER")
        self.node("READER")
        self.guest.insert("reader", "first", size="64M")
        node = self.card(64 * MIB)
        self.guest.throttle("reader", bps_wr=4 << 20)
        _, path = self.image(48 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        self.guest.eject("reader")
        job.end(timeout=90)
        self.assert_ended(job, WRITE_FAILED, "DriveGone")
        self.assertEqual(self.list()[node]["access"], "none")


class Broken(GuestCase):
    def test_write_error_at_a_sector(self):
        node = self.plug("usb", "stick", fault=True)
        self.guest.fault("stick", "fail write 5 9M 4096")
        _, path = self.image(16 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, WRITE_FAILED, "WriteFailed")
        self.assertEqual(job.report["retries"], 3)
        self.assertEqual(job.report["error"]["offset"] // (4 * MIB), 2)

    def test_write_error_that_passes(self):
        node = self.plug("usb", "stick", fault=True)
        self.guest.fault("stick", "fail write 5 9M 4096 1")
        data, path = self.image(16 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assertEqual(job.report["verdict"], "verified", job.report)
        self.assert_holds("stick", data)

    def test_read_error_at_a_sector(self):
        node = self.plug("usb", "stick", fault=True)
        self.guest.fault("stick", "fail read 5 9M 4096")
        _, path = self.image(16 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, VERIFY_FAILED, "ReadBackFailed")
        bad = job.report["differing"]
        self.assertTrue(all(r["unreadable"] for r in bad) and bad, bad)
        self.assertTrue(any(r["offset"] <= 9 * MIB < r["offset"] + r["length"] for r in bad), bad)

    def test_flipped_bits(self):
        node = self.plug("usb", "stick", fault=True)
        self.guest.fault("stick", f"corrupt {5 * MIB + 77}")
        _, path = self.image(8 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, VERIFY_FAILED, "VerifyMismatch")
        bad = job.report["differing"]
        self.assertTrue(bad[0]["offset"] <= 5 * MIB + 77 < bad[0]["offset"] + bad[0]["length"], bad)

    def test_flush_error(self):
        node = self.plug("usb", "stick", fault=True)
        _, path = self.image(8 * MIB)
        self.guest.fault("stick", "fail sync 5")
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, WRITE_FAILED, "FlushFailed")

    def test_lying_capacity(self):
        node = self.plug("usb", "stick", size="128M", fault=True)
        self.guest.fault("stick", "real 16M wrap")
        _, path = self.image(40 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, VERIFY_FAILED, "VerifyMismatch")
        self.assertEqual(job.report["counterfeit"], {"likely_size": 16 * MIB, "wraps": True})

    def test_stalled(self):
        node = self.plug("usb", "stick", bps_wr="8M", fault=True)
        data, path = self.image(32 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        self.guest.fault("stick", "stall")
        job.until(lambda e: e.get("stalled"), timeout=50)
        self.guest.fault("stick", "resume")
        job.end()
        self.assert_ended(job, VERIFIED)
        self.assert_holds("stick", data)
