// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveinfo.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace burin {

/// What sysfs and udev say of a whole block device; numbers and names as the kernel writes them.
struct DriveAttributes {
    std::string name;    ///< "sdb"
    std::string sysPath; ///< "/sys/devices/.../block/sdb": tells the buses on the way
    std::uint64_t devno = 0;
    std::uint64_t diskseq = 0;
    Bytes size = 0;
    std::uint32_t logicalBlock = 512;
    std::string writeCache{}; ///< queue/write_cache
    bool hasDevice = false;   ///< something real behind it: ram, zram, dm, md, loop have no `device`
    bool hasBacking = false;  ///< a loop with a file, an nbd with a peer
    bool removable = false;
    bool readOnly = false;
    bool rotational = false;
    bool portRemovable =
        false; ///< a device on the way is called "removable" by the firmware (PCI, Thunderbolt)
    std::string vendor;
    std::string model;
    std::string serial;
    std::string mmcType;    ///< "SD", "MMC"
    std::string usbSpeed;   ///< Mbit/s of the link: "480"
    std::string usbVersion; ///< bcdUSB: " 2.10"
    std::string usbSerial;
    bool usbSuperSpeed = false; ///< its BOS descriptor says that it can
    std::map<std::string, std::string> properties;
};

/// The drive as SPEC 4.2, 4.3 and 4.5 want it listed, without contents and without the guard's answer;
/// nothing for what is never listed. Pure.
[[nodiscard]] std::optional<DriveInfo> classifyDrive(const DriveAttributes& attributes);

/// Without control characters, without those that turn the direction of writing, without broken UTF-8;
/// blanks at the ends removed, runs of blanks made one.
[[nodiscard]] std::string cleanedName(std::string_view text);

/// Whether a BOS descriptor (sysfs: bos_descriptors) has a SuperSpeed capability.
[[nodiscard]] bool hasSuperSpeedCapability(std::string_view bos);

} // namespace burin
