// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/error.h"
#include "engine/units.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace burin {

enum class Bus { Unknown, Usb, Mmc, Nvme, Sata, Scsi, Virtio, FireWire, Loop, File };

/// A file system, swap or stack member that a drive or one of its partitions holds.
struct DriveContent {
    std::string node;       ///< "sdb1"
    std::string fileSystem; ///< "vfat", "crypto_LUKS", empty if not known
    std::string label;
    Bytes size = 0;
    std::vector<std::string> mountPoints;

    bool operator==(const DriveContent&) const = default;
};

/// What the guard lets Burin do with a drive (SPEC 4.4).
enum class Access { None, ReadOnly, Write };

enum class ProtectionKind {
    SystemDisk, ///< detail: the mount points, "swap", "resume"
    HoldsImage, ///< or the report or log; detail: the file
    WriteProtected,
    StackInUse,   ///< detail: "LVM", "RAID", "ZFS"..., and the holder's name
    NamedInFstab, ///< detail: the mount point
    NamedInCrypttab,
    CannotTell, ///< detail: the source that could not be read or understood
    NoMedium,
};

struct Protection {
    ProtectionKind kind = ProtectionKind::CannotTell;
    std::string detail;
    std::string release; ///< a command that lets go of it, where one exists ("vgchange -an data")

    bool operator==(const Protection&) const = default;
};

/// A whole disk, or a file that stands for one. A value; compares equal when nothing that people see differs.
struct DriveInfo {
    std::string node;          ///< "sdb"; for a file its base name
    std::string path;          ///< "/dev/sdb"
    std::uint64_t diskseq = 0; ///< 0: the kernel tells none, and then the drive is refused; files have none
    std::uint64_t devno = 0;   ///< dev_t; of a file: st_dev
    std::uint64_t inode = 0;   ///< of a file: st_ino
    Bus bus = Bus::Unknown;
    std::string vendor; ///< cleaned of control and bidi characters
    std::string model;
    std::string serial;
    Bytes size = 0;
    std::uint32_t logicalBlock = 512;
    unsigned linkMbps = 0;   ///< USB link speed, 0 if unknown
    unsigned deviceMbps = 0; ///< what the device itself could do, 0 if unknown
    bool external = false;   ///< SPEC 4.5
    bool removable = false;
    bool rotational = false;
    bool readOnly = false;
    bool cardReader = false;
    std::string writeCache; ///< "write back" or "write through" (queue/write_cache), empty if not known
    std::vector<DriveContent> contents;
    std::vector<std::string> mountPoints; ///< of all contents and of the disk itself

    Access access = Access::None;
    std::vector<Protection> protections; ///< why access is less than Write

    [[nodiscard]] bool hasMedium() const { return size > 0; }
    bool operator==(const DriveInfo&) const = default;
};

/// "SanDisk Ultra Fit", or the node where the drive tells no name.
[[nodiscard]] std::string driveName(const DriveInfo& drive);

/// What an attempt to write a drive that the guard protects ends in. Call it only for such a drive.
[[nodiscard]] FlashError protectionError(const DriveInfo& drive);

/// What a person types to confirm such a drive: its model, or the node where it tells none.
[[nodiscard]] std::string typedName(const DriveInfo& drive);

/// Internal, rotating, over 256 GB or with over 64 GB of data: hidden or last, and confirmed by typing the
/// model's name (SPEC 4.5).
[[nodiscard]] bool needsTypedName(const DriveInfo& drive);

} // namespace burin
