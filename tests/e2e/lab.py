# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""What the end-to-end tests share: the program, loop devices, bad drives. Loop devices belong to the whole
machine: only those taken here are given back."""
import hashlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BURIN = os.environ.get("BURIN", "burin")
FAULTFILE = os.environ.get("FAULTFILE", "faultfile")
MIB = 1 << 20
VERIFIED, USAGE, REFUSED, WRITE_FAILED, VERIFY_FAILED, CANCELLED = range(6)


def loops_missing():
    """Why loop devices can't be had here, or nothing."""
    if os.geteuid() != 0:
        return "loop devices need root"
    if not os.path.exists("/dev/loop-control"):
        return "this kernel has no loop devices"
    return None


def noise(size, seed=1):
    """Bytes that don't pack and differ everywhere."""
    return random.Random(seed).randbytes(size)


def sha256(path):
    with open(path, "rb") as f:
        return hashlib.file_digest(f, "sha256").hexdigest()


def run(*args, stdin=subprocess.DEVNULL, timeout=120, **kw):
    """Runs burin; the result has returncode, stdout and stderr as text."""
    return subprocess.run([BURIN, *map(str, args)], stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          errors="replace", timeout=timeout, env={**os.environ, "LC_ALL": "C.UTF-8"}, **kw)


def report(result):
    """The report of a run with --json."""
    return json.loads(result.stdout.strip().splitlines()[-1])


class Lab(unittest.TestCase):
    """Each test has a folder of its own, self.dir; what it set up is taken down again."""

    def setUp(self):
        # Not in /tmp: a tmpfs may not know O_DIRECT.
        self.dir = Path(tempfile.mkdtemp(prefix="burin-test-", dir="/var/tmp"))
        self.addCleanup(shutil.rmtree, self.dir, ignore_errors=True)

    def file(self, name, content=b""):
        path = self.dir / name
        path.write_bytes(content)
        return path

    def sparse(self, name, size):
        path = self.dir / name
        with open(path, "wb") as f:
            f.truncate(size)
        return path

    def loop(self, backing, *options):
        if reason := loops_missing():
            self.skipTest(reason)
        dev = subprocess.run(["losetup", "-f", "--show", "--direct-io=on", *options, backing], text=True, check=True,
                             stdout=subprocess.PIPE).stdout.strip()
        self.addCleanup(subprocess.run, ["losetup", "-d", dev], stderr=subprocess.DEVNULL)
        return dev

    def bad_drive(self, size, *commands):
        """A loop device over faultfile (tests/support/faultfile.c); returns (device, tell)."""
        if reason := loops_missing():
            self.skipTest(reason)
        if not os.path.exists("/dev/fuse"):
            self.skipTest("this kernel has no FUSE")
        mnt = self.dir / "fault"
        mnt.mkdir()
        # Commands must not queue behind requests that a slow drive keeps waiting.
        subprocess.run([FAULTFILE, self.dir / "fault.img", str(size), mnt, "-o", "max_threads=64"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt])

        def tell(*lines):
            (mnt / "ctl").write_text("\n".join(lines) + "\n")

        # A drive that stalls must answer before it can be taken down.
        self.addCleanup(lambda: tell("reset", "resume"))
        dev = self.loop(mnt / "drive")
        if commands:
            tell(*commands)
        return dev, tell


def main():
    """unittest's main, with skips in the words that tests/all counts."""
    program = unittest.main(exit=False, verbosity=2)
    for test, reason in program.result.skipped:
        print(f"SKIP   : {test.id()} {reason}")
    sys.exit(not program.result.wasSuccessful())
