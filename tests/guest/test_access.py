# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
"""Rights, mounts and others who hold the drive: each refusal in its own words, and with nothing written."""
import json
import shutil
import time
from pathlib import Path

from lab import MIB, REFUSED, VERIFIED, GuestCase, quick


class Refusals(GuestCase):
    def refused(self, node, code, *words, prefix=""):
        _, path = self.image(MIB)
        self.jobs += 1
        r = self.guest.run(f"{prefix} burin flash {path} /dev/{node} --yes --json", user="tester")
        report = json.loads(r.out.strip().splitlines()[-1])
        self.assertEqual((r.rc, report["error"]["code"], report["drive_touched"]), (REFUSED, code, False), report)
        for word in words:
            self.assertIn(word, report["error"]["text"])
        return r

    def test_no_udisks(self):
        node = self.plug("usb", "stick")
        self.guest.check("systemctl mask --runtime --now udisks2")
        self.refused(node, "ServiceMissing")
        self.guest.check("systemctl unmask --runtime udisks2; rm /usr/share/dbus-1/system-services/org.freedesktop.UDisks2.service; "
                         "systemctl reload dbus; systemctl stop udisks2")
        self.refused(node, "ServiceMissing", "udisks2")
        self.assert_blank("stick")

    def test_no_dbus(self):
        node = self.plug("usb", "stick")
        self.refused(node, "ServiceMissing", prefix="DBUS_SYSTEM_BUS_ADDRESS=unix:path=/nowhere")
        self.assert_blank("stick")

    def test_polkit_says_no(self):
        node = self.plug("usb", "stick")
        self.polkit("no")
        self.refused(node, "AuthDenied", "Nothing was written")
        self.assert_blank("stick")

    def test_no_polkit_agent(self):
        node = self.plug("usb", "stick")
        self.polkit("ask")
        self.refused(node, "AuthNoAgent", "Nothing was written")
        self.assert_blank("stick")

    def agent(self, manner):
        """A polkit agent in tester's session: "dismiss" closes each question, "wait" leaves it open, "answer PASSWORD"
        types that. It counts them."""
        shutil.copy(Path(__file__).parent / "polkit-agent", self.share)
        self.guest.check(f"setsid python3 /share/polkit-agent {manner} >/share/agent.txt 2>&1 & "
                         "for i in $(seq 100); do grep -q ready /share/agent.txt && exit 0; sleep 0.1; done; cat /share/agent.txt; exit 1",
                         user="tester")

    def questions(self):
        return (self.share / "agent.txt").read_text().count("asked")

    def test_question_dismissed(self):
        node = self.plug("usb", "stick")
        self.polkit("ask")
        self.agent("dismiss")
        self.refused(node, "AuthDismissed", "Nothing was written")
        self.assertEqual(self.questions(), 1)
        self.assert_blank("stick")

    def test_password_asked_once_and_right(self):
        """One question for the write and the read-back."""
        node = self.plug("usb", "stick")
        self.polkit("ask")
        self.agent("answer root")
        data, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assertEqual(self.questions(), 1)
        self.assert_holds("stick", data)

    def test_password_wrong(self):
        node = self.plug("usb", "stick")
        self.polkit("ask")
        self.agent("answer nonsense")
        self.refused(node, "AuthDenied", "Nothing was written")
        self.assert_blank("stick")

    def test_stopped_while_the_question_is_open(self):
        node = self.plug("usb", "stick")
        self.polkit("ask")
        self.agent("wait")
        _, path = self.image(MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        self.guest.check("for i in $(seq 200); do grep -q asked /share/agent.txt && exit 0; sleep 0.1; done; exit 1")
        self.guest.check("pkill -INT -x burin")
        job.end(timeout=30)
        self.assertEqual(job.report["verdict"], "cancelled")
        self.assertFalse(job.report["drive_touched"])
        self.assert_blank("stick")

    def test_drive_swapped_between_choice_and_opening(self):
        """While polkit takes its time the stick is pulled, and another gets its node."""
        first = self.plug("usb", "first")
        (self.share / "rule").write_text('polkit.addRule(function(action, subject) {\n'
                                         '    if (action.id.indexOf("org.freedesktop.udisks2.open-device") == 0) {\n'
                                         '        polkit.spawn(["/bin/sleep", "8"]);\n        return "yes";\n    }\n});\n')
        self.guest.check("install -m 644 /share/rule /etc/polkit-1/rules.d/00-tester.rules; systemctl restart polkit")
        _, path = self.image(8 * MIB)
        job = self.start(f"flash {path} /dev/{first} --yes")
        self.guest.check("for i in $(seq 200); do pgrep -x sleep -U polkitd >/dev/null && exit 0; sleep 0.1; done; exit 1")
        self.guest.unplug("first")
        self.guest.plug("usb", "second", serial="SECOND")
        job.end(timeout=90)
        self.assertEqual(self.node("SECOND"), first)
        self.assertEqual(job.status, REFUSED, job.report)
        self.assertIn(job.report["error"]["code"], ("DriveChanged", "DriveGone"))
        self.assertFalse(job.report["drive_touched"])
        self.assert_blank("second")


class Mounted(GuestCase):
    def partitioned(self, ident, script, **options):
        node = self.plug("usb", ident, **options)
        (self.share / "table").write_text(script)
        self.guest.check(f"sfdisk -q /dev/{node} < /share/table; udevadm settle")
        return node

    def mounts(self, node):
        return [line.split()[0] for line in self.guest.check("cat /proc/mounts").splitlines() if line.startswith(f"/dev/{node}")]

    def test_many_mounts_with_odd_names(self):
        node = self.partitioned("stick", "label: gpt\nsize=16M\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n 'MY STICK' /dev/{node}1 && mkfs.ext4 -q -L 'd\u00e4ta:x' /dev/{node}2; udevadm settle")
        self.guest.check(f"udisksctl mount -b /dev/{node}1 && udisksctl mount -b /dev/{node}2", user="tester")
        self.guest.check(f"mkdir -p '/mnt/a b' '/media/x\n\u00fc\\y'; mount /dev/{node}2 '/mnt/a b'; mkdir '/mnt/a b/sub'; "
                         f"mount --bind '/mnt/a b/sub' '/media/x\n\u00fc\\y'; mount /dev/{node}1 '/mnt/a b/sub'")
        self.assertGreaterEqual(len(self.mounts(node)), 5)
        row = self.list()[node]
        self.assertEqual(row["access"], "write")
        self.assertIn("MY STICK", [c["label"] for c in row["contents"]])
        data, path = self.image(8 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assert_holds("stick", data)
        self.assertEqual(self.mounts(node), [])

    def test_mounted_again_when_denied(self):
        node = self.partitioned("stick", "label: gpt\nsize=16M\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n ONE /dev/{node}1; mkfs.ext4 -q -L two /dev/{node}2; udevadm settle")
        self.guest.check(f"udisksctl mount -b /dev/{node}1 && udisksctl mount -b /dev/{node}2", user="tester")
        before = self.mounts(node)
        self.polkit("ask")   # unmounting is allowed then, opening is not
        _, path = self.image(8 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), REFUSED, "AuthNoAgent")
        self.assertEqual(sorted(self.mounts(node)), sorted(before))

    def test_mounted_again_when_the_image_is_bad(self):
        """Known before the first write, so the stick is as it was."""
        node = self.partitioned("stick", "label: gpt\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n ONE /dev/{node}1; udevadm settle")
        self.guest.check(f"udisksctl mount -b /dev/{node}1", user="tester")
        before = self.mounts(node)
        # A gzip file that promises much and breaks off within the first chunk.
        self.image(3 * MIB)
        self.guest.check("gzip -1c /share/image.img | head -c 1000000 > /share/cut.gz")
        job = self.flash("/share/cut.gz", f"/dev/{node}")
        self.assert_ended(job, REFUSED, "ImageTruncated")
        self.assertFalse(job.report["drive_touched"])
        self.assertEqual(self.mounts(node), before)

    def unlocked(self):
        node = self.partitioned("stick", "label: gpt\nsize=40M\n")
        self.guest.check(f"printf secret > /share/key; cryptsetup luksFormat -q --type luks2 --pbkdf pbkdf2 "
                         f"--pbkdf-force-iterations 1000 /dev/{node}1 --key-file /share/key; udevadm settle")
        self.guest.check(f"udisksctl unlock -b /dev/{node}1 --key-file /share/key", user="tester")
        mapped = self.guest.check("lsblk -nro NAME,TYPE | awk '$2 == \"crypt\" { print $1 }'").strip()
        self.guest.check(f"mkfs.ext4 -q -L inside /dev/mapper/{mapped}; udevadm settle; sleep 1")
        self.guest.check(f"udisksctl mount -b /dev/mapper/{mapped}", user="tester")
        return node, mapped

    def test_unlocked_luks_is_locked(self):
        node, mapped = self.unlocked()
        self.assertIn("inside", [c["label"] for c in self.list()[node]["contents"]])
        data, path = self.image(8 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}", "--yes --eject"), VERIFIED)
        self.assert_holds("stick", data)
        self.assertEqual(self.guest.run(f"test -e /dev/mapper/{mapped}").rc, 1)

    @quick
    def test_a_busy_file_system_names_its_holder(self):
        node = self.partitioned("stick", "label: gpt\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n ONE /dev/{node}1; udevadm settle")
        self.guest.check(f"udisksctl mount -b /dev/{node}1", user="tester")
        point = self.guest.check(f"findmnt -nro TARGET /dev/{node}1").strip()
        self.guest.check(f"cp /bin/sleep /tmp/editor; cd {point}; setsid /tmp/editor 1000 >/dev/null 2>&1 &", user="tester")
        _, path = self.image(8 * MIB)
        job = self.flash(path, f"/dev/{node}")
        self.assert_ended(job, REFUSED, "DriveBusy")
        self.assertIn("editor", job.words())
        self.assertIn(point, job.words())
        self.assertEqual(len(self.mounts(node)), 1)
        self.guest.check("pkill -x editor")
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)

    def test_pulled_while_mounted(self):
        """The row goes with the drive, whatever is left of its mount."""
        node = self.partitioned("stick", "label: dos\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n ONE /dev/{node}1; udevadm settle")
        self.guest.check(f"udisksctl mount -b /dev/{node}1", user="tester")
        self.guest.unplug("stick")
        self.wait_gone(node)
        self.assertEqual([row for row in self.list() if row.startswith("sd")], [])
        node = self.plug("usb", "next")
        data, path = self.image(4 * MIB)
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assert_holds("next", data)

    def test_an_automounter(self):
        """One that mounts what appears when it appears: during the job it finds nothing, and eject unmounts what it mounts."""
        node = self.partitioned("stick", "label: dos\nsize=16M\n")
        self.guest.check(f"mkfs.vfat -n ONE /dev/{node}1; udevadm settle; dd if=/dev/{node} of=/share/good.img bs=1M count=20 status=none")
        (self.share / "automounter").write_text(
            "mount_it() { [ -b $1 ] && ! grep -q \"^$1 \" /proc/mounts && udisksctl mount -b $1; }\n"
            "mount_it /dev/$1\n"
            "udevadm monitor --udev --subsystem-match=block | while read -r _ _ action path _; do\n"
            "    case $action in add|change) echo $action $path; mount_it /dev/${path##*/};; esac\ndone\n")
        self.guest.check(f"setsid bash /share/automounter {node}1 >/share/automounter.txt 2>&1 &", user="tester")
        self.guest.check(f"for i in $(seq 100); do grep -q ^/dev/{node}1 /proc/mounts && exit 0; sleep 0.1; done; exit 1")
        job = self.flash("/share/good.img", f"/dev/{node}", "--yes --eject")
        self.assert_ended(job, VERIFIED)
        self.assertIn("safe to remove", job.words())
        self.wait_gone(node)
        shutil.copy(self.share / "automounter.txt", self.evidence)
        self.assertGreaterEqual((self.share / "automounter.txt").read_text().count("Mounted"), 1)


