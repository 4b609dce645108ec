// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "driveopener.h"

#include "drivescan.h"
#include "driveunmounter.h"
#include "engine/fdblockdevice.h"
#include "udisks.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

namespace burin {

/// The only maker of clearances; nothing else may be in this class.
class DriveClearanceIssuer
{
    static DriveClearance issue() { return DriveClearance(); }
    friend class DriveOpening;
};

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

namespace {

constexpr auto kBusyPatience = 10s;
constexpr auto kClaimPatience = 1s; ///< udevd takes an exclusive lock for the moment of a re-read
constexpr auto kLockPatience = 5s; ///< udev holds the lock while it probes (systemd: BLOCK_DEVICE_LOCKING.md)
constexpr auto kPause = 100ms;
constexpr auto kPartingPatience = 1s; ///< the kernel takes a pulled drive away in several steps

FlashError errorOfOpen(int sysErrno, const std::string& path)
{
    auto code = ErrorCode::Internal;
    switch (sysErrno) {
    case EBUSY:
        code = ErrorCode::DriveBusy;
        break;
    case EACCES:
    case EPERM:
        code = ErrorCode::AuthDenied;
        break;
    case EROFS:
        code = ErrorCode::DriveReadOnly;
        break;
    case ENOMEDIUM:
        code = ErrorCode::DriveNoMedium;
        break;
    case ENOENT:
    case ENODEV:
    case ENXIO:
        code = ErrorCode::DriveGone;
        break;
    case EINVAL:
        code = ErrorCode::DriveNoDirectIo;
        break;
    default:
        break;
    }
    return {.code = code, .phase = Phase::Preparing, .sysErrno = sysErrno, .offset = {}, .detail = path};
}

/// Whether that is what is left of a drive that is being pulled: sysfs empties before the node goes.
bool isGoing(const DriveInfo& found, const DriveInfo& wanted)
{
    const bool sameNumbers = found.diskseq == wanted.diskseq && found.size == wanted.size;
    const bool lostItsName =
        (found.serial.empty() && !wanted.serial.empty()) || (found.model.empty() && !wanted.model.empty());
    return found.diskseq == 0 || (found.size == 0 && wanted.size != 0) || (sameNumbers && lostItsName);
}

} // namespace

/// One opening, from the choice to the block device.
class DriveOpening
{
public:
    DriveOpening(const OpenRequest& request, std::stop_token stop)
        : m_request(request), m_wanted(request.drive), m_stop(std::move(stop)),
          m_unmounter(std::make_shared<DriveUnmounter>(m_stop))
    {
    }

    Result<std::unique_ptr<BlockDevice>> run();

private:
    [[nodiscard]] Result<void> judgeAfresh();
    [[nodiscard]] FlashError reasonBehind(FlashError error);
    [[nodiscard]] Result<void> checkAccess(const DriveInfo& drive) const;
    [[nodiscard]] Result<void> refuseIfClaimed();
    [[nodiscard]] Result<UniqueFd> openPatiently();
    [[nodiscard]] Result<UniqueFd> openOnce();
    [[nodiscard]] Result<void> takeLock(int fd);
    [[nodiscard]] Result<void> checkDescriptor(int fd) const;
    [[nodiscard]] Result<UniqueFd> openChecked();
    [[nodiscard]] Result<std::unique_ptr<BlockDevice>> openFile();
    [[nodiscard]] Result<std::unique_ptr<BlockDevice>> openDisk();
    bool pause();

