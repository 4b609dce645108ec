# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""The command line: its questions, its exit statuses and what it prints."""
import json
import os
import pty
import re
import signal
import subprocess
import time

from lab import (BURIN, CANCELLED, MIB, REFUSED, USAGE, VERIFIED, VERIFY_FAILED, Lab, main, noise, report, run, sha256)


class Cli(Lab):
    def test_help_and_version(self):
        self.assertRegex(run("--version").stdout, r"^burin \d+\.\d+\.\d+\n$")
        self.assertIn("burin flash IMAGE DRIVE", run("--help").stdout)
        for command in ("list", "info", "flash", "verify", "demo"):
            r = run(command, "--help")
            self.assertEqual(r.returncode, 0, command)
            self.assertIn(f"Usage: burin {command}", r.stdout)

    def test_wrong_words_are_usage_errors(self):
        for words in (["flash"], ["flash", "a"], ["flash", "a", "b", "c"], ["flash", "--no-such-option", "a", "b"],
                      ["info"], ["list", "x"], ["verify", "a"]):
            r = run(*words)
            self.assertEqual(r.returncode, USAGE, words)
            self.assertTrue(r.stderr.startswith("burin: "), r.stderr)

    def test_list_as_json(self):
        drives = json.loads(run("list", "--json").stdout)
        self.assertIsInstance(drives, list)
        for drive in drives:
            self.assertNotRegex(drive["path"], r"/dev/(loop|ram|zram|dm-|md|sr|fd)")

    def test_flashes_a_file_and_reports(self):
        image = self.file("a.img", noise(5 * MIB + 123))
        drive = self.sparse("drive", 16 * MIB)
        r = run("flash", image, drive, "--file", "--yes")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.assertIn("Verified", r.stdout)
        self.assertIn(sha256(image), r.stdout)
        with open(drive, "rb") as f:
            self.assertEqual(f.read(5 * MIB + 123), image.read_bytes())
            self.assertEqual(f.read(389), bytes(389))

    def test_json_events_end_with_the_report(self):
        image = self.file("a.img", noise(5 * MIB))
        drive = self.sparse("drive", 16 * MIB)
        r = run("flash", image, drive, "--file", "--yes", "--json")
        events = [json.loads(line) for line in r.stdout.splitlines()]
        phases = [e["phase"] for e in events if e["event"] == "phase"]
        self.assertEqual(phases, ["preparing", "writing", "flushing", "verifying"])
        last = events[-1]
        self.assertEqual(last["event"], "finished")
        self.assertEqual(last["verdict"], "verified")
        self.assertEqual(last["coverage"], "every byte")
        self.assertEqual(last["image"]["sha256"], sha256(image))
        self.assertEqual(last["bytes_written"], 5 * MIB)
        self.assertEqual(last["bytes_verified"], 5 * MIB)

    def test_progress_is_monotonic_and_never_over_100(self):
        image = self.file("a.img", noise(40 * MIB))
        subprocess.run(["gzip", "-1", image], check=True)
        drive = self.sparse("drive", 64 * MIB)
        r = run("flash", f"{image}.gz", drive, "--file", "--yes")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        for word in ("Writing", "Verifying"):
            percents = [int(p) for p in re.findall(rf"{word} (\d+) %", r.stderr)]
            self.assertEqual(percents, sorted(percents))
            self.assertTrue(all(0 <= p <= 100 for p in percents))

    def test_phases_without_percent_take_one_line(self):
        # Raw, since its size is known: the first chunk, written last, is a tenth of it.
        image = self.file("a.img", noise(40 * MIB))
        r = run("flash", image, self.sparse("drive", 64 * MIB), "--file", "--yes")
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        for word in ("Preparing", "Flushing"):
            self.assertEqual(r.stderr.count(word), 1, r.stderr)

    def test_without_terminal_and_yes_it_refuses(self):
        image = self.file("a.img", noise(MIB))
        drive = self.sparse("drive", 4 * MIB)
        r = run("flash", image, drive, "--file")
        self.assertEqual(r.returncode, REFUSED)
        self.assertIn("Nothing was written", r.stderr)
        self.assertEqual(drive.read_bytes(), bytes(4 * MIB))

    def ask(self, answer, *args):
        """Runs burin on a terminal and types an answer; (exit status, all that it printed)."""
        pid, fd = pty.fork()
        if pid == 0:
            os.execvp(BURIN, [BURIN, *map(str, args)])
        out = b""
        typed = False
        while True:
            try:
                data = os.read(fd, 4096)
            except OSError:
                break
            if not data:
                break
            out += data
            if not typed and b"Type yes" in out:
                typed = True
                os.write(fd, answer.encode() + b"\n")
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), out.decode(errors="replace")

    def test_asks_on_a_terminal(self):
        image = self.file("a.img", noise(MIB))
        drive = self.sparse("drive", 4 * MIB)
        status, out = self.ask("no", "flash", image, drive, "--file")
        self.assertEqual(status, REFUSED, out)
        self.assertEqual(drive.read_bytes(), bytes(4 * MIB))
        status, out = self.ask("yes", "flash", image, drive, "--file")
        self.assertEqual(status, VERIFIED, out)

    def test_no_verify_is_not_called_verified(self):
        image = self.file("a.img", noise(MIB))
        drive = self.sparse("drive", 4 * MIB)
        r = run("flash", image, drive, "--file", "--yes", "--no-verify", "--json")
        self.assertEqual(r.returncode, 0)
        self.assertEqual(report(r)["verdict"], "written, not verified")
        self.assertEqual(report(r)["coverage"], "none")

    def test_no_sha256_leaves_it_out(self):
        image = self.file("a.img", noise(MIB))
        drive = self.sparse("drive", 4 * MIB)
        self.assertEqual(report(run("flash", image, drive, "--file", "--yes", "--no-sha256", "--json"))["image"]["sha256"], "")

    def test_verify_tells_equal_from_different(self):
        image = self.file("a.img", noise(9 * MIB))
        drive = self.file("drive", image.read_bytes() + bytes(MIB))
        r = run("verify", image, drive, "--file", "--json")
        self.assertEqual((r.returncode, report(r)["verdict"]), (VERIFIED, "verified"))
        before = drive.stat().st_mtime_ns
        with open(drive, "r+b") as f:
            f.seek(5 * MIB)
            f.write(bytes([image.read_bytes()[5 * MIB] ^ 1]))
        r = run("verify", image, drive, "--file", "--json")
        self.assertEqual(r.returncode, VERIFY_FAILED)
        self.assertEqual(report(r)["error"]["code"], "VerifyMismatch")
        self.assertEqual(report(r)["differing"][0]["offset"], 4 * MIB)
        self.assertNotEqual(before, 0)

    def test_ctrl_c_cancels_and_says_what_is_on_the_drive(self):
        drive, tell = self.bad_drive(64 * MIB, "speed write 4M")
        image = self.file("a.img", noise(48 * MIB))
        p = subprocess.Popen([BURIN, "flash", image, drive, "--loop", "--yes", "--json"], text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in p.stdout:
            event = json.loads(line)
            if event["event"] == "progress" and event["done"] > 0:
                break
        p.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, err = p.communicate(timeout=60)
        self.assertEqual(p.returncode, CANCELLED, err)
        last = json.loads(out.splitlines()[-1])
        self.assertEqual(last["verdict"], "cancelled")
        self.assertTrue(last["drive_touched"])
        self.assertLess(time.monotonic() - began, 30)  # not hung; four chunks at 4 MB/s are on their way

    def test_odd_file_names(self):
        data = noise(MIB)
        for name in (b"with space \xc3\xbc # 100% [x].img", b"a\nb.img", b"latin-\xe9.img", b"-dash.img", b"a&b';c.img"):
            path = os.fsencode(self.dir) + b"/" + name
            with open(path, "wb") as f:
                f.write(data)
            drive = self.sparse("drive", 4 * MIB)
            for environment in ({"LC_ALL": "C"}, {"LC_ALL": "C.UTF-8"}):
                r = subprocess.run([BURIN, "flash", path, drive, "--file", "--yes"], stdin=subprocess.DEVNULL,
                                   capture_output=True, env={**os.environ, **environment})
                self.assertEqual(r.returncode, VERIFIED, (name, environment, r.stderr))
        relative = subprocess.run([BURIN, "flash", "./-dash.img", "drive", "--file", "--yes"], cwd=self.dir,
                                  capture_output=True, stdin=subprocess.DEVNULL)
        self.assertEqual(relative.returncode, VERIFIED, relative.stderr)
        url = "file://" + str(self.dir) + "/with%20space%20%C3%BC%20%23%20100%25%20%5Bx%5D.img"
        self.assertEqual(run("flash", url, drive, "--file", "--yes").returncode, VERIFIED)

    def test_demo_flashes_a_virtual_drive(self):
        r = subprocess.run([BURIN, "demo", "--cli"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                           env={**os.environ, "XDG_CACHE_HOME": str(self.dir), "LC_ALL": "C.UTF-8"}, timeout=300)
        self.assertEqual(r.returncode, VERIFIED, r.stderr)
        self.assertIn("Verified", r.stdout)
        self.assertIn(f"rm -r '{self.dir}/burin/demo'", r.stdout)
        unpacked = subprocess.run(["xz", "-dc", self.dir / "burin/demo/demo.img.xz"], stdout=subprocess.PIPE, check=True).stdout
        with open(self.dir / "burin/demo/virtual-drive.img", "rb") as f:
            self.assertEqual(f.read(len(unpacked)), unpacked)
        self.assertEqual(unpacked[510:512], b"\x55\xaa")
        self.assertEqual(unpacked[MIB + 1080:MIB + 1082], b"\x53\xef")  # ext4's magic


if __name__ == "__main__":
    main()
