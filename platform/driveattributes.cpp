// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivescan.h"
#include "sysfile.h"

namespace burin {

namespace {

/// The folders above a device in sysfs, nearest first, down from /sys/devices.
std::vector<std::string> ancestors(std::string path, const std::string& root)
{
    std::vector<std::string> all;
    const auto top = resolvedPath(root + "/sys/devices");
    while (true) {
        path.resize(std::min(path.rfind('/'), path.size()));
        if (top.empty() || !isWithin(path, top) || path == top) {
            return all;
        }
        all.push_back(path);
    }
}

} // namespace

DriveAttributes readDriveAttributes(const std::string& root, const BlockNode& node,
                                    const UdevProperties& properties)
{
    const auto folder = root + "/sys/block/" + node.name;
    DriveAttributes a;
    a.name = node.name;
    a.sysPath = resolvedPath(folder);
    a.devno = node.devno;
    a.diskseq = readNumber(folder + "/diskseq");
    a.size = node.size;
    a.writeCache = readAttribute(folder + "/queue/write_cache");
    a.logicalBlock = static_cast<std::uint32_t>(readNumber(folder + "/queue/logical_block_size", 512));
    a.hasDevice = exists(folder + "/device");
    a.hasBacking = !node.backingFile.empty() || exists(folder + "/pid"); // nbd: the peer's process
    a.removable = readNumber(folder + "/removable") != 0;
    a.readOnly = node.readOnly;
    a.rotational = readNumber(folder + "/queue/rotational") != 0;
    a.vendor = readAttribute(folder + "/device/vendor");
    a.model = readAttribute(folder + "/device/model");
    a.serial = readAttribute(folder + "/device/serial");
    if (a.serial.empty()) {
        a.serial = readAttribute(folder + "/serial"); // virtio
    }
    if (node.name.starts_with("mmcblk")) {
        a.mmcType = readAttribute(folder + "/device/type");
        a.model = readAttribute(folder + "/device/name");
    }
    bool usbSeen = false;
    for (const auto& above : ancestors(a.sysPath, root)) {
        a.portRemovable |= readAttribute(above + "/removable") == "removable";
        if (!usbSeen && exists(above + "/idVendor")) {
            usbSeen = true;
            a.usbSpeed = readAttribute(above + "/speed");
            a.usbVersion = readAttribute(above + "/version");
            a.usbSerial = readAttribute(above + "/serial");
            a.usbSuperSpeed =
                hasSuperSpeedCapability(readWhole(above + "/bos_descriptors").value_or(std::string()));
        }
    }
    a.properties = properties;
    return a;
}

} // namespace burin