    const OpenRequest& m_request;
    const DriveInfo& m_wanted;
    std::stop_token m_stop;
    std::shared_ptr<DriveUnmounter> m_unmounter; ///< shared with the device that is handed out
};

bool DriveOpening::pause()
{
    if (!m_stop.stop_requested()) {
        std::this_thread::sleep_for(kPause);
    }
    return !m_stop.stop_requested();
}

Result<void> DriveOpening::checkAccess(const DriveInfo& drive) const
{
    const auto needed = m_request.write ? Access::Write : Access::ReadOnly;
    if (drive.access >= needed) {
        return {};
    }
    return std::unexpected(protectionError(drive));
}

Result<void> DriveOpening::judgeAfresh()
{
    if (m_wanted.diskseq == 0) {
        return failure(ErrorCode::DriveProtected, "diskseq");
    }
    const auto scan = scanDrives({.loops = true, .keptFiles = m_request.keptFiles, .files = {}});
    const auto found = std::ranges::find_if(scan.drives, [this](const DriveInfo& drive) {
        return drive.bus != Bus::File && drive.devno == m_wanted.devno;
    });
    if (found == scan.drives.end()) {
        // Another drive that was given its node, or a partition, is not the one that was chosen.
        struct stat status = {};
        const bool other = ::stat(m_wanted.path.c_str(), &status) == 0 && status.st_rdev != m_wanted.devno;
        return failure(other ? ErrorCode::DriveChanged : ErrorCode::DriveGone);
    }
    if (isGoing(*found, m_wanted)) {
        return failure(ErrorCode::DriveGone, ENOMEDIUM);
    }
    if (found->diskseq != m_wanted.diskseq || found->size != m_wanted.size || found->serial != m_wanted.serial
        || found->model != m_wanted.model || found->path != m_wanted.path) {
        return failure(ErrorCode::DriveChanged);
    }
    return checkAccess(*found);
}

/// A drive that is being pulled gives errors of many kinds, and may seem another one, before it is gone.
FlashError DriveOpening::reasonBehind(FlashError error)
{
    const auto until = SteadyClock::now() + kPartingPatience;
    while (error.code != ErrorCode::DriveGone) {
        if (const auto judged = judgeAfresh(); !judged) {
            error = judged.error();
        }
        if (error.code != ErrorCode::DriveChanged || SteadyClock::now() >= until || !pause()) {
            break;
        }
    }
    return error;
}

Result<UniqueFd> DriveOpening::openOnce()
{
    const int flags = O_DIRECT | O_CLOEXEC | (m_request.write ? O_EXCL : 0);
    UniqueFd fd(::open(m_wanted.path.c_str(), flags | (m_request.write ? O_RDWR : O_RDONLY)));
    if (fd) {
        return fd;
    }
    if (errno != EACCES && errno != EPERM) {
        return std::unexpected(errorOfOpen(errno, m_wanted.path));
    }
    Udisks udisks(m_stop);
    return udisks.openDevice(m_wanted.node, m_request.write, flags);
}

/// Another program that writes the drive says so by an exclusive lock. It won't be done within our patience,
/// and nobody should have to give a password to learn that.
Result<void> DriveOpening::refuseIfClaimed()
{
    const auto until = SteadyClock::now() + kClaimPatience;
    while (true) {
        const auto holder = whoHasLocked(m_wanted.node);
        if (holder.empty()) {
            return {};
        }
        if (SteadyClock::now() >= until || !pause()) {
            return failure(ErrorCode::DriveBusy, EWOULDBLOCK, {}, holder);
        }
    }
}

Result<UniqueFd> DriveOpening::openPatiently()
{
    const auto until = SteadyClock::now() + kBusyPatience;
    while (true) {
        // Each time anew: while it waited the drive may have been swapped or taken into use, and then nothing
        // may be unmounted either.
        auto ready = judgeAfresh();
        if (ready && m_request.write) {
            ready = m_unmounter->unmountAll(m_wanted.node);
        }
        auto fd = ready ? openOnce() : Result<UniqueFd>(std::unexpected(ready.error()));
        if (fd || fd.error().code != ErrorCode::DriveBusy) {
            return fd;
        }
        if (SteadyClock::now() >= until || !pause()) {
            // Where nothing is known the service's own words would help nobody.
            return failure(ErrorCode::DriveBusy, EBUSY, {},
                           whatKeepsBusy(readSystemSnapshot(machineSources({})), m_wanted.node));
        }
    }
}

Result<void> DriveOpening::takeLock(int fd)
{
    const auto until = SteadyClock::now() + kLockPatience;
    while (::flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno != EWOULDBLOCK && errno != EINTR) {
            return failure(ErrorCode::Internal, errno);
        }
        if (SteadyClock::now() >= until || !pause()) {
            const auto holder = whatKeepsBusy(readSystemSnapshot(machineSources({})), m_wanted.node);
            return failure(ErrorCode::DriveBusy, EWOULDBLOCK, {}, holder.empty() ? "flock" : holder);
        }
    }
    return {};
}

