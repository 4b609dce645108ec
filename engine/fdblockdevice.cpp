// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "fdblockdevice.h"

#include "alignedbuffer.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace burin {

using namespace std::chrono_literals;

namespace {

constexpr int kPartingChecks = 10;
constexpr auto kPartingPause = 100ms;

bool isGone(int sysErrno)
{
    return sysErrno == ENODEV || sysErrno == ENXIO || sysErrno == ENOMEDIUM;
}

ErrorCode codeFor(int sysErrno, ErrorCode otherwise)
{
    if (isGone(sysErrno)) {
        return ErrorCode::DriveGone;
    }
    return sysErrno == EROFS || sysErrno == EPERM ? ErrorCode::DriveReadOnly : otherwise;
}

Result<void> needDirectIo(int fd)
{
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags < 0) {
        return failure(ErrorCode::Internal, errno);
    }
    if ((flags & O_DIRECT) == 0) {
        return failure(ErrorCode::DriveNoDirectIo);
    }
    return {};
}

bool isUsableBlock(std::uint64_t block)
{
    return block >= 512 && block <= AlignedBuffer::kAlignment && (block & (block - 1)) == 0;
}

/// What O_DIRECT asks of offsets in a regular file, 512 where the kernel or the file system doesn't tell
/// (statx(2), since Linux 6.1).
std::uint64_t directIoBlock(int fd)
{
#ifdef STATX_DIOALIGN
    struct statx found = {};
    if (::statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &found) == 0
        && (found.stx_mask & STATX_DIOALIGN) != 0) {
        return std::max<std::uint64_t>({512, found.stx_dio_offset_align, found.stx_dio_mem_align});
    }
#else
    (void)fd;
#endif
    return 512;
}

/// What the kernel makes a single request of, from BLKSECTGET's units of 512 bytes (queue/max_sectors_kb). It
/// splits a longer write, and then nothing could be asked between the pieces: those that wait in its queue go
/// to whatever card is in the reader when their turn comes.
std::size_t writeLimitOf(unsigned short sectors, std::uint32_t block)
{
    return static_cast<std::size_t>(std::max<Bytes>(alignDown(Bytes{sectors} * 512, block), block));
}

} // namespace

Result<std::unique_ptr<BlockDevice>> FdBlockDevice::forFile(UniqueFd fd)
{
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) {
        return failure(ErrorCode::Internal, errno);
    }
    if (!S_ISREG(status.st_mode)) {
        return failure(ErrorCode::DriveNotADrive);
    }
    if (auto direct = needDirectIo(fd.get()); !direct) {
        return std::unexpected(direct.error());
    }
    const auto block = directIoBlock(fd.get());
    if (!isUsableBlock(block)) {
        return failure(ErrorCode::DriveNoDirectIo);
    }
    std::unique_ptr<FdBlockDevice> device(new FdBlockDevice(std::move(fd)));
    device->m_logicalBlock = static_cast<std::uint32_t>(block);
    device->m_sizeAtOpening = static_cast<Bytes>(status.st_size);
    device->m_size = alignDown(device->m_sizeAtOpening, block);
    return device;
}

FdBlockDevice::~FdBlockDevice()
{
    m_fd.reset();
    if (m_putBack && !m_written) {
        m_putBack();
    }
}

Result<std::unique_ptr<BlockDevice>> FdBlockDevice::forDrive(UniqueFd fd, DriveClearance /*clearance*/,
                                                             OpenedDrive opened)
{
    struct stat status = {};
    if (::fstat(fd.get(), &status) != 0) {
        return failure(ErrorCode::Internal, errno);
    }
    if (!S_ISBLK(status.st_mode)) {
        return failure(ErrorCode::DriveNotADrive);
    }
    if (auto direct = needDirectIo(fd.get()); !direct) {
        return std::unexpected(direct.error());
    }
    std::unique_ptr<FdBlockDevice> device(new FdBlockDevice(std::move(fd)));
    device->m_isDrive = true;
    const int raw = device->m_fd.get();
    int block = 0;
    if (::ioctl(raw, BLKGETSIZE64, &device->m_sizeAtOpening) != 0 || ::ioctl(raw, BLKSSZGET, &block) != 0
        || ::ioctl(raw, BLKGETDISKSEQ, &device->m_diskseq) != 0) {
        return failure(codeFor(errno, ErrorCode::Internal), errno);
    }
    if (block <= 0 || !isUsableBlock(static_cast<std::uint64_t>(block))) {
        return failure(ErrorCode::DriveNoDirectIo);
    }
    device->m_logicalBlock = static_cast<std::uint32_t>(block);
    device->m_size = alignDown(device->m_sizeAtOpening, device->m_logicalBlock);
    device->m_putBack = std::move(opened.putBack);
    device->m_oneByOne = opened.removable;
    unsigned short sectors = 0;
    if (opened.removable && ::ioctl(raw, BLKSECTGET, &sectors) == 0) {
        device->m_writeLimit = writeLimitOf(sectors, device->m_logicalBlock);
    }
    return device;
}

