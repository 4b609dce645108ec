// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivelist.h"

#include "drivescan.h"
#include "storagestack.h"
#include "sysfile.h"
#include "systemdiskguard.h"
#include "systemuses.h"

#include <algorithm>
#include <set>
#include <tuple>

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace burin {

namespace {

/// Where people see a node: the mounts of Burin's own view, and of pid 1's.
std::set<std::string> mountPointsOf(const SystemSnapshot& snapshot, const StorageStack& stack,
                                    const std::string& name)
{
    std::set<std::string> points;
    for (const auto& table : {snapshot.initMounts, snapshot.ownMounts}) {
        if (!table) {
            continue;
        }
        for (const auto& mount : table->entries) {
            const auto nodes = stack.nodesOf(mount);
            if (std::ranges::find(nodes, name) != nodes.end()
                && (!snapshot.initMounts || !isCopyOfRemovable(mount, *snapshot.initMounts)
                    || isRemovableFolder(mount.mountPoint))) {
                points.insert(mount.mountPoint);
            }
        }
    }
    return points;
}

void addContents(DriveInfo& drive, const SystemSnapshot& snapshot, const StorageStack& stack,
                 const std::string& disk)
{
    std::set<std::string> all;
    for (const auto& name : stack.above(disk)) {
        const auto* node = stack.node(name);
        if (node == nullptr) {
            continue;
        }
        const auto points = mountPointsOf(snapshot, stack, name);
        if (name == disk && points.empty() && node->fsType.value_or(std::string()).empty()) {
            continue; // a partitioned or blank disk is no content of itself
        }
        const bool onDisk = name == disk || node->disk == disk;
        drive.contents.push_back({.node = name,
                                  .fileSystem = node->fsType.value_or(std::string()),
                                  .label = cleanedName(node->label),
                                  .size = onDisk ? node->size : 0, // what is inside is counted already
                                  .mountPoints = {points.begin(), points.end()}});
        all.insert(points.begin(), points.end());
    }
    drive.mountPoints.assign(all.begin(), all.end());
}

void addFileUses(DriveInfo& drive, const SystemSnapshot& snapshot)
{
    using enum ProtectionKind;
    const auto inode = std::pair(drive.devno, drive.inode);
    for (const auto& [name, node] : snapshot.nodes) {
        if (node.backingInode == inode || node.backingFile == drive.path) {
            drive.protections.push_back(
                {.kind = StackInUse, .detail = "loop " + name, .release = "losetup -d /dev/" + name});
        }
    }
    for (const auto& kept : snapshot.keptFiles) {
        if (std::pair(kept.device, kept.inode) == inode) {
            drive.protections.push_back({.kind = HoldsImage, .detail = kept.path, .release = {}});
        }
    }
    if (!snapshot.swaps) {
        drive.protections.push_back({.kind = CannotTell, .detail = "/proc/swaps", .release = {}});
    }
    const std::string swaps = snapshot.swaps.value_or(std::string()); // the lines below point into it
    for (const auto line : splitLines(swaps)) {
        const auto words = splitWords(line);
        if (!words.empty() && decodeOctal(words[0]) == drive.path) {
            drive.protections.push_back({.kind = SystemDisk, .detail = "swap", .release = {}});
        }
    }
    if (drive.readOnly) {
        drive.protections.push_back({.kind = WriteProtected, .detail = {}, .release = {}});
    }
    if (drive.size == 0) {
        drive.protections.push_back({.kind = NoMedium, .detail = {}, .release = {}});
    }
    drive.access = accessUnder(drive.protections);
}

std::optional<DriveInfo> fileDrive(const std::string& named, const SystemSnapshot& snapshot)
{
    const auto path = resolvedPath(named);
    struct stat status = {};
    if (path.empty() || ::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) {
        return {};
    }
    DriveInfo drive;
    drive.node = baseName(path);
    drive.path = path;
    drive.devno = status.st_dev;
    drive.inode = status.st_ino;
    drive.bus = Bus::File;
    drive.size = alignDown(static_cast<Bytes>(status.st_size), drive.logicalBlock);
    drive.external = true;
    drive.readOnly = ::access(path.c_str(), W_OK) != 0;
    addFileUses(drive, snapshot);
    return drive;
}

bool comesFirst(const DriveInfo& a, const DriveInfo& b)
{
    const auto key = [](const DriveInfo& drive) {
        const bool real = drive.bus != Bus::Loop && drive.bus != Bus::File;
        return std::tuple(!drive.external, needsTypedName(drive), drive.access != Access::Write, !real,
                          drive.node.size(), drive.node, drive.path);
    };
    return key(a) < key(b);
}

std::string nodeName(const DriveInfo& drive)
{
    auto name = drive.node;
    std::ranges::replace(name, '/', '!');
    return name;
}

void judge(DriveScan& scan)
{
    std::vector<GuardSubject> subjects;
    subjects.reserve(scan.drives.size());
    for (const auto& drive : scan.drives) {
        subjects.push_back(
            {.name = nodeName(drive), .external = drive.external, .loop = drive.bus == Bus::Loop});
    }
    const auto judgements = judgeDrives(scan.snapshot, subjects);
    for (auto& drive : scan.drives) {
        const auto& judgement = judgements.at(nodeName(drive));
        drive.access = judgement.access;
        drive.protections = judgement.protections;
        if (drive.diskseq == 0) {
            // Without it nothing tells a swapped card from the one that was chosen (SPEC 4.6).
            drive.access = Access::None;
            drive.protections.push_back(
                {.kind = ProtectionKind::CannotTell, .detail = "diskseq", .release = {}});
        }
    }
}

/// The disk of a partition by its number, "/dev/sdb"; empty if it is none.
std::string diskOfPartition(dev_t devno)
{
    const auto folder =
        resolvedPath("/sys/dev/block/" + std::to_string(major(devno)) + ':' + std::to_string(minor(devno)));
    if (folder.empty() || !exists(folder + "/partition")) {
        return {};
    }
    auto disk = std::string(baseName(std::string_view(folder).substr(0, folder.rfind('/'))));
    std::ranges::replace(disk, '!', '/');
    return "/dev/" + disk;
}

using Found = std::vector<const DriveInfo*>;

void addFound(Found& found, const DriveInfo& drive)
{
    if (std::ranges::find(found, &drive) == found.end()) {
        found.push_back(&drive);
    }
}

/// Looks at what a path leads to. An error only where it leads to something that is no drive.
Result<void> findByPath(Found& found, const std::string& path, const std::vector<DriveInfo>& drives)
{
    struct stat status = {};
    if (::stat(path.c_str(), &status) != 0) {
        return {};
    }
    const bool block = S_ISBLK(status.st_mode);
    for (const auto& drive : drives) {
        const bool file = drive.bus == Bus::File;
        const bool same = file ? drive.devno == status.st_dev && drive.inode == status.st_ino
                               : drive.devno == status.st_rdev;
        if (block != file && same) {
            addFound(found, drive);
            return {};
        }
    }
    if (const auto disk = block ? diskOfPartition(status.st_rdev) : std::string(); !disk.empty()) {
        return failure(ErrorCode::DriveIsPartition, disk);
    }
    return failure(ErrorCode::DriveNotADrive, path);
}

} // namespace

DriveScan scanDrives(const ListOptions& options, const SnapshotSources& sources)
{
    DriveScan scan{.snapshot = readSystemSnapshot(sources), .drives = {}};
    const StorageStack stack(scan.snapshot);
    for (const auto& [name, node] : scan.snapshot.nodes) {
        if (!node.disk.empty()) {
            continue;
        }
        const auto properties = sources.udevProperties ? sources.udevProperties(node) : UdevProperties();
        auto drive = classifyDrive(readDriveAttributes(sources.root, node, properties));
        if (drive && (options.loops || drive->bus != Bus::Loop)) {
            addContents(*drive, scan.snapshot, stack, name);
            scan.drives.push_back(std::move(*drive));
        }
    }
    judge(scan);
    for (const auto& path : options.files) {
        if (auto drive = fileDrive(path, scan.snapshot)) {
            scan.drives.push_back(std::move(*drive));
        }
    }
    std::ranges::sort(scan.drives, comesFirst);
    return scan;
}

DriveScan scanDrives(const ListOptions& options)
{
    return scanDrives(options, machineSources(options.keptFiles));
}

std::vector<DriveInfo> listDrives(const ListOptions& options)
{
    return scanDrives(options).drives;
}

Result<DriveInfo> findDrive(const std::string& name, const std::vector<DriveInfo>& drives)
{
    Found found;
    if (name.empty()) {
        return failure(ErrorCode::DriveNotFound, name);
    }
    Result<void> looked;
    const bool isPath = name.contains('/');
    for (const auto& drive : drives) {
        const bool node = drive.bus != Bus::File && (drive.path == name || drive.node == name);
        if (node || (!isPath && drive.serial == name)) {
            addFound(found, drive);
        }
    }
    if (found.empty()) {
        // A relative path may be the name of a file; a node comes before it.
        looked = findByPath(found, isPath ? name : "/dev/" + name, drives);
        if (found.empty() && looked && !isPath) {
            looked = findByPath(found, name, drives);
        }
    }
    if (found.size() > 1) {
        return failure(ErrorCode::DriveAmbiguous, name);
    }
    if (!found.empty()) {
        return *found.front();
    }
    return looked ? failure(ErrorCode::DriveNotFound, name) : std::unexpected(looked.error());
}

} // namespace burin
