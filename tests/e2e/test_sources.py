# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Where images come from and what is said of them: published checksums, the web, pipes, files that change or fail
while they are read."""
import bz2
import gzip
import hashlib
import http.server
import lzma
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

from lab import BURIN, CANCELLED, FAULTFILE, MIB, REFUSED, USAGE, VERIFIED, VERIFY_FAILED, WRITE_FAILED, Lab, main, noise, report, run


class Server:
    """One file over HTTP. Each answer sends at most `most` bytes of its body and then breaks the connection."""

    def __init__(self, data, most=None, ranges=True):
        self.requests = []
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                asked = self.headers.get("Range")
                outer.requests.append(asked)
                start = int(asked[6:].split("-")[0]) if asked and ranges else 0
                body = outer.data[start:]
                self.send_response(206 if start else 200)
                if start:
                    self.send_header("Content-Range", f"bytes {start}-{len(outer.data) - 1}/{len(outer.data)}")
                self.send_header("ETag", '"' + hashlib.md5(outer.data).hexdigest() + '"')
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                try:
                    self.wfile.write(body if outer.most is None else body[:outer.most])
                except (BrokenPipeError, ConnectionResetError):
                    pass
                if outer.most is not None and len(body) > outer.most:
                    self.close_connection = True

            do_HEAD = do_GET

            def log_message(self, *args):
                pass

        self.data, self.most = data, most
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/disk.img.xz"

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class Sources(Lab):
    def setUp(self):
        super().setUp()
        self.raw = noise(6 * MIB + 512)
        self.packed = lzma.compress(self.raw, preset=0)
        self.drive = self.sparse("drive", 16 * MIB)

    def flash(self, image, *options):
        return run("flash", image, self.drive, "--file", "--yes", "--json", *options)

    def arrived(self, result):
        self.assertEqual(result.returncode, VERIFIED, result.stderr)
        with open(self.drive, "rb") as f:
            self.assertEqual(f.read(len(self.raw)), self.raw)
        return report(result)

    def served(self, *args, **kw):
        server = Server(*args, **kw)
        self.addCleanup(server.close)
        return server

    # --- checksums

    def test_a_sum_beside_the_image(self):
        image = self.file("disk.img.xz", self.packed)
        of_file, of_image = (hashlib.sha256(d).hexdigest() for d in (self.packed, self.raw))
        for name, text, of in (("SHA256SUMS", f"{of_file}  disk.img.xz\n", "file"), ("disk.img.xz.sha256", of_file, "file"),
                               ("disk.img.sha256", f"{of_image}  disk.img\n", "image"),
                               ("disk.img.xz.md5", hashlib.md5(self.raw).hexdigest(), "image")):
            sums = self.file(name, text.encode())
            said = self.arrived(self.flash(image))["checksum"]
            self.assertEqual((said["matches"], said["of"]), (True, of), name)
            sums.unlink()

    def test_an_image_that_differs_from_its_sum(self):
        other = hashlib.sha256(b"other").hexdigest()
        for name, data in (("disk.img.xz", self.packed), ("disk.img", self.raw)):
            image = self.file(name, data)
            sums = self.file("SHA256SUMS", f"{other}  {name}\n".encode())
            r = self.flash(image)
            self.assertEqual(r.returncode, VERIFY_FAILED, r.stderr)
            said = report(r)
            self.assertEqual((said["error"]["code"], said["checksum"]["matches"]), ("ImageCorrupt", False))
            self.assertNotEqual(said["verdict"], "verified")
            r = run("flash", image, self.drive, "--file", "--yes")
            self.assertIn("must not be used", r.stdout)
            with open(self.drive, "rb") as f:  # the first chunk is written last: it never looks whole
                self.assertEqual(f.read(MIB), bytes(MIB))
            self.arrived(self.flash(image, "--no-sums"))
            sums.unlink()
            self.drive = self.sparse("drive", 16 * MIB)

    def test_data_after_the_end_is_damage_unless_a_sum_matches(self):
        """It may be a damaged next stream; only who made the image knows, and says it by a sum. (xz and zstd files are
        walked through from their ends before anything else, and refused as incomplete.)"""
        self.file("disk.img", self.raw)
        subprocess.run(["tar", "-czf", "disk.tar.gz", "disk.img"], cwd=self.dir, check=True)
        (self.dir / "disk.img").unlink()
        for name, packed in (("disk.img.bz2", bz2.compress(self.raw, 1)), ("disk.img.gz", gzip.compress(self.raw, 1)),
                             ("disk.tar.gz", (self.dir / "disk.tar.gz").read_bytes())):
            whole = packed + noise(700_000, 5)
            image = self.file(name, whole)
            for of in (None, whole, self.raw, packed):
                sums = self.file(name + ".sha256", hashlib.sha256(of).hexdigest().encode()) if of else None
                r = self.flash(image)
                if of in (whole, self.raw):
                    self.arrived(r)
                else:
                    # Without a sum it may be seen before the drive is touched.
                    self.assertIn(r.returncode, (VERIFY_FAILED,) if of else (REFUSED, WRITE_FAILED), (name, r.stderr))
                    self.assertEqual(report(r)["error"]["code"], "ImageCorrupt")
                if sums:
                    sums.unlink()

    def test_a_sum_that_another_contradicts_is_told(self):
        image = self.file("disk.img.xz", self.packed)
        self.file("disk.img.xz.sha256", hashlib.sha256(self.packed).hexdigest().encode())
        self.file("MD5SUMS", f"{'0' * 32}  disk.img.xz\n".encode())
        said = self.arrived(self.flash(image))["checksum"]
        self.assertTrue(said["matches"])
        self.assertEqual(said["contradicted_by"], str(self.dir / "MD5SUMS"))
        r = run("flash", image, self.drive, "--file", "--yes")
        self.assertIn("MD5 differs from MD5SUMS", r.stdout)

    def test_of_a_container_it_is_known_before_anything_is_written(self):
        self.file("disk.img", self.raw)
        subprocess.run(["zip", "-q", "disk.zip", "disk.img"], cwd=self.dir, check=True)
        (self.dir / "disk.img").unlink()
        self.file("MD5SUMS", f"{'0' * 32}  disk.zip\n".encode())
        r = self.flash(self.dir / "disk.zip")
        self.assertEqual(r.returncode, REFUSED, r.stderr)
        self.assertFalse(report(r)["drive_touched"])
        self.file("MD5SUMS", f"{hashlib.md5((self.dir / 'disk.zip').read_bytes()).hexdigest()}  disk.zip\n".encode())
        self.assertTrue(self.arrived(self.flash(self.dir / "disk.zip"))["checksum"]["matches"])

    def test_a_pasted_sum(self):
        image = self.file("disk.img.xz", self.packed)
        right = hashlib.sha256(self.packed).hexdigest()
        spaced = "SHA256: " + " ".join(right.upper()[i:i + 8] for i in range(0, 64, 8))
        self.assertTrue(self.arrived(self.flash(image, "--sha256", spaced))["checksum"]["matches"])
        self.assertEqual(self.flash(image, "--sha256", right[:63] + ("1" if right[63] != "1" else "2")).returncode, VERIFY_FAILED)
        self.assertEqual(self.flash(image, "--sha256", right[:63]).returncode, USAGE)
        self.assertTrue(self.arrived(self.flash(image, "--sum", hashlib.sha512(self.raw).hexdigest()))["checksum"]["matches"])

    # --- the web

    def test_an_address(self):
        server = self.served(self.packed)
        said = self.arrived(self.flash(server.url, "--sha256", hashlib.sha256(self.packed).hexdigest()))
        self.assertEqual(said["checksum"]["of"], "file")

    def test_a_connection_that_breaks_again_and_again(self):
        server = self.served(self.packed, most=700_000)
        self.arrived(self.flash(server.url))
        self.assertGreater(sum(1 for r in server.requests if r), 5)

    def test_a_download_cut_short_at_the_server(self):
        server = self.served(self.packed[:-2000])
        r = self.flash(server.url)
        self.assertEqual(r.returncode, WRITE_FAILED, r.stderr)
        self.assertEqual(report(r)["error"]["code"], "ImageTruncated")

    def test_the_file_changes_at_the_server(self):
        server = self.served(self.packed, most=3_000_000)
        original = server.data

        class Changing(bytes):
            pass

        def change():
            while not any(server.requests[1:]):  # the probe has come and gone, and the job resumes
                time.sleep(0.01)
            server.data = Changing(original[:-1] + b"x")

        threading.Thread(target=change, daemon=True).start()
        r = self.flash(server.url)
        self.assertIn(r.returncode, (VERIFIED, REFUSED, WRITE_FAILED), r.stderr)
        if r.returncode == VERIFIED:  # the change came after the last byte
            self.arrived(r)
        else:
            self.assertIn(report(r)["error"]["code"], ("ImageChanged", "ImageCorrupt"))

    def test_no_such_page_and_no_server(self):
        server = self.served(b"<html>not an image</html>" * 50)
        r = self.flash(server.url)
        self.assertEqual((r.returncode, report(r)["error"]["code"]), (REFUSED, "ImageFormatUnknown"))
        server.close()
        r = self.flash("http://127.0.0.1:1/disk.img")
        self.assertEqual((r.returncode, report(r)["error"]["code"]), (REFUSED, "ImageUnreadable"))

    # --- pipes

    def test_a_pipe_that_hangs_can_be_cancelled(self):
        writer = subprocess.Popen(["sh", "-c", f"head -c 5000000 '{self.file('d.img', self.raw)}'; exec sleep 600"],
                                  stdout=subprocess.PIPE)
        self.addCleanup(writer.kill)
        burin = subprocess.Popen([BURIN, "flash", "-", self.drive, "--file", "--yes", "--json"], stdin=writer.stdout,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.addCleanup(burin.kill)
        for line in burin.stdout:
            if '"phase":"writing"' in line:
                break
        burin.send_signal(signal.SIGINT)
        burin.communicate(timeout=60)
        self.assertEqual(burin.returncode, CANCELLED)

    # --- files that change or fail

    def mounted(self, data):
        """The image on a mount of its own, whose "ctl" takes what shall go wrong."""
        mnt = Path(tempfile.mkdtemp(dir=self.dir))
        store = self.file(mnt.name + ".store", data)
        subprocess.run([FAULTFILE, store, str(len(data)), mnt, "-o", "max_threads=64"], check=True)
        self.addCleanup(subprocess.run, ["umount", "-l", mnt])
        self.addCleanup((mnt / "ctl").write_text, "reset\nresume\n")
        return mnt

    def test_a_mount_that_hangs(self):
        for answers in (True, False):
            mnt = self.mounted(noise(15 * MIB))
            (mnt / "ctl").write_text("speed read 4M\n")
            burin = subprocess.Popen([BURIN, "flash", mnt / "drive", self.drive, "--file", "--yes", "--json"],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.addCleanup(burin.kill)
            for line in burin.stdout:
                if '"phase":"writing"' in line:
                    break
            (mnt / "ctl").write_text("stall\n")
            burin.send_signal(signal.SIGINT)
            for line in burin.stderr:
                if "once more" in line:
                    break
            if answers:
                (mnt / "ctl").write_text("reset\nresume\n")
            else:
                burin.send_signal(signal.SIGINT)
            burin.communicate(timeout=60)
            self.assertEqual(burin.returncode, CANCELLED)

    @unittest.skipUnless(shutil.which("Xvfb") and shutil.which("xdotool"), "Xvfb and xdotool are missing")
    def test_a_window_whose_image_hangs_can_be_used_and_closed(self):
        mnt = self.mounted(self.raw)
        (mnt / "ctl").write_text("stall\n")
        ready, number = os.pipe()
        screen = subprocess.Popen(["Xvfb", "-displayfd", str(number), "-screen", "0", "1000x800x24"], pass_fds=[number],
                                  stderr=subprocess.DEVNULL)
        self.addCleanup(screen.kill)
        os.close(number)
        with os.fdopen(ready) as told:
            display = ":" + told.readline().strip()
        # libxkbcommon-x11 gives strndup() a piece without an end, which is right, but not to strict checks.
        lenient = os.environ.get("ASAN_OPTIONS", "") + ":strict_string_checks=0"
        env = os.environ | {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "XDG_CONFIG_HOME": str(self.dir), "ASAN_OPTIONS": lenient}
        burin = subprocess.Popen([BURIN, mnt / "drive"], env=env)
        self.addCleanup(burin.kill)

        def xdotool(*arguments):
            subprocess.run(["xdotool", *arguments], env=env, check=True, timeout=60, stdout=subprocess.DEVNULL)

        xdotool("search", "--sync", "--onlyvisible", "--name", "Burin", "windowfocus", "--sync")
        xdotool("key", "ctrl+q")
        # All has ended but the thread that the kernel keeps until the mount answers.
        end = time.monotonic() + 60
        while Path(f"/proc/{burin.pid}/stat").read_text().split()[2] != "Z":
            self.assertLess(time.monotonic(), end, "it still runs without a window")
            time.sleep(0.1)
        (mnt / "ctl").write_text("reset\nresume\n")
        self.assertEqual(burin.wait(timeout=60), 0)

    def test_a_read_error_in_the_image(self):
        mnt = self.mounted(self.raw)
        self.arrived(self.flash(mnt / "drive"))
        (mnt / "ctl").write_text(f"fail read 5 {5 * MIB} 4096\n")
        r = self.flash(mnt / "drive")
        self.assertEqual(r.returncode, WRITE_FAILED, r.stderr)
        self.assertEqual(report(r)["error"]["code"], "ImageUnreadable")

    def test_a_file_that_grows_or_shrinks_meanwhile(self):
        """It changes while the drive's first bytes are written."""
        for change in ("grow", "shrink", "touch"):
            image = self.file("disk.img", self.raw)
            burin = subprocess.Popen([BURIN, "flash", image, self.drive, "--file", "--yes", "--json"], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
            self.addCleanup(burin.kill)
            for line in burin.stdout:
                if '"phase"' in line:  # the image was looked at
                    break
            with open(image, "r+b") as f:
                if change == "shrink":
                    f.truncate(len(self.raw) // 2)
                else:
                    f.seek(0, 2 if change == "grow" else 0)
                    f.write(b"x")
            out, err = burin.communicate(timeout=60)
            said = [line for line in out.splitlines() if '"finished"' in line][-1]
            if burin.returncode != VERIFIED:
                self.assertIn(burin.returncode, (REFUSED, WRITE_FAILED), err)
                self.assertTrue("ImageChanged" in said or "ImageTruncated" in said, said)
            else:  # all had been read before
                with open(self.drive, "rb") as f:
                    self.assertEqual(f.read(len(self.raw)), self.raw)


if __name__ == "__main__":
    main()
