# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""As an ordinary user, through udisks2: plug, list, flash, verify, eject, on every kind of drive."""
from lab import MIB, REFUSED, VERIFIED, GuestCase, quick


class Flash(GuestCase):
    def flash_and_eject(self, ident, node, size=12 * MIB):
        data, path = self.image(size, seed=hash(ident) % 1000)
        job = self.flash(path, f"/dev/{node}", "--yes --eject")
        self.assert_ended(job, VERIFIED)
        self.assertEqual((job.report["verdict"], job.report["coverage"]), ("verified", "every byte"))
        self.assert_holds(ident, data)
        self.assertIn("safe to remove", job.words())
        return job

    @quick
    def test_plug_flash_verify_eject(self):
        node = self.plug("usb", "stick", vendor="SanDisk", product="Ultra Fit")
        row = self.list()[node]
        self.assertEqual((row["vendor"], row["model"], row["serial"], row["size"], row["access"], row["external"]),
                         ("SanDisk", "Ultra Fit", "STICK", 64 * MIB, "write", True))
        self.assertFalse(row["needs_confirm_model"])
        self.flash_and_eject("stick", node, 24 * MIB)
        self.wait_gone(node)
        self.assertNotIn(node, self.list())
        self.assertEqual(self.guest.check("dmesg | grep -i -E 'I/O error|offline error' || true"), "")

    def test_uas_with_fixed_medium(self):
        """A USB enclosure for an SSD: UAS, and removable=0."""
        node = self.plug("uas", "dock", removable=False, ssd=True)
        row = self.list()[node]
        self.assertEqual((row["access"], row["external"], row["removable"], row["needs_confirm_model"]),
                         ("write", True, False, False))
        self.flash_and_eject("dock", node)
        self.wait_gone(node)

    def test_uas_with_a_disk_that_may_rotate(self):
        """A disk that does not say that it is none may be somebody's backup: its name is typed."""
        node = self.plug("uas", "dock", removable=False)
        self.assertTrue(self.list()[node]["needs_confirm_model"])

    def test_blocks_of_4096_bytes(self):
        node = self.plug("usb", "stick", block=4096)
        self.assertEqual(self.list()[node]["logical_block"], 4096)
        self.flash_and_eject("stick", node, 8 * MIB + 512)   # its tail fills only a part of a block

    def test_two_equal_sticks(self):
        first = self.plug("usb", "one", product="Ultra Fit", serial="SAME-1")
        second = self.plug("usb", "two", product="Ultra Fit", serial="SAME-2")
        rows = self.list()
        self.assertEqual({rows[first]["serial"], rows[second]["serial"]}, {"SAME-1", "SAME-2"})
        data, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, "SAME-2"), VERIFIED)   # by its serial number
        self.assert_blank("one")
        self.assert_holds("two", data)

    def test_two_sticks_with_one_serial_number(self):
        self.plug("usb", "one", serial="CLONE")
        self.guest.plug("usb", "two", serial="CLONE")
        self.guest.check("for i in $(seq 100); do [ $(lsblk -dnro SERIAL | grep -c CLONE) = 2 ] && exit 0; sleep 0.1; done; exit 1")
        _, path = self.image(MIB)
        self.assert_ended(self.flash(path, "CLONE"), REFUSED, "DriveAmbiguous")
        self.assert_blank("one")
        self.assert_blank("two")

    def test_ejects_without_the_eject_program(self):
        """udisks2 only recommends it. Powering off does as well."""
        node = self.plug("usb", "stick")
        self.guest.check("mv /usr/bin/eject /usr/bin/eject.away")
        self.flash_and_eject("stick", node)
        self.wait_gone(node)

    def test_write_protected(self):
        node = self.plug("usb", "stick", readonly=True)
        row = self.list()[node]
        self.assertEqual(row["access"], "read")
        _, path = self.image(MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, REFUSED, "DriveReadOnly")
        self.assertIn("Nothing was written", job.words())

    def test_internal_drives_need_their_name(self):
        node = self.plug("nvme", "disk")
        row = self.list()[node]
        self.assertEqual((row["external"], row["needs_confirm_model"]), (False, True))
        data, path = self.image(4 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes").end()
        self.assertEqual(job.status, REFUSED, job.words())
        self.assert_blank("disk")
        self.assert_ended(self.flash(path, f"/dev/{node}", f"--confirm-model '{row['model']}'"), VERIFIED)
        self.assert_holds("disk", data)

    def test_as_root(self):
        """Nothing needs root, and as root it works too: the node is opened directly."""
        node = self.plug("usb", "stick")
        self.guest.check("systemctl mask --runtime --now udisks2")
        data, path = self.image(4 * MIB)
        job = self.flash(path, f"/dev/{node}", "--yes --eject", user=None)
        self.assert_ended(job, VERIFIED)
        self.assert_holds("stick", data)

    def test_throttled(self):
        """Progress is what the drive has taken: it never runs ahead of a slow one."""
        node = self.plug("usb", "stick", bps_wr="3M")
        data, path = self.image(12 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        begin = job.until_in("writing", 1)
        job.until_in("writing", 8 * MIB)
        job.end()
        self.assert_ended(job, VERIFIED)
        self.assert_holds("stick", data)
        done = [e["done"] for e in job.events() if e.get("phase") == "writing"]
        self.assertEqual(done, sorted(done))
        self.assertGreater(len(set(done)), 2)
        self.assertLess(begin["done"], 12 * MIB)


class SdSlot(GuestCase):
    GUEST = {"cold": [("sd", "sd", {})]}

    def test_card_in_a_slot_on_pci(self):
        self.guest.insert("sd", "card", size="64M")
        self.guest.check("for i in $(seq 100); do [ -b /dev/mmcblk0 ] && exit 0; sleep 0.2; done; exit 1")
        self.guest.check("udevadm settle")
        row = self.list()["mmcblk0"]
        self.assertEqual((row["external"], row["access"], row["size"]), (True, "write", 64 * MIB))
        data, path = self.image(4 * MIB)
        job = self.flash(path, "/dev/mmcblk0", "--yes --eject")
        self.assert_ended(job, VERIFIED)
        self.assert_holds("card", data)
        self.guest.eject("sd")
        self.wait_gone("mmcblk0")
        self.assertNotIn("mmcblk0", self.list())
