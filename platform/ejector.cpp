// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ejector.h"

#include "drivescan.h"
#include "driveunmounter.h"
#include "sysfile.h"
#include "udisks.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace burin {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto kPatience = 5s;
constexpr auto kPause = 200ms;

/// Whether another drive has the same SiblingId: the slots of a reader, the disks of a dock.
bool hasSibling(Udisks& udisks, const QString& drive)
{
    const auto mine = udisks.driveProperty(drive, u"SiblingId"_s);
    const auto all = udisks.drives();
    if (!mine || !all || !all->contains(drive)) {
        return true; // can't tell: leave the power on
    }
    if (mine->toString().isEmpty()) {
        return false;
    }
    return std::ranges::any_of(*all, [&](const QString& other) {
        if (other == drive) {
            return false;
        }
        const auto theirs = udisks.driveProperty(other, u"SiblingId"_s);
        return theirs && theirs->toString() == mine->toString();
    });
}

bool isTrue(Udisks& udisks, const QString& drive, const QString& property)
{
    const auto value = udisks.driveProperty(drive, property);
    return value && value->toBool();
}

/// Waits until udev has looked at what the job left on the drive. It begins when the drive is closed, and a
/// drive that goes meanwhile leaves read errors in the kernel's log. The file exists while udevd has work
/// (libudev: udev_queue_get_queue_is_empty).
void awaitUdev(const std::stop_token& stop)
{
    constexpr auto kPoll = 50ms;
    constexpr int kQuiet = 6; // it notices the close only a moment later
    const auto until = std::chrono::steady_clock::now() + kPatience;
    for (int quiet = 0;
         quiet < kQuiet && std::chrono::steady_clock::now() < until && !stop.stop_requested();) {
        std::this_thread::sleep_for(kPoll);
        quiet = exists("/run/udev/queue") ? 0 : quiet + 1;
    }
}

/// Unmounts, and powers off or ejects, once.
Result<void> ejectOnce(Udisks& udisks, const DriveInfo& drive, std::stop_token stop)
{
    DriveUnmounter unmounter(std::move(stop));
    if (auto unmounted = unmounter.unmountAll(drive.node); !unmounted) {
        return unmounted;
    }
    const auto path = udisks.driveOf(drive.node);
    if (!path) {
        // No udisks2: the drive is flushed and closed, nothing is mounted, and nobody is there to do more.
        return path.error().code == ErrorCode::ServiceMissing ? Result<void>()
                                                              : std::unexpected(path.error());
    }
    if (path->isEmpty() || *path == "/"_L1) {
        return {};
    }
    if (!drive.cardReader && isTrue(udisks, *path, u"CanPowerOff"_s) && !hasSibling(udisks, *path)) {
        // Not after an eject: a stick without its medium fails the flush that PowerOff begins with.
        auto off = udisks.powerOff(*path);
        if (off || off.error().code == ErrorCode::DriveBusy) {
            return off;
        }
    }
    return isTrue(udisks, *path, u"Ejectable"_s) ? udisks.eject(*path) : Result<void>();
}

/// The drive of the job, not one that has taken its node since.
bool isStillThere(const DriveInfo& drive)
{
    const auto scan = scanDrives({.loops = true, .keptFiles = {}, .files = {}});
    return std::ranges::any_of(scan.drives, [&](const DriveInfo& other) {
        return other.devno == drive.devno && other.diskseq == drive.diskseq;
    });
}

} // namespace

EjectOutcome ejectDrive(const DriveInfo& drive, std::stop_token stop)
{
    if (drive.bus == Bus::Loop || drive.bus == Bus::File) {
        return {.result = EjectResult::NothingToEject, .detail = {}};
    }
    if (!isStillThere(drive)) {
        return {.result = EjectResult::SafeToRemove, .detail = {}}; // pulled already; the job had closed it
    }
    awaitUdev(stop);
    Udisks udisks(stop);
    const auto until = std::chrono::steady_clock::now() + kPatience;
    while (true) {
        const auto done = ejectOnce(udisks, drive, stop);
        if (done) {
            return {.result = EjectResult::SafeToRemove, .detail = {}};
        }
        if (std::chrono::steady_clock::now() >= until || stop.stop_requested()) {
            auto detail = done.error().detail;
            if (done.error().code == ErrorCode::DriveBusy) {
                const auto holder = whatKeepsBusy(readSystemSnapshot(machineSources({})), drive.node);
                detail = holder.empty() ? detail : holder;
            }
            return {.result = EjectResult::Failed, .detail = detail};
        }
        std::this_thread::sleep_for(kPause);
    }
}

} // namespace burin