class Others(GuestCase):
    def test_a_second_burin_is_refused_at_once(self):
        node = self.plug("usb", "stick", bps_wr="4M")
        data, path = self.image(40 * MIB)
        first = self.start(f"flash {path} /dev/{node} --yes")
        first.until_in("writing", 4 * MIB)
        begin = time.monotonic()
        second = self.flash(path, f"/dev/{node}")
        self.assert_ended(second, REFUSED, "DriveBusy")
        self.assertLess(time.monotonic() - begin, 8)   # it waits ten seconds for others
        self.assertIn("burin (", second.words())
        self.assert_ended(first.end(), VERIFIED)
        self.assert_holds("stick", data)

    @quick
    def test_killed_in_mid_write(self):
        """Neither lock nor inhibitor nor mount stays behind, and the next start works."""
        node = self.plug("usb", "stick", bps_wr="4M")
        data, path = self.image(24 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 8 * MIB)
        inhibitors = self.guest.check("systemd-inhibit --list --no-legend")
        self.assertIn("Burin", inhibitors)
        self.assertIn("sleep", inhibitors)
        self.guest.check("pkill -KILL -x burin")
        self.guest.wait(job.handle)
        self.assertNotIn("Burin", self.guest.check("systemd-inhibit --list --no-legend"))
        self.guest.check(f"flock -w 30 -x /dev/{node} true")
        self.guest.throttle("stick")
        self.assert_ended(self.flash(path, f"/dev/{node}"), VERIFIED)
        self.assert_holds("stick", data)
        self.assertNotIn("Burin", self.guest.check("systemd-inhibit --list --no-legend"))

    def test_sleep_is_refused_during_a_job(self):
        node = self.plug("usb", "stick", bps_wr="4M")
        _, path = self.image(24 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 4 * MIB)
        self.assertNotEqual(self.guest.run("systemctl suspend --check-inhibitors=yes", user="tester").rc, 0)
        self.assert_ended(job.end(), VERIFIED)

    def test_cancelled(self):
        node = self.plug("usb", "stick", bps_wr="4M")
        _, path = self.image(24 * MIB)
        job = self.start(f"flash {path} /dev/{node} --yes")
        job.until_in("writing", 4 * MIB)
        self.guest.check("pkill -INT -x burin")
        job.end(timeout=30)
        self.assertEqual((job.status, job.report["verdict"]), (5, "cancelled"))
        self.assertNotIn("Burin", self.guest.check("systemd-inhibit --list --no-legend"))
