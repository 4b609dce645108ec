// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "virtualdisk.h"

#include "androidsparse.h"
#include "dmgdisk.h"
#include "qcow2disk.h"
#include "vhddisk.h"
#include "vhdxdisk.h"
#include "vmdkdisk.h"

namespace burin {

namespace {

Result<std::unique_ptr<VirtualDisk>> open(Format format, const FileRange& place)
{
    switch (format) {
    case Format::Vhd:
        return openVhd(place);
    case Format::Vhdx:
        return openVhdx(place);
    case Format::Qcow2:
        return openQcow2(place);
    case Format::Vmdk:
        return openVmdk(place);
    case Format::AndroidSparse:
        return openAndroidSparse(place);
    case Format::Dmg:
        return openDmg(place);
    default:
        return failure(ErrorCode::Internal, "no virtual disk");
    }
}

// What looks like damage may be another program's writing.
FlashError damageOrChange(const FlashError& error, const FileRange& place)
{
    if (error.code != ErrorCode::ImageCorrupt && error.code != ErrorCode::ImageTruncated) {
        return error;
    }
    const auto same = place.file->checkUnchanged();
    return same || same.error().code != ErrorCode::ImageChanged ? error : same.error();
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openVirtualDisk(Format format, const FileRange& place)
{
    auto disk = open(format, place);
    if (!disk) {
        return std::unexpected(damageOrChange(disk.error(), place));
    }
    return disk;
}

VirtualDiskSource::VirtualDiskSource(std::unique_ptr<VirtualDisk> disk, FileRange place)
    : m_disk(std::move(disk)), m_place(std::move(place))
{
}

Result<std::size_t> VirtualDiskSource::read(std::span<std::byte> out)
{
    const Offset at = m_done;
    const auto size = static_cast<std::size_t>(std::min<Bytes>(out.size(), m_disk->size() - at));
    if (const auto filled = m_disk->readAt(at, out.first(size)); !filled) {
        FlashError error = damageOrChange(filled.error(), m_place);
        error.offset = error.offset.value_or(at);
        return std::unexpected(error);
    }
    m_done = at + size;
    if (size < out.size()) {
        if (const auto same = m_place.file->checkUnchanged(); !same) {
            return std::unexpected(same.error());
        }
    }
    return size;
}

// The disk's parts may lie anywhere in the file, so this is the share of the disk.
Bytes VirtualDiskSource::consumed() const noexcept
{
    const auto share = static_cast<double>(m_done) / static_cast<double>(m_disk->size());
    return std::min(fileSize(), static_cast<Bytes>(share * static_cast<double>(fileSize())));
}

} // namespace burin