Result<void> DriveOpening::checkDescriptor(int fd) const
{
    struct stat status = {};
    if (::fstat(fd, &status) != 0) {
        return failure(ErrorCode::Internal, errno);
    }
    if (!S_ISBLK(status.st_mode) || status.st_rdev != m_wanted.devno) {
        return failure(ErrorCode::DriveChanged);
    }
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0 || (flags & O_DIRECT) == 0) {
        return failure(ErrorCode::DriveNoDirectIo);
    }
    std::uint64_t diskseq = 0;
    Bytes size = 0;
    if (::ioctl(fd, BLKGETDISKSEQ, &diskseq) != 0 || ::ioctl(fd, BLKGETSIZE64, &size) != 0) {
        return std::unexpected(errorOfOpen(errno, m_wanted.path));
    }
    if (size == 0 && m_wanted.size != 0) {
        return failure(ErrorCode::DriveGone, ENOMEDIUM);
    }
    if (diskseq != m_wanted.diskseq || size != m_wanted.size) {
        return failure(ErrorCode::DriveChanged);
    }
    if (!m_request.write) {
        return {};
    }
    int readOnly = 0;
    // A read-only loop device can be opened for writing all the same.
    if ((flags & O_ACCMODE) != O_RDWR || ::ioctl(fd, BLKROGET, &readOnly) != 0 || readOnly != 0) {
        return failure(ErrorCode::DriveReadOnly);
    }
    return {};
}

Result<UniqueFd> DriveOpening::openChecked()
{
    if (m_request.write) {
        if (auto unclaimed = refuseIfClaimed(); !unclaimed) {
            return std::unexpected(unclaimed.error());
        }
    }
    auto fd = openPatiently();
    if (!fd) {
        return fd;
    }
    Result<void> checked = checkDescriptor(fd->get());
    if (checked) {
        // From here on O_EXCL keeps others out: what is fresh now stays so. sysfs is asked for serial and
        // model of this very number, and the descriptor once more. Before the lock: under it nobody, not even
        // the guard where udev has no data, looks at what the drive holds.
        checked = judgeAfresh();
    }
    if (checked && m_request.write) {
        checked = takeLock(fd->get());
    }
    if (checked) {
        checked = checkDescriptor(fd->get());
    }
    return checked ? std::move(fd) : Result<UniqueFd>(std::unexpected(checked.error()));
}

Result<std::unique_ptr<BlockDevice>> DriveOpening::openFile()
{
    const auto scan =
        scanDrives({.loops = false, .keptFiles = m_request.keptFiles, .files = {m_wanted.path}});
    const auto found = std::ranges::find(scan.drives, Bus::File, &DriveInfo::bus);
    if (found == scan.drives.end()) {
        return failure(ErrorCode::DriveGone, m_wanted.path);
    }
    if (auto allowed = checkAccess(*found); !allowed) {
        return std::unexpected(allowed.error());
    }
    UniqueFd fd(
        ::open(m_wanted.path.c_str(),
               (m_request.write ? O_RDWR : O_RDONLY) | O_DIRECT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!fd) {
        return std::unexpected(errorOfOpen(errno, m_wanted.path));
    }
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_dev != m_wanted.devno
        || status.st_ino != m_wanted.inode) {
        return failure(ErrorCode::DriveChanged);
    }
    if (m_request.write) {
        if (auto locked = takeLock(fd.get()); !locked) {
            return std::unexpected(locked.error());
        }
    }
    return FdBlockDevice::forFile(std::move(fd));
}

Result<std::unique_ptr<BlockDevice>> DriveOpening::openDisk()
{
    auto fd = openChecked();
    if (!fd) {
        return std::unexpected(reasonBehind(std::move(fd.error())));
    }
    const int raw = fd->get();
    auto device = FdBlockDevice::forDrive(
        std::move(*fd), DriveClearanceIssuer::issue(),
        // A job that ends before its first write leaves the drive as it was.
        {.putBack = [unmounter = m_unmounter] { unmounter->mountAgain(); }, .removable = m_wanted.removable});
    // What the device took down for the job's own checks is what was chosen.
    if (auto checked = device ? checkDescriptor(raw) : std::unexpected(device.error()); !checked) {
        return std::unexpected(reasonBehind(std::move(checked.error())));
    }
    return device;
}

Result<std::unique_ptr<BlockDevice>> DriveOpening::run()
{
    auto device = m_wanted.bus == Bus::File ? openFile() : openDisk();
    if (device && m_stop.stop_requested()) {
        // Nobody wants it any more. It is closed here, or nothing on it could be mounted again.
        device = failure(ErrorCode::AuthDismissed, "stopped");
    }
    if (!device) {
        m_unmounter->mountAgain();
    }
    return device;
}

Result<std::unique_ptr<BlockDevice>> openDrive(const OpenRequest& request, std::stop_token stop)
{
    return DriveOpening(request, std::move(stop)).run();
}

} // namespace burin
