// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "drivescan.h"
#include "udisks.h"

#include <set>
#include <stop_token>
#include <string>
#include <vector>

namespace burin {

/// Takes the mounts off a drive, and puts them back if the job can't begin.
class DriveUnmounter
{
public:
    explicit DriveUnmounter(std::stop_token stop) : m_stop(std::move(stop)) { }

    /// One attempt: every mount of the disk and of what is built on it, the mount table read anew after each,
    /// until none is left; then locks encrypted volumes. DriveBusy (detail: what is in the way) may be tried
    /// again.
    [[nodiscard]] Result<void> unmountAll(const std::string& disk);
    /// Mounts again what unmountAll() took off. The drive must be closed.
    void mountAgain();

private:
    struct Taken {
        MountEntry mount;
        std::string node;
        bool byUdisks = false;
    };
    [[nodiscard]] Result<void> unmountOne(const MountEntry& mount, const std::string& node, bool isOwn);
    [[nodiscard]] Result<void> lockVolumes(const SystemSnapshot& snapshot, const std::string& disk);

    std::stop_token m_stop;
    std::vector<Taken> m_taken;
};

/// The process that has an exclusive lock (flock) on the disk's node, as another Burin has while it writes:
/// "burin (123)". Empty if there is none.
[[nodiscard]] std::string whoHasLocked(const std::string& disk);

/// Mount points of the disk, holders, or a process that has it open: what keeps it busy, as far as it can be
/// known. Empty otherwise.
[[nodiscard]] std::string whatKeepsBusy(const SystemSnapshot& snapshot, const std::string& disk);

} // namespace burin
