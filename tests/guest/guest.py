# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""A virtual machine with a real kernel, udev, udisks2, polkit and logind, whose drives can be plugged, pulled and
spoilt while it runs. It is emulated (no KVM needed): hashing in it is some thirty times slower than outside.

    g = Guest(folder); g.start()
    g.plug("usb", "stick", size="64M", serial="AA01")
    print(g.run("lsblk", user="tester").out)
    g.unplug("stick"); g.stop()
"""
import base64
import json
import os
import shutil
import socket
import subprocess
import time
from collections import namedtuple
from pathlib import Path

FAULTFILE = os.environ.get("FAULTFILE", "faultfile")
CACHE = Path(os.environ.get("BURIN_GUEST_CACHE") or
             Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "burin" / "guest")
Result = namedtuple("Result", "rc out err")
# What lets the kernel start sooner in emulation. With kaslr or mitigations nothing here would be tested better.
APPEND = ("rw quiet console=tty0 console=ttyS0 mitigations=off nokaslr nowatchdog audit=0 apparmor=0 "
          "tsc=reliable random.trust_cpu=on no_timer_check systemd.show_status=0")
PCI_SLOTS = 4


class GuestError(Exception):
    pass


def nbytes(text):
    """'8M' -> 8388608"""
    text = str(text)
    unit = "KMGT".find(text[-1:]) + 1
    return int(text[:-1]) << 10 * unit if unit else int(text)


class Channel:
    """A JSON conversation over one of QEMU's sockets."""

    def __init__(self, path, timeout=60):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(timeout)
        self.sock.connect(str(path))
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.sock.close()

    def send(self, name, arguments, prefix=b""):
        self.sock.sendall(prefix + json.dumps({"execute": name, "arguments": arguments}).encode() + b"\n")

    def read(self):
        while b"\n" not in self.buffer:
            data = self.sock.recv(1 << 16)
            if not data:
                raise GuestError("the conversation was closed")
            self.buffer += data
        line, self.buffer = self.buffer.split(b"\n", 1)
        return json.loads(line.lstrip(b"\xff") or b"{}")

    def call(self, name, **arguments):
        self.send(name, arguments)
        while True:
            reply = self.read()
            if "return" in reply:
                return reply["return"]
            if "error" in reply:
                raise GuestError(f"{name}: {reply['error']['desc']}")


