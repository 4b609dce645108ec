# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Many plugs and pulls in one guest. Half an hour, so only when asked for: tests/run --guest soak"""
import os
import random
import time

from lab import MIB, VERIFIED, GuestCase, long
from screen import Screen

PLUGS = int(os.environ.get("BURIN_SOAK_PLUGS", 100))
PULLS = int(os.environ.get("BURIN_SOAK_PULLS", 50))


class Soak(Screen, GuestCase):
    def count(self, what):
        return int(self.guest.check(f"ls /proc/$(pgrep -x burin)/{what} | wc -l"))

    @long
    def test_plugs_and_pulls_under_the_open_window(self):
        self.open()
        before = None
        for i in range(PLUGS):
            self.guest.plug("usb", "stick", serial=f"S{i}", product=f"Stick {i}")
            self.see("list item", f"Stick {i}")
            self.guest.unplug("stick")
            self.see_no_row(f"Stick {i}")
            if i == 4:
                before = self.count("fd"), self.count("task")
            if i % 10 == 9:
                print(f"{i + 1} plugs and pulls; descriptors, threads: {self.count('fd')}, {self.count('task')}", flush=True)
        self.assertEqual((self.count("fd"), self.count("task")), before)


class Pulls(GuestCase):
    @long
    def test_pulls_at_random_moments(self):
        data, path = self.image(12 * MIB)
        dice = random.Random(1)
        seen = {}
        for i in range(PULLS):
            node = self.plug("usb", "stick", serial=f"S{i}", bps_wr="6M", bps_rd="12M")
            job = self.start(f"flash {path} /dev/{node} --yes")
            until = time.monotonic() + dice.uniform(0, 12)
            while time.monotonic() < until and not self.guest.done(job.handle):
                time.sleep(0.05)
            self.guest.unplug("stick")
            job.end(timeout=60)
            code = job.report["error"]["code"] if "error" in job.report else job.report["verdict"]
            key = (job.report.get("ended_in", "before"), code)
            seen[key] = seen.get(key, 0) + 1
            if job.status == VERIFIED:
                self.assert_holds("stick", data)
            else:
                self.assertIn(code, ("DriveGone", "DriveNotFound"), (i, job.report, job.words()))
            self.wait_gone(node)
            if i % 10 == 9:
                print(f"{i + 1} pulls ended in: {seen}", flush=True)
        self.assertNotIn("Burin", self.guest.check("systemd-inhibit --list --no-legend"))
        self.assertEqual(self.guest.run("pgrep -x burin").rc, 1)
