# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the guest tests share: a guest of its own for each test, with Burin in it, used by the ordinary user "tester"."""
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from guest import Guest

BURIN = os.environ.get("BURIN", "burin")
EVIDENCE = Path(os.environ.get("BURIN_GUEST_EVIDENCE", "/tmp/burin-guest"))
MIB = 1 << 20
VERIFIED, USAGE, REFUSED, WRITE_FAILED, VERIFY_FAILED, CANCELLED = range(6)


def noise(size, seed=1):
    return random.Random(seed).randbytes(size)


def quick(test):
    """Marks a test for the short run, the one in CI."""
    test.quick = True
    return test


def long(test):
    """Marks a test that runs only when it is named."""
    test.long = True
    return test


class Job:
    """A burin that runs in the guest with --json; its events are kept as evidence."""

    def __init__(self, case, arguments, user, name):
        self.guest = case.guest
        self.events_file = case.share / f"{name}.json"
        self.words_file = case.share / f"{name}.txt"
        self.handle = self.guest.spawn(f"burin {arguments} --json </dev/null >/share/{name}.json 2>/share/{name}.txt", user)
        case.addCleanup(self._keep, case.evidence)

    def _keep(self, folder):
        for f in (self.events_file, self.words_file):
            if f.exists():
                shutil.copy(f, folder)

    def events(self):
        lines = self.events_file.read_text().split("\n") if self.events_file.exists() else []
        return [json.loads(line) for line in lines[:-1]]   # what follows the last line end is still being written

    def until(self, what, timeout=180):
        """Waits for an event of which what(event) is true."""
        end = time.monotonic() + timeout
        while True:
            for event in self.events():
                if what(event):
                    return event
            if self.guest.done(self.handle) or time.monotonic() > end:
                raise AssertionError(f"that event did not come: {self.events()[-3:]} {self.words()}")
            time.sleep(0.05)

    def until_in(self, phase, done=0):
        return self.until(lambda e: e["event"] in ("phase", "progress") and e["phase"] == phase and e["done"] >= done)

    def words(self):
        """What a person reads: the lines beside the events, and the text of the error."""
        lines = self.words_file.read_text() if self.words_file.exists() else ""
        return lines + self.report.get("error", {}).get("text", "")

    def end(self, timeout=300):
        self.status = self.guest.wait(self.handle, timeout).rc
        return self

    @property
    def report(self):
        """The last event; of a job that was not even begun there is none."""
        events = self.events()
        return events[-1] if events else {}


class GuestCase(unittest.TestCase):
    """Each test has a guest of its own, self.guest. What a test needs of it from the start stands in GUEST."""
    GUEST = {}

    def setUp(self):
        self.evidence = EVIDENCE / self.id().split(".", 1)[-1]
        shutil.rmtree(self.evidence, ignore_errors=True)
        self.evidence.mkdir(parents=True)
        # The names of sockets may have 107 characters.
        folder = Path(tempfile.mkdtemp(prefix="burin-guest-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        self.guest = Guest(folder)
        self.share = self.guest.share
        self.addCleanup(self._leave)
        self.guest.start(**self.GUEST)
        subprocess.run(["strip", "-o", self.share / "burin", BURIN], check=True)
        self.guest.check("cp /share/burin /usr/local/bin/burin; chmod 755 /usr/local/bin/burin; chmod 777 /share")
        self.jobs = 0

    def _leave(self):
        code = self.guest.qemu.poll() if self.guest.qemu else None
        self.qemu_died = -code if code is not None and code < 0 else 0
        console = self.guest.dir / "console.log"
        if console.exists():
            shutil.copy(console, self.evidence)
        outcome = self._outcome
        if not outcome.success:   # what a person wants to see of a guest that failed
            try:
                (self.evidence / "journal.txt").write_text(self.guest.run("journalctl -b --no-pager | tail -n 400; dmesg | tail -n 100").out)
            except Exception as e:   # noqa: BLE001 - it may be what failed
                print(f"no journal: {e}", file=sys.stderr)
        self.guest.stop()

    # --- the guest -------------------------------------------------------------------------------------------

    def polkit(self, answer):
        """What polkit answers tester for all of udisks: "no", or "ask" (as it comes from the distribution). The guest
        comes with "yes"."""
        rule = "/etc/polkit-1/rules.d/00-tester.rules"
        self.guest.check((f"rm {rule}" if answer == "ask" else f"sed -i s/yes/{answer}/ {rule}") + "; systemctl restart polkit")

    def node(self, serial, timeout=30):
        """Waits for the drive with this serial number and until udev and udisks2 know it; returns its name."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            for line in self.guest.check("lsblk -dnro NAME,SERIAL").splitlines():
                if line.split()[1:] == [serial]:
                    name = line.split()[0]
                    self.guest.check(f"udevadm settle; for i in $(seq 100); do busctl get-property org.freedesktop.UDisks2 "
                                     f"/org/freedesktop/UDisks2/block_devices/{name} org.freedesktop.UDisks2.Block Size "
                                     f">/dev/null 2>&1 && exit 0; sleep 0.1; done; exit 1")
                    return name
            time.sleep(0.1)
        raise AssertionError(f"no drive with serial number {serial} within {timeout} s")

    def plug(self, kind, ident, **options):
        """Plugs a drive in; returns its node's name."""
        self.guest.plug(kind, ident, **{"serial": ident.upper(), **options})
        return self.node(options.get("serial", ident.upper()))

    def wait_gone(self, node):
        self.guest.check(f"for i in $(seq 200); do [ -e /dev/{node} ] || exit 0; sleep 0.1; done; exit 1")

    # --- Burin -----------------------------------------------------------------------------------------------

    def image(self, size, seed=1, name="image.img"):
        """An image of noise; returns its bytes and its path in the guest."""
        data = noise(size, seed)
        (self.share / name).write_bytes(data)
        return data, f"/share/{name}"

    def start(self, arguments, user="tester"):
        self.jobs += 1
        return Job(self, arguments, user, f"job{self.jobs}")

    def flash(self, path, drive, options="--yes", user="tester"):
        """Flashes to the end; returns the job, with its status and its report."""
        return self.start(f"flash {path} {drive} {options}", user).end()

    def list(self):
        """burin list --json as tester: by node name."""
        rows = json.loads(self.guest.check("burin list --json", user="tester"))
        return {Path(row["path"]).name: row for row in rows}

    # --- assertions ------------------------------------------------------------------------------------------

    def assert_holds(self, ident, data):
        """Checked from outside: the drive's file begins with the image."""
        with open(self.guest.backing(ident), "rb") as f:
            self.assertEqual(f.read(len(data)), data, "the drive holds something else")

    def assert_blank(self, ident):
        with open(self.guest.backing(ident), "rb") as f:
            while data := f.read(4 * MIB):
                self.assertFalse(any(data), "the drive was written")

    def assert_ended(self, job, status, code=None):
        """The exit status and the error's code; a job without error has none."""
        said = f"{job.report} {job.words()}"
        self.assertEqual(job.status, status, said)
        self.assertEqual(job.report.get("error", {}).get("code"), code, said)
