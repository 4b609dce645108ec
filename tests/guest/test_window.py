# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The window, on a screen in the guest, used with the mouse: real events, at the places that the accessibility bus tells."""
import json
import shutil
import time
from pathlib import Path

from lab import MIB, GuestCase, quick


class Window(GuestCase):
    def open(self, image):
        shutil.copy(Path(__file__).parent / "look", self.share)
        self.guest.check("gsettings set org.gnome.desktop.interface toolkit-accessibility true 2>/dev/null; "
                         "DISPLAY=:9 QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 QT_QPA_PLATFORM=xcb setsid burin "
                         f"{image} </dev/null >/share/window.txt 2>&1 &", user="tester")
        self.see("frame", "Burin")

    def look(self):
        """What the window shows: role, name, states and place of each thing."""
        r = self.guest.run("DISPLAY=:9 python3 /share/look", user="tester")
        return json.loads(r.out) if r.rc == 0 else []

    def see(self, role, words, timeout=60):
        """Waits for a thing of that role whose name holds the words."""
        end = time.monotonic() + timeout
        while True:
            things = self.look()
            for thing in things:
                if role in thing["role"] and words in thing["name"] and thing["w"] > 0:
                    return thing
            if time.monotonic() > end:
                self.guest.screenshot(self.evidence / "not-seen.png")
                raise AssertionError(f"no {role} {words!r} in {[(t['role'], t['name'][:60]) for t in things]}")

    def click(self, thing):
        x, y = thing["x"] + thing["w"] // 2, thing["y"] + thing["h"] // 2
        self.guest.check(f"DISPLAY=:9 xdotool mousemove {x} {y} sleep 0.2 click 1")

    def shot(self, name):
        self.guest.screenshot(self.evidence / f"{name}.png")

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
