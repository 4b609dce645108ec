// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "driveclassifier.h"

#include <QList>
#include <QString>

#include <algorithm>
#include <array>
#include <charconv>

namespace burin {

namespace {

constexpr unsigned kHighSpeed = 480;
constexpr unsigned kSuperSpeed = 5000;

bool isListed(const DriveAttributes& a)
{
    // eMMC keeps boot code and keys in these (kernel: Documentation/driver-api/mmc/mmc-dev-parts.rst).
    if (a.name.starts_with("mmcblk")
        && (a.name.contains("boot") || a.name.contains("rpmb") || a.name.contains("gp"))) {
        return false;
    }
    if (a.name.starts_with("loop") || a.name.starts_with("nbd")) {
        return a.hasBacking;
    }
    constexpr std::array kNever{"ram", "zram", "dm-",    "md",   "sr",    "fd",
                                "mtd", "zd",   "bcache", "drbd", "nullb", "pmem"};
    return a.hasDevice
        && std::ranges::none_of(kNever, [&](const char* prefix) { return a.name.starts_with(prefix); });
}

/// A component of the device's path that starts so: "/usb1/", "/ata3/".
bool passes(const DriveAttributes& a, std::string_view component)
{
    for (auto at = a.sysPath.find('/'); at != std::string::npos; at = a.sysPath.find('/', at + 1)) {
        const auto rest = std::string_view(a.sysPath).substr(at + 1);
        if (rest.starts_with(component) && rest.size() > component.size() && rest[component.size()] >= '0'
            && rest[component.size()] <= '9') {
            return true;
        }
    }
    return false;
}

Bus busOf(const DriveAttributes& a)
{
    if (a.name.starts_with("loop")) {
        return Bus::Loop;
    }
    if (a.name.starts_with("mmcblk")) {
        return Bus::Mmc;
    }
    if (a.name.starts_with("nvme")) {
        return Bus::Nvme;
    }
    if (passes(a, "usb")) {
        return Bus::Usb;
    }
    if (passes(a, "fw")) {
        return Bus::FireWire;
    }
    if (passes(a, "ata")) {
        return Bus::Sata;
    }
    if (a.name.starts_with("vd") || a.name.starts_with("xvd") || passes(a, "virtio")) {
        return Bus::Virtio;
    }
    return a.name.starts_with("sd") ? Bus::Scsi : Bus::Unknown;
}

unsigned leadingNumber(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    unsigned value = 0;
    std::from_chars(text.data(), text.data() + text.size(), value);
    return value;
}

unsigned usbAbility(const DriveAttributes& a, unsigned link)
{
    auto version = std::string_view(a.usbVersion);
    version.remove_prefix(std::min(version.find_first_not_of(' '), version.size()));
    // A USB 3 device on a USB 2 port says 2.10 (USB 3.2 specification, 9.6.1); its BOS descriptor is surer.
    if (a.usbSuperSpeed || version >= "2.10") {
        return std::max(link, kSuperSpeed);
    }
    if (version >= "2") {
        return std::max(link, kHighSpeed);
    }
    return link;
}

bool looksLikeReader(const DriveAttributes& a, Bus bus)
{
    if (bus == Bus::Mmc) {
        return a.mmcType == "SD";
    }
    if (!a.removable) {
        return false;
    }
    const bool flash = std::ranges::any_of(a.properties, [](const auto& item) {
        return item.first.starts_with("ID_DRIVE_FLASH_") || item.first == "ID_DRIVE_MEDIA_FLASH_SD";
    });
    constexpr std::array kWords{"Reader", "READER",    "Card",          "CARD",
                                "SD/MMC", "MS/MS-Pro", "Compact Flash", "CRW"};
    const auto name = a.vendor + ' ' + a.model;
    // A stick brings its memory along; what is removable and empty is a reader.
    return flash || a.size == 0
        || std::ranges::any_of(kWords, [&](const char* word) { return name.contains(word); });
}

std::string serialOf(const DriveAttributes& a, Bus bus)
{
    const auto property = [&a](const char* key) {
        const auto found = a.properties.find(key);
        return found == a.properties.end() ? std::string() : found->second;
    };
    const std::array candidates{bus == Bus::Usb ? a.usbSerial : std::string(), a.serial,
                                property("ID_SERIAL_SHORT"), property("ID_SCSI_SERIAL")};
    for (const auto& candidate : candidates) {
        if (auto clean = cleanedName(candidate); !clean.empty()) {
            return clean;
        }
    }
    return {};
}

bool isUnwanted(char32_t c)
{
    const bool control = c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfffd;
    // Marks, embeddings, overrides and isolates (Unicode annex 9), and what has no width.
    const bool bidi = c == 0x61c || (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e)
        || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
    return control || bidi || (c >= 0xfff9 && c <= 0xfffb) || (c >= 0xe0000 && c <= 0xe007f);
}

} // namespace

std::string cleanedName(std::string_view text)
{
    QString out;
    const auto decoded = QString::fromUtf8(text.data(), static_cast<qsizetype>(text.size())).toUcs4();
    for (const auto c : decoded) {
        if (!isUnwanted(c)) {
            const auto letter = static_cast<char32_t>(c);
            out += QString::fromUcs4(&letter, 1);
        }
    }
    return out.simplified().toStdString();
}

bool hasSuperSpeedCapability(std::string_view bos)
{
    // Descriptors one after the other: length, type 0x10 (device capability), capability 0x03 (SuperSpeed) or
    // 0x0a (SuperSpeedPlus): USB 3.2 specification, 9.6.2.
    for (std::size_t at = 0; at + 2 < bos.size();) {
        const auto length = static_cast<unsigned char>(bos[at]);
        if (bos[at + 1] == 0x10 && (bos[at + 2] == 0x03 || bos[at + 2] == 0x0a)) {
            return true;
        }
        if (length == 0) {
            return false;
        }
        at += length;
    }
    return false;
}

namespace {

/// The kernel takes every SCSI drive for a rotating one unless it says otherwise (sd.c, VPD page B1h), which
/// USB sticks hardly ever do. Disks in enclosures are asked by udev's ata_id too.
bool rotates(const DriveAttributes& a, Bus bus)
{
    if (bus == Bus::Loop || bus == Bus::Virtio) {
        return false;
    }
    const auto rate = a.properties.find("ID_ATA_ROTATION_RATE_RPM");
    if (rate != a.properties.end()) {
        return rate->second != "0";
    }
    return a.rotational && !a.removable;
}

} // namespace

std::optional<DriveInfo> classifyDrive(const DriveAttributes& a)
{
    if (!isListed(a)) {
        return {};
    }
    DriveInfo drive;
    drive.node = a.name;
    std::ranges::replace(drive.node, '!', '/');
    drive.path = "/dev/" + drive.node;
    drive.diskseq = a.diskseq;
    drive.devno = a.devno;
    drive.bus = busOf(a);
    drive.vendor = cleanedName(a.vendor);
    if (drive.vendor == "ATA" || drive.vendor.starts_with("0x")) {
        drive.vendor.clear(); // the bus's, or a PCI number: no name
    }
    drive.model = cleanedName(a.model);
    drive.serial = serialOf(a, drive.bus);
    drive.size = a.size;
    drive.logicalBlock = a.logicalBlock;
    drive.writeCache = a.writeCache;
    if (drive.bus == Bus::Usb) {
        drive.linkMbps = leadingNumber(a.usbSpeed);
        drive.deviceMbps = usbAbility(a, drive.linkMbps);
    }
    const bool loop = drive.bus == Bus::Loop;
    drive.external = loop || drive.bus == Bus::Usb || drive.bus == Bus::FireWire
        || (drive.bus == Bus::Mmc && a.mmcType == "SD") || a.portRemovable || a.removable;
    drive.removable = a.removable;
    drive.rotational = rotates(a, drive.bus);
    drive.readOnly = a.readOnly;
    drive.cardReader = looksLikeReader(a, drive.bus);
    return drive;
}

} // namespace burin