FlashError FdBlockDevice::transferError(ErrorCode otherwise, int sysErrno, Offset offset)
{
    // A drive that went has size 0 in the kernel (del_gendisk), a swapped card another one: then a write
    // within the old size meets ENOSPC and a read the end. The identity says what really happened.
    if (sysErrno == 0 || sysErrno == ENOSPC) {
        if (auto same = checkIdentity(); !same) {
            auto error = same.error();
            error.offset = offset;
            return error;
        }
    }
    return {.code = codeFor(sysErrno, otherwise),
            .phase = Phase::Preparing,
            .sysErrno = sysErrno == 0 ? EIO : sysErrno,
            .offset = offset,
            .detail = {}};
}

Result<void> FdBlockDevice::writeAt(Offset offset, std::span<const std::byte> data)
{
    m_written = true;
    // Nothing waits in the kernel behind the write that a swapped card comes under; and flash memory without
    // much of a controller is fastest in order.
    std::unique_lock turn(m_turn, std::defer_lock);
    if (m_oneByOne) {
        turn.lock();
    }
    for (bool first = !m_oneByOne; !data.empty(); first = false) {
        if (!first) {
            // Without patience: the other writers wait for their turn. writeWithRetries asks once more.
            if (auto same = compareIdentity(); !same) {
                same.error().offset = offset;
                return same;
            }
        }
        const auto length = std::min(data.size(), m_writeLimit);
        const auto n = ::pwrite(m_fd.get(), data.data(), length, static_cast<off_t>(offset));
        const int sysErrno = n < 0 ? errno : 0;
        if (sysErrno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return std::unexpected(transferError(ErrorCode::WriteFailed, sysErrno, offset));
        }
        offset += static_cast<Offset>(n);
        data = data.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

Result<void> FdBlockDevice::readAt(Offset offset, std::span<std::byte> data)
{
    while (!data.empty()) {
        const auto n = ::pread(m_fd.get(), data.data(), data.size(), static_cast<off_t>(offset));
        const int sysErrno = n < 0 ? errno : 0;
        if (sysErrno == EINTR) {
            continue;
        }
        if (n <= 0) {
            return std::unexpected(transferError(ErrorCode::ReadBackFailed, sysErrno, offset));
        }
        offset += static_cast<Offset>(n);
        data = data.subspan(static_cast<std::size_t>(n));
    }
    return {};
}

Result<void> FdBlockDevice::flush()
{
    while (::fsync(m_fd.get()) != 0) {
        if (errno != EINTR) {
            return failure(codeFor(errno, ErrorCode::FlushFailed), errno);
        }
    }
    return {};
}

Result<void> FdBlockDevice::compareIdentity() const
{
    if (!m_isDrive) {
        struct stat status = {};
        if (::fstat(m_fd.get(), &status) != 0) {
            return failure(ErrorCode::DriveGone, errno);
        }
        return static_cast<Bytes>(status.st_size) < m_size ? failure(ErrorCode::DriveChanged)
                                                           : Result<void>{};
    }
    std::uint64_t diskseq = 0;
    Bytes size = 0;
    if (::ioctl(m_fd.get(), BLKGETDISKSEQ, &diskseq) != 0 || ::ioctl(m_fd.get(), BLKGETSIZE64, &size) != 0) {
        return failure(ErrorCode::DriveGone, errno);
    }
    if (size == 0 && m_sizeAtOpening != 0) {
        return failure(ErrorCode::DriveGone, ENOMEDIUM);
    }
    if (diskseq != m_diskseq || size != m_sizeAtOpening) {
        return failure(ErrorCode::DriveChanged);
    }
    return {};
}

Result<void> FdBlockDevice::checkIdentity()
{
    auto same = compareIdentity();
    // A drive that is pulled loses its medium, which makes it another one, a moment before the kernel lets it
    // go altogether (sd_check_events, del_gendisk). Changed it stays.
    for (int i = 0; i < kPartingChecks && !same && same.error().code == ErrorCode::DriveChanged; ++i) {
        std::this_thread::sleep_for(kPartingPause);
        if (const auto later = compareIdentity(); !later) {
            same = later;
        }
    }
    return same;
}

} // namespace burin
