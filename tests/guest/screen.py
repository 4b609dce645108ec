# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Burin's window on a screen in the guest, used with the mouse: real events, at the places that the accessibility bus
tells. The guest comes with an X server; what it shows lies in /tmp/screen as an xwd picture."""
import json
import shutil
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


class Screen:
    """For a GuestCase that looks at the window."""

    def open(self, image=""):
        for tool in ("look", "changes"):
            shutil.copy(HERE / tool, self.share)
        self.guest.check("gsettings set org.gnome.desktop.interface toolkit-accessibility true 2>/dev/null; "
                         "DISPLAY=:9 QT_LINUX_ACCESSIBILITY_ALWAYS_ON=1 QT_QPA_PLATFORM=xcb setsid burin "
                         f"{image} </dev/null >/share/window.txt 2>&1 &", user="tester")
        self.see("frame", "Burin")

    def close(self):
        self.guest.check("pkill -x burin; for i in $(seq 100); do pgrep -x burin >/dev/null || exit 0; sleep 0.1; done; exit 1")

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
                self.shot("not-seen")
                raise AssertionError(f"no {role} {words!r} in {[(t['role'], t['name'][:60]) for t in things]}")

    def click(self, thing):
        x, y = thing["x"] + thing["w"] // 2, thing["y"] + thing["h"] // 2
        self.guest.check(f"DISPLAY=:9 xdotool mousemove {x} {y} sleep 0.2 click 1")

    def see_no_row(self, words, timeout=30):
        end = time.monotonic() + timeout
        while any(t["role"] == "list item" and words in t["name"] for t in self.look()):
            if time.monotonic() > end:
                self.shot("still-seen")
                raise AssertionError(f"the row {words!r} stays")

    def pick_and_flash(self, model):
        self.click(self.see("list item", model))
        self.click(self.see("button", "Flash"))
        self.click(self.see("button", "Erase and flash"))

    def shot(self, name):
        self.guest.screenshot(self.evidence / f"{name}.png")

    def shown_after(self, udev_action, act):
        """Seconds, by the guest's clock, from udev's event of a whole disk to the next change on the screen."""
        self.guest.check("rm -f /share/udev.txt /share/changes.txt; setsid udevadm monitor --udev --subsystem-match=block/disk "
                         "> /share/udev.txt 2>&1 & setsid python3 /share/changes > /share/changes.txt 2>&1 & "
                         "for i in $(seq 100); do grep -q ready /share/changes.txt && exit 0; sleep 0.1; done; exit 1")
        act()
        events = [line.split() for line in (self.share / "udev.txt").read_text().splitlines() if line.startswith("UDEV")]
        event = next(float(e[1].strip("[]")) for e in events if e[2] == udev_action)
        changes = [float(line) for line in (self.share / "changes.txt").read_text().split()[1:]]
        self.guest.check("pkill -x udevadm; pkill -f /share/changes; true")
        return next(c for c in changes if c >= event) - event
