// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"
#include "imageprobe.h"
#include "imagesource.h"

#include <atomic>
#include <memory>

namespace burin {

/// A disk whose blocks lie scattered, packed or left out in a file: a virtual machine's, Android's or
/// Apple's. One thread.
class VirtualDisk
{
public:
    VirtualDisk() = default;
    VirtualDisk(const VirtualDisk&) = delete;
    VirtualDisk& operator=(const VirtualDisk&) = delete;
    virtual ~VirtualDisk() = default;

    /// Of the disk, exactly.
    [[nodiscard]] virtual Bytes size() const = 0;
    /// Fills `out` with the disk's bytes from `offset` on; both lie within size(). ImageTruncated,
    /// ImageCorrupt, ImageUnsupported, ImageUnreadable, ImageNeedsMemory.
    [[nodiscard]] virtual Result<void> readAt(Offset offset, std::span<std::byte> out) = 0;
    /// Whether the format would notice damage to the data.
    [[nodiscard]] virtual bool checked() const { return false; }
};

/// `format` is one of the virtual disks. ImageUnsupported (detail: what it is, "qcow2 with a backing file"),
/// ImageEncrypted, ImageTruncated, ImageCorrupt.
[[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openVirtualDisk(Format format, const FileRange& place);

/// Reads a virtual disk from its beginning to its end.
class VirtualDiskSource final : public ImageSource
{
public:
    VirtualDiskSource(std::unique_ptr<VirtualDisk> disk, FileRange place);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_disk->size(); }
    [[nodiscard]] Bytes consumed() const noexcept override;
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_place.size(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_place.file->checkUnchanged(); }

private:
    std::unique_ptr<VirtualDisk> m_disk;
    FileRange m_place;
    std::atomic<Bytes> m_done = 0;
};

} // namespace burin
