// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashstate.h"
#include "engine/imageprobe.h"
#include "platform/driveinfo.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

/// The image, the drives and the jobs of the pictures in the design.
namespace burin::test {

inline constexpr Bytes kPictureSize = 5'870'000'000;

inline ImageInfo pictureImage()
{
    ImageInfo image;
    image.path = "/home/ana/raspios-trixie-arm64.img.xz";
    image.file.size = 1'210'000'000;
    image.layers = {{.format = Format::Xz}};
    image.checked = true;
    image.unpackedSize = kPictureSize;
    image.table = PartitionTable::Mbr;
    image.partitions = {
        {.range = {8'000'000, 537'000'000}, .name = {}, .fileSystem = "vfat", .label = "boot", .type = "FAT"},
        {.range = {545'000'000, 5'300'000'000},
         .name = {},
         .fileSystem = "ext4",
         .label = "rootfs",
         .type = "Linux"}};
    return image;
}

inline DriveInfo stick()
{
    DriveInfo drive;
    drive.node = "sdb";
    drive.path = "/dev/sdb";
    drive.diskseq = 21;
    drive.devno = 0x810;
    drive.bus = Bus::Usb;
    drive.vendor = "SanDisk";
    drive.model = "Ultra Fit";
    drive.serial = "4C530001";
    drive.size = 32'010'000'000;
    drive.linkMbps = drive.deviceMbps = 5000;
    drive.external = drive.removable = true;
    drive.access = Access::Write;
    drive.contents = {
        {.node = "sdb1", .fileSystem = "vfat", .label = "BOOT", .size = 537'000'000, .mountPoints = {}},
        {.node = "sdb2",
         .fileSystem = "ext4",
         .label = "DATA",
         .size = 31'400'000'000,
         .mountPoints = {"/media/ana/DATA"}}};
    drive.mountPoints = {"/media/ana/DATA"};
    return drive;
}

inline DriveInfo cardReader()
{
    DriveInfo drive;
    drive.node = "sdc";
    drive.path = "/dev/sdc";
    drive.diskseq = 22;
    drive.devno = 0x820;
    drive.bus = Bus::Usb;
    drive.vendor = "Generic";
    drive.model = "SD card reader";
    drive.size = 16'000'000'000;
    drive.linkMbps = 480;
    drive.deviceMbps = 5000;
    drive.external = drive.removable = drive.cardReader = true;
    drive.access = Access::Write;
    return drive;
}

inline DriveInfo systemDisk()
{
    DriveInfo drive;
    drive.node = "nvme0n1";
    drive.path = "/dev/nvme0n1";
    drive.diskseq = 9;
    drive.bus = Bus::Nvme;
    drive.model = "Samsung SSD 980";
    drive.serial = "S649";
    drive.size = 1'000'204'886'016;
    drive.access = Access::ReadOnly;
    drive.protections = {{.kind = ProtectionKind::SystemDisk, .detail = "/, /boot/efi, swap", .release = {}}};
    return drive;
}

inline std::vector<DriveInfo> pictureDrives()
{
    return {stick(), cardReader(), systemDisk()};
}

/// Bytes a second at a place (0 to 1), like those in the pictures.
inline double pictureRate(double place, double base, double start, double noise)
{
    const double wave = std::sin(place * 811) * std::cos(place * 377) + 0.6 * std::sin(place * 1733);
    const double dip = 0.46 * std::exp(-std::pow((place - 0.45) / 0.022, 2))
        + 0.68 * std::exp(-std::pow((place - 0.722) / 0.013, 2));
    const double opening = (start - base) * std::exp(-place / 0.015);
    return std::max(5e6, (base + opening + noise * wave) * (1 - (base > 6e7 ? dip * 0.3 : dip)));
}

/// Runs a job through the reducer up to these parts of both passes; `end`s it with a report if both are 1.
class PictureJob
{
public:
    explicit PictureJob(bool verify = true) : state(initialState(verify))
    {
        say(PhaseStarted{.phase = Phase::Preparing});
    }

    void write(double until)
    {
        say(PhaseStarted{.phase = Phase::Writing, .total = kPictureSize});
        run(until, 41.6e6, 64e6, 2.4e6);
    }
    void flush() { say(PhaseStarted{.phase = Phase::Flushing}); }
    void verify(double until)
    {
        say(PhaseStarted{.phase = Phase::Verifying, .total = kPictureSize});
        run(until, 97e6, 122e6, 5e6);
    }
    void end(FlashReport report)
    {
        report.imageSize = kPictureSize;
        report.driveSize = stick().size;
        report.logicalBlock = 512;
        report.chunkSize = 4 * kMiB;
        report.bytesWritten = state.write.done;
        report.bytesVerified = state.verify.done;
        report.driveTouched = true;
        report.writeTime = std::chrono::seconds(146);
        report.verifyTime = std::chrono::milliseconds(state.verify.done == 0 ? 0 : 60'900);
        say(Finished{.report = report});
    }
    void say(decltype(FlashEvent::what) what) { state = reduce(state, {.at = now, .what = std::move(what)}); }

    FlashState state;
    Clock::time_point now = Clock::now();

private:
    void run(double until, double base, double start, double noise)
    {
        constexpr int kSteps = 280;
        for (int i = 1; i <= kSteps && double(i - 1) / kSteps < until; ++i) {
            const double place = std::min(double(i) / kSteps, until);
            const double bytes = (place - double(i - 1) / kSteps) * double(kPictureSize);
            const double seconds = bytes / pictureRate(place, base, start, noise);
            now += std::chrono::microseconds(std::int64_t(seconds * 1e6));
            say(Advanced{.done = Bytes(place * double(kPictureSize)), .sourceConsumed = 1, .sourceSize = 1});
        }
    }
};

} // namespace burin::test
