// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockdevice.h"
#include "uniquefd.h"

#include <atomic>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>

namespace burin {

/// The proof that the guard has judged a drive and that the descriptor leads to it. Only the platform's
/// DriveClearanceIssuer, which driveopener.cpp defines, can make one: a BlockDevice of a drive exists
/// behind the guard or not at all.
class DriveClearance
{
    DriveClearance() { } // NOLINT(modernize-use-equals-default): a defaulted one would allow `{}` for anyone
    friend class DriveClearanceIssuer;
};

/// What the platform knows of a drive that it opened.
struct OpenedDrive {
    /// Called when the drive has been closed without a write: what had to be taken off it to open it can go
    /// back on.
    std::function<void()> putBack;
    /// The medium may be swapped under the descriptor, as in a card reader (sysfs: removable).
    bool removable = false;
};

/// A drive or a regular file over a descriptor with O_DIRECT. See BlockDevice for the contract.
class FdBlockDevice final : public BlockDevice
{
public:
    /// Errors: DriveNotADrive (anything but a regular file), DriveNoDirectIo, Internal.
    [[nodiscard]] static Result<std::unique_ptr<BlockDevice>> forFile(UniqueFd fd);
    /// Errors: DriveNotADrive (not a block device), DriveNoDirectIo, DriveGone, Internal.
    [[nodiscard]] static Result<std::unique_ptr<BlockDevice>> forDrive(UniqueFd fd, DriveClearance clearance,
                                                                       OpenedDrive opened);
    ~FdBlockDevice() override;

    [[nodiscard]] Bytes size() const override { return m_size; }
    [[nodiscard]] std::uint32_t logicalBlock() const override { return m_logicalBlock; }
    [[nodiscard]] Result<void> writeAt(Offset offset, std::span<const std::byte> data) override;
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> data) override;
    [[nodiscard]] Result<void> flush() override;
    [[nodiscard]] Result<void> checkIdentity() override;

private:
    explicit FdBlockDevice(UniqueFd fd) : m_fd(std::move(fd)) { }
    [[nodiscard]] FlashError transferError(ErrorCode otherwise, int sysErrno, Offset offset);
    [[nodiscard]] Result<void> compareIdentity() const;

    UniqueFd m_fd;
    std::function<void()> m_putBack;
    std::atomic<bool> m_written = false; ///< or tried to
    bool m_isDrive = false;
    Bytes m_size = 0;
    Bytes m_sizeAtOpening = 0; ///< not rounded down
    std::uint32_t m_logicalBlock = 512;
    std::uint64_t m_diskseq = 0;
    std::size_t m_writeLimit = std::numeric_limits<std::size_t>::max(); ///< bytes of one pwrite
    bool m_oneByOne = false;                                            ///< of removable drives
    std::mutex m_turn;
};

} // namespace burin