class Guest:
    def __init__(self, folder):
        """The folder takes the guest's sockets, overlays, the files behind its drives, and what is shared with it:
        folder/share is /share inside."""
        self.dir = Path(folder)
        self.share = self.dir / "share"
        self.qemu = None
        self.results = {}   # the agent tells each only once

    # --- life ------------------------------------------------------------------------------------------------

    def start(self, cold=(), boot=False, root_on=None, wait=240):
        """cold: (bus, id, options) of the drives that are there from the start. With none of the options the guest
        goes on from the kept state, else it boots. root_on="usb": it runs from a stick."""
        kept = not (boot or cold or root_on)
        self.share.mkdir(parents=True, exist_ok=True)
        base, form = (CACHE / "kept.qcow2", "qcow2") if kept else (CACHE / "root.img", "raw")
        overlay = self.dir / "root.qcow2"
        subprocess.run(["qemu-img", "create", "-q", "-f", "qcow2", "-F", form, "-b", base, overlay], check=True)
        command = self._command(overlay, root_on)
        for bus, ident, options in cold:
            command += self._cold(bus, ident, options)
        if kept:
            command += ["-incoming", f"exec:zstd -dqc {CACHE}/kept.state"]
        with open(self.dir / "qemu.log", "w") as log:
            self.qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        self._await_agent(kept, time.monotonic() + wait)
        if kept:
            self.check(f"date -s @{time.time():.3f}")
        else:
            self.check("systemctl start polkit udisks2; for i in $(seq 200); do "
                       "[ -n \"$(loginctl show-user tester -p Display --value 2>/dev/null)\" ] && exit 0; "
                       "sleep 0.5; done; exit 1", timeout=wait)
        self.check("mkdir -p /share && mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576 share /share")

    def _command(self, overlay, root_on):
        q = ["qemu-system-x86_64", "-nodefaults", "-no-reboot", "-machine", "q35", "-display", "none", "-vga", "std",
             "-accel", "tcg,thread=multi,tb-size=512", "-smp", "2", "-m", "1536",
             "-cpu", "qemu64,+ssse3,+sse4.1,+sse4.2,+popcnt,+aes,+pclmulqdq",
             "-kernel", str(CACHE / "vmlinux"), "-initrd", str(CACHE / "initrd"),
             "-append", f"{APPEND} root={'LABEL=burinroot rootdelay=1' if root_on else '/dev/vda'}",
             "-chardev", f"socket,id=serial,path={self.dir}/serial,server=on,wait=off,logfile={self.dir}/console.log",
             "-serial", "chardev:serial",
             "-qmp", f"unix:{self.dir}/qmp,server=on,wait=off",
             "-device", "virtio-serial-pci",
             "-chardev", f"socket,id=agent,path={self.dir}/agent,server=on,wait=off",
             "-device", "virtserialport,chardev=agent,name=org.qemu.guest_agent.0",
             "-device", "virtio-rng-pci", "-device", "qemu-xhci,id=xhci,p2=15,p3=15",
             "-virtfs", f"local,path={self.share},mount_tag=share,security_model=none,multidevs=remap",
             "-drive", f"if=none,id=root,file={overlay},format=qcow2,cache=unsafe,discard=unmap"]
        q += ["-device", "usb-storage,id=rootstick,bus=xhci.0,drive=root,serial=ROOT01,removable=on" if root_on
              else "virtio-blk-pci,drive=root,serial=burinroot"]
        for i in range(PCI_SLOTS):   # to plug NVMe drives into
            q += ["-device", f"pcie-root-port,id=slot{i},chassis={i + 1},slot={i + 1}"]
        return q

    def _await_agent(self, kept, until):
        while True:
            if self.qemu.poll() is not None:
                raise GuestError("QEMU ended: " + (self.dir / "qemu.log").read_text())
            if time.monotonic() > until:
                raise GuestError(f"the guest does not answer, see {self.dir}/console.log")
            try:
                if kept and self.qmp("query-status")["status"] in ("inmigrate", "paused"):
                    self.qmp("cont")
                self._agent(timeout=2).sock.close()
                return
            except (OSError, GuestError, ValueError):
                time.sleep(0.1)

    def stop(self):
        """Ends QEMU at once: what is in the guest is thrown away anyway."""
        if self.qemu:
            self.qemu.kill()
            self.qemu.wait()
        for mount in self.dir.glob("*.fault"):
            subprocess.run(["umount", "-l", mount], stderr=subprocess.DEVNULL)

    # --- commands --------------------------------------------------------------------------------------------

    def _agent(self, timeout=60):
        channel = Channel(self.dir / "agent", timeout)
        # An earlier conversation that broke off may have left an answer behind.
        token = time.monotonic_ns() % (1 << 31)
        channel.send("guest-sync-delimited", {"id": token}, b"\xff")
        while channel.read().get("return") != token:
            pass
        return channel

    def spawn(self, command, user=None):
        """Starts a shell command, as root or in the session of a user; returns a handle for wait(). Both outputs of
        what it leaves in the background must be redirected, or waiting for it never ends."""
        argv = ["/bin/sh", "-c", command]
        if user:
            argv = ["/usr/local/sbin/in-session", user, *argv]
        env = ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL=C.UTF-8"]
        with self._agent() as agent:
            return agent.call("guest-exec", path=argv[0], arg=argv[1:], env=env, **{"capture-output": True})["pid"]

    def done(self, handle):
        """The result of a spawned command, or None while it runs."""
        if handle in self.results:
            return self.results[handle]
        with self._agent() as agent:
            status = agent.call("guest-exec-status", pid=handle)
        if not status["exited"]:
            return None
        texts = [base64.b64decode(status.get(k, "")).decode(errors="replace") for k in ("out-data", "err-data")]
        self.results[handle] = Result(status.get("exitcode", 128 + status.get("signal", 0)), *texts)
        return self.results[handle]

    def wait(self, handle, timeout=300):
        until = time.monotonic() + timeout
        while not (result := self.done(handle)):
            if time.monotonic() > until:
                raise GuestError(f"the guest's command still runs after {timeout} s")
            time.sleep(0.1)
        return result

    def run(self, command, user=None, timeout=300):
        return self.wait(self.spawn(command, user), timeout)

    def check(self, command, **options):
        result = self.run(command, **options)
        if result.rc:
            raise GuestError(f"{command!r} ended with {result.rc}: {result.out}{result.err}")
        return result.out

    # --- drives ----------------------------------------------------------------------------------------------

    def qmp(self, name, **arguments):
        with Channel(self.dir / "qmp") as channel:
            channel.read()   # the greeting
            channel.call("qmp_capabilities")
            return channel.call(name, **arguments)

    def backing(self, ident):
        """The file behind a drive."""
        return self.dir / f"{ident}.img"

    def _backing(self, ident, o):
        path = self.backing(ident)
        size = nbytes(o.get("size", "64M"))
        if not o.get("keep"):
            path.unlink(missing_ok=True)
        with open(path, "ab") as f:
            f.truncate(size)
        if not o.get("fault"):
            return path
        mount = self.dir / f"{ident}.fault"
        mount.mkdir(exist_ok=True)
        subprocess.run([FAULTFILE, path, str(size), mount, "-o", "max_threads=64"], check=True)
        return mount / "drive"

    def fault(self, ident, *commands):
        """Tells a drive plugged with fault=True to fail (tests/support/faultfile.c)."""
        (self.dir / f"{ident}.fault" / "ctl").write_text("\n".join(commands) + "\n")

    def _node(self, ident, o):
        return {"driver": "raw", "node-name": ident, "discard": "unmap", "read-only": bool(o.get("readonly")),
                "file": {"driver": "file", "filename": str(self._backing(ident, o)), "discard": "unmap", "locking": "off"}}

    def _scsi(self, ident, o):
        block = int(o.get("block", 512))
        return {**({"rotation_rate": 1} if o.get("ssd") else {}),
                "driver": "scsi-hd", "id": ident, "vendor": o.get("vendor", "Burin")[:8],
                "product": o.get("product", "Flash Disk")[:16], "ver": "1.0", "serial": o.get("serial", ident),
                "removable": bool(o.get("removable", True)), "logical_block_size": block, "physical_block_size": block,
                "rerror": "report", "werror": "report"}

    def plug(self, kind, ident, **o):
        """kind: usb (bulk only), uas, nvme. Options: size, serial, vendor, product, removable, block (its size),
        ssd, readonly, fault, bps_wr, bps_rd, keep (what its file holds)."""
        self.qmp("blockdev-add", **self._node(ident, o))
        serial = o.get("serial", ident)
        if kind == "nvme":
            used = {d["qdev_id"] for d in self.qmp("query-pci")[0]["devices"] if d.get("pci_bridge", {}).get("devices")}
            slot = next(f"slot{i}" for i in range(PCI_SLOTS) if f"slot{i}" not in used)
            self.qmp("device_add", driver="nvme", id=ident, drive=ident, serial=serial, bus=slot)
            return
        bus = f"{ident}-bus"
        self.qmp("device_add", driver={"usb": "usb-bot", "uas": "usb-uas"}[kind], id=bus, bus="xhci.0", attached=False,
                 serial=serial)
        address = {"lun": 0} if kind == "usb" else {"scsi-id": 0, "lun": 0}
        self.qmp("device_add", bus=f"{bus}.0", drive=ident, **self._scsi(ident, o), **address)
        limits = {k: nbytes(o[k]) for k in ("bps_wr", "bps_rd") if k in o}
        if limits:
            self.throttle(ident, **limits)
        self.qmp("qom-set", path=f"/machine/peripheral/{bus}", property="attached", value=True)

    def plug_reader(self, ident, **o):
        """A USB card reader with one empty slot."""
        bus = f"{ident}-bus"
        self.qmp("device_add", driver="usb-bot", id=bus, bus="xhci.0", attached=False, serial=o.get("serial", ident))
        self.qmp("human-monitor-command", **{"command-line": f"drive_add 0 if=none,id=drive-{ident}"})
        self.qmp("device_add", bus=f"{bus}.0", drive=f"drive-{ident}", lun=0,
                 **self._scsi(ident, {"product": "Card Reader", **o}))
        self.qmp("qom-set", path=f"/machine/peripheral/{bus}", property="attached", value=True)

    def insert(self, slot, card, **o):
        """Puts a card into a reader, or into the slot of a cold drive on the bus "sd"."""
        self.qmp("blockdev-change-medium", id=slot, filename=str(self._backing(card, o)), format="raw",
                 **{"read-only-mode": "read-only" if o.get("readonly") else "read-write"})

    def eject(self, slot):
        self.qmp("eject", id=slot, force=True)

    def throttle(self, ident, bps_wr=0, bps_rd=0):
        """Changes a drive's speed at any time; 0: no limit."""
        self.qmp("block_set_io_throttle", id=ident, bps=0, bps_rd=bps_rd, bps_wr=bps_wr, iops=0, iops_rd=0, iops_wr=0)

    def _peripherals(self):
        return {d["name"] for d in self.qmp("qom-list", path="/machine/peripheral")}

    def unplug(self, ident, wait=20):
        """Pulls a drive out, whatever the guest is doing with it."""
        device = f"{ident}-bus" if f"{ident}-bus" in self._peripherals() else ident
        self.qmp("device_del", id=device)
        until = time.monotonic() + wait
        while device in self._peripherals():
            if time.monotonic() > until:
                raise GuestError(f"the guest does not let go of {ident}")
            time.sleep(0.05)
        while time.monotonic() < until:   # its node is busy until the last request has ended
            try:
                self.qmp("blockdev-del", **{"node-name": ident})
                break
            except GuestError as e:
                if "in use" not in str(e) and "busy" not in str(e):
                    break
                time.sleep(0.1)

    def _cold(self, bus, ident, o):
        if bus == "sd":
            medium = f",file={self._backing(ident, o)},format=raw" if "size" in o else ""
            return ["-device", "sdhci-pci", "-drive", f"if=none,id=drive-{ident}{medium}",
                    "-device", f"sd-card,id={ident},drive=drive-{ident}"]
        node = ["-blockdev", json.dumps(self._node(ident, o))]
        if bus == "sata":
            return node + ["-device", f"ide-hd,id={ident},drive={ident},serial={ident},model=Internal disk"]
        raise GuestError(f"no drive on {bus} can be there from the start")

    # --- a display -------------------------------------------------------------------------------------------

    def start_display(self):
        """An X server with a window manager; what it shows lies in /tmp/screen as an xwd picture."""
        self.check("mkdir -m 777 -p /tmp/screen; for c in 'Xvfb :9 -screen 0 1280x800x24 -fbdir /tmp/screen' openbox; do "
                   "DISPLAY=:9 setsid setpriv --reuid=tester --regid=tester --init-groups $c >/dev/null 2>&1 & "
                   "for i in $(seq 100); do DISPLAY=:9 xdotool getmouselocation >/dev/null 2>&1 && break; sleep 0.2; done; "
                   "done; DISPLAY=:9 xdotool getmouselocation")

    def screenshot(self, to):
        self.check("cp /tmp/screen/Xvfb_screen0 /share/screen.xwd")
        subprocess.run(["convert", f"xwd:{self.share}/screen.xwd", to], check=True)


