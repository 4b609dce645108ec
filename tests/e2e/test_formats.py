# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Images packed by the tools that people use, whole and damaged: a good one arrives byte for byte, and no damaged
one ends as "verified" with other bytes on the drive. Where a format has no check at a place, the published sum of
the file must find it. BURIN_DAMAGES sets how many truncations and bit flips of each kind are tried."""
import concurrent.futures
import hashlib
import os
import random
import shutil
import subprocess
import zipfile

from lab import MIB, REFUSED, VERIFIED, VERIFY_FAILED, Lab, main, noise, report, run

DAMAGES = int(os.environ.get("BURIN_DAMAGES", "2"))
SIZE = 4 * MIB

# kind: (file name, shell command that makes it from "disk.img" in the current folder). {a} and {b} are the image's
# halves.
KINDS = {
    "gzip": ("x.img.gz", "gzip -c disk.img > {out}"),
    "gzip joined": ("x.img.gz", "(gzip -c a; gzip -c b) > {out}"),
    "pigz": ("x.img.gz", "pigz -c -p2 disk.img > {out}"),
    "bgzip": ("x.img.gz", "bgzip -c disk.img > {out}"),
    "bzip2": ("x.img.bz2", "bzip2 -c disk.img > {out}"),
    "pbzip2": ("x.img.bz2", "pbzip2 -c -p2 disk.img > {out}"),
    "xz": ("x.img.xz", "xz -c disk.img > {out}"),
    "xz -T": ("x.img.xz", "xz -T2 --block-size=1MiB -c disk.img > {out}"),
    "xz crc32": ("x.img.xz", "xz --check=crc32 -c disk.img > {out}"),
    "xz sha256": ("x.img.xz", "xz --check=sha256 -c disk.img > {out}"),
    "xz joined": ("x.img.xz", "(xz -c a; head -c 8 /dev/zero; xz -c b) > {out}"),
    "pixz": ("x.img.xz", "pixz -t -i disk.img -o {out}"),
    "zstd": ("x.img.zst", "zstd -qc disk.img > {out}"),
    "zstd -T --long": ("x.img.zst", "zstd -qc -T2 --long=30 disk.img > {out}"),
    "zstd pipe": ("x.img.zst", "zstd -qc < disk.img > {out}"),
    "zstd joined": ("x.img.zst", "(zstd -qc a; zstd -qc b) > {out}"),
    "lz4": ("x.img.lz4", "lz4 -qc disk.img > {out}"),
    "lzip": ("x.img.lz", "lzip -c disk.img > {out}"),
    "Info-ZIP": ("x.zip", "zip -q {out} disk.img"),
    "Info-ZIP stored": ("x.zip", "zip -q -0 {out} disk.img"),
    "Info-ZIP pipe": ("x.zip", "zip -q - disk.img | cat > {out}"),
    "7z zip": ("x.zip", "7z a -bso0 -tzip {out} disk.img"),
    "xz in zip": ("x.zip", "xz -k disk.img; zip -q {out} disk.img.xz; rm disk.img.xz"),
    "7z": ("x.7z", "7z a -bso0 {out} disk.img"),
    "7z bzip2": ("x.7z", "7z a -bso0 -m0=bzip2 {out} disk.img"),
    "7z stored": ("x.7z", "7z a -bso0 -mx=0 {out} disk.img"),
    "tar.gz": ("x.tar.gz", "tar -czf {out} disk.img"),
    "tar.xz sparse": ("x.tar.xz", "cp --sparse=always disk.img s.img; tar -cJSf {out} s.img"),
    # Without a check of their own, or not over the data:
    "raw": ("x.img", "cp disk.img {out}"),
    "xz no check": ("x.img.xz", "xz --check=none -c disk.img > {out}"),
    "zstd no check": ("x.img.zst", "zstd -qc --no-check disk.img > {out}"),
    "lzma": ("x.img.lzma", "lzma -c disk.img > {out}"),
    "tar": ("x.tar", "tar -cf {out} disk.img"),
    "VHD fixed": ("x.vhd", "qemu-img convert -O vpc -o subformat=fixed,force_size=on disk.img {out}"),
    "VHD dynamic": ("x.vhd", "qemu-img convert -O vpc -o force_size=on disk.img {out}"),
    "VHDX": ("x.vhdx", "qemu-img convert -O vhdx -o block_size=1M disk.img {out}"),
    "qcow2": ("x.qcow2", "qemu-img convert -O qcow2 disk.img {out}"),
    "qcow2 v2": ("x.qcow2", "qemu-img convert -O qcow2 -o compat=0.10 disk.img {out}"),
    "qcow2 packed": ("x.qcow2", "qemu-img convert -c -O qcow2 disk.img {out}"),
    "qcow2 zstd": ("x.qcow2", "qemu-img convert -c -O qcow2 -o compression_type=zstd disk.img {out}"),
    "VMDK": ("x.vmdk", "qemu-img convert -O vmdk disk.img {out}"),
    "VMDK stream": ("x.vmdk", "qemu-img convert -O vmdk -o subformat=streamOptimized disk.img {out}"),
    "Android sparse": ("x.simg", "img2simg disk.img {out}"),
}
UNCHECKED = list(KINDS)[list(KINDS).index("raw"):]


class Formats(Lab):
    def setUp(self):
        super().setUp()
        # Packable noise, a long hole and a part that doesn't pack.
        self.raw = (noise(700_000) + noise(50_000, 2) * 20 + bytes(MIB) + noise(900_000, 3)).ljust(SIZE, b"\0")
        (self.dir / "disk.img").write_bytes(self.raw)
        (self.dir / "a").write_bytes(self.raw[:2_000_000])
        (self.dir / "b").write_bytes(self.raw[2_000_000:])
        self.drive_number = 0

    def make(self, kind):
        name, command = KINDS[kind]
        folder = self.dir / kind.replace(" ", "-")
        folder.mkdir()
        out = folder / name
        subprocess.run(command.format(out=f"'{out}'"), shell=True, check=True, cwd=self.dir, stderr=subprocess.DEVNULL)
        return out

    def flash(self, path, *options):
        """(result, what the drive holds where the image should be)"""
        drive = path.with_suffix(".drive")
        with open(drive, "wb") as f:
            f.truncate(8 * MIB)
        r = run("flash", path, drive, "--file", "--yes", "--json", "--no-sha256", "--allow-short", *options)
        with open(drive, "rb") as f:
            held = f.read(SIZE)
        drive.unlink()
        return r, held

    def damaged(self, good, kind, seed):
        """The outcomes of one damaged copy: 'error', 'same' or 'by sum'."""
        rng = random.Random(f"{kind} {seed}")
        data = bytearray(good.read_bytes())
        cut = seed % 2 == 0
        if cut:
            del data[rng.randrange(1, len(data)):]
        else:
            data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        path = good.parent / f"{seed}-{good.name}"
        path.write_bytes(data)
        r, held = self.flash(path)
        what = f"{kind}, {'cut to' if cut else 'a bit flipped of'} {len(data)} bytes, seed {seed}: {r.stderr[-300:]}"
        if r.returncode != VERIFIED:
            error = report(r)["error"]["code"]
            self.assertTrue(error.startswith("Image"), what)
            return "error"
        if held == self.raw:
            return "same"
        self.assertIn(kind, UNCHECKED, "FALSE VERIFIED: " + what)
        r, _ = self.flash(path, "--sum", hashlib.sha256(good.read_bytes()).hexdigest())
        self.assertIn(r.returncode, (REFUSED, VERIFY_FAILED), what)
        self.assertEqual(report(r)["error"]["code"], "ImageCorrupt", what)
        return "by sum"

    def test_each_kind_whole_and_damaged(self):
        print(f"\n{'kind':16} {'good':5} {'cut':28} {'bit flipped':28} data after it")
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for kind in KINDS:
                with self.subTest(kind):
                    good = self.make(kind)
                    r, held = self.flash(good)
                    self.assertEqual(r.returncode, VERIFIED, (kind, r.stderr))
                    self.assertEqual(held, self.raw, kind)
                    outcomes = list(pool.map(lambda seed: self.damaged(good, kind, seed), range(2 * DAMAGES)))

                    def count(part):
                        return ", ".join(f"{part.count(o)} {o}" for o in ("error", "same", "by sum") if o in part)
                    print(f"{kind:16} {'exact':5} {count(outcomes[0::2]):28} {count(outcomes[1::2]):28} {self.trailing(good)}")
                    shutil.rmtree(good.parent)

    def trailing(self, good):
        """Rubbish behind the end is refused, or it is no part of the image (7z, VMDK): never other bytes."""
        path = good.parent / ("t-" + good.name)
        path.write_bytes(good.read_bytes() + noise(700, 9))
        r, held = self.flash(path)
        self.assertTrue(r.returncode != VERIFIED or held == self.raw, (good, r.stderr))
        return "refused" if r.returncode != VERIFIED else "passed over"

    def test_the_other_methods_of_zip(self):
        for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, zipfile.ZIP_STORED):
            path = self.dir / f"{method}.zip"
            with zipfile.ZipFile(path, "w", method) as z:
                z.write(self.dir / "disk.img", "folder/disk.img")
                z.writestr("README.txt", "read me " * 1000)
                z.writestr("__MACOSX/._disk.img", noise(5000))
            r, held = self.flash(path)
            self.assertEqual(r.returncode, VERIFIED, r.stderr)
            self.assertEqual(held, self.raw)

    def test_names_mean_nothing(self):
        """Each kind as .img, and a zip as .iso.download: read as what it is."""
        for kind in ("xz", "7z", "Info-ZIP", "qcow2", "tar.gz", "lz4"):
            good = self.make(kind)
            for name in ("disk.img", "disk.iso.download", "noending"):
                path = good.parent / name
                shutil.copy(good, path)
                r, held = self.flash(path)
                self.assertEqual((r.returncode, held == self.raw), (VERIFIED, True), (kind, name, r.stderr))


if __name__ == "__main__":
    main()
