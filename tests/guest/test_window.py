# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The window in the guest, from a stick that is plugged in to one that is ejected, by the mouse alone."""
from lab import MIB, GuestCase, quick
from screen import Screen


class Window(Screen, GuestCase):
    @quick
    def test_pick_flash_verify_eject(self):
        data, path = self.image(8 * MIB)
        self.open(path)
        self.assertFalse([t for t in self.look() if "Ultra Fit" in t["name"]])
        node = self.plug("usb", "stick", vendor="SanDisk", product="Ultra Fit")
        row = self.see("list item", "Ultra Fit")
        self.shot("start")
        self.click(row)
        self.click(self.see("check box", "Eject when verified"))   # it stands ticked, and the button is to be tried
        self.shot("picked")
        self.click(self.see("button", "Flash"))
        self.shot("question")
        self.click(self.see("button", "Erase and flash"))
        self.see("", "Verified", timeout=120)
        self.shot("verified")
        self.assert_holds("stick", data)
        self.guest.check(f"test -b /dev/{node}")
        self.click(self.see("button", "Eject"))
        self.wait_gone(node)
        self.see("", "safe to remove")
        self.shot("ejected")
        self.assertFalse([t for t in self.look() if t["role"] == "list item" and "Ultra Fit" in t["name"]])

    def test_rows_by_the_clock(self):
        """How soon a row comes and goes after udev's event is told, not judged: emulation is slow."""
        self.open()
        self.see("label", "")
        came = self.shown_after("add", lambda: (self.plug("usb", "stick", product="Ultra Fit"), self.see("list item", "Ultra Fit")))
        went = self.shown_after("remove", lambda: (self.guest.unplug("stick"), self.see_no_row("Ultra Fit")))
        told = f"a row came {came:.2f} s and went {went:.2f} s after udev's event"
        (self.evidence / "seconds.txt").write_text(told + "\n")
        print(told, flush=True)

    def test_pulled_in_mid_write(self):
        """Said in words, the row gone, and the next stick takes the same image."""
        data, path = self.image(24 * MIB)
        self.open(path)
        self.plug("usb", "stick", product="Ultra Fit", bps_wr="3M")
        self.pick_and_flash("Ultra Fit")
        self.see("", "Writing")
        self.guest.unplug("stick")
        self.see("", "removed")
        self.shot("pulled")
        self.see_no_row("Ultra Fit")
        self.plug("usb", "next", product="Cruzer")
        self.click(self.see("button", "Flash another"))
        self.pick_and_flash("Cruzer")
        self.see("", "Verified", timeout=120)
        self.shot("next")
        self.assert_holds("next", data)