def machine():
    """What a kept state depends on."""
    version = subprocess.run(["qemu-system-x86_64", "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return version + " ".join(Guest("/x")._command("/x", None))


def keep_state():
    """Boots a guest and keeps the state from which start() goes on. Called by build-image."""
    folder = CACHE / "first"
    folder.mkdir()
    guest = Guest(folder)
    begin = time.monotonic()
    try:
        guest.start(boot=True)
        print(f"build-image: the guest booted in {time.monotonic() - begin:.0f} s")
        guest.start_display()
        guest.check("umount /share; udevadm settle; systemctl is-system-running --wait || true; sync")
        # Stopped first: the state of a running guest is kept wrong in emulation with several threads.
        guest.qmp("stop")
        guest.qmp("migrate-set-parameters", **{"max-bandwidth": 1 << 40})
        guest.qmp("migrate", uri=f"exec:zstd -q -1 > {CACHE}/kept.state")
        while (state := guest.qmp("query-migrate"))["status"] not in ("completed", "failed"):
            time.sleep(0.2)
        if state["status"] != "completed":
            raise GuestError(f"the state could not be kept: {state}")
        guest.qmp("quit")
        guest.qemu.wait()
        shutil.move(folder / "root.qcow2", CACHE / "kept.qcow2")
    finally:
        guest.stop()
    shutil.rmtree(folder)
