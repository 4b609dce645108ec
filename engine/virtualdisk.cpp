// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "virtualdisk.h"

#include "imageformat.h"

#include <algorithm>
#include <utility>

namespace burin {

Result<std::unique_ptr<VirtualDisk>> openVirtualDisk(Format format, const FileRange& place)
{
    (void)place;
    return failure(ErrorCode::ImageUnsupported, std::string(nameOf(format)));
}

VirtualDiskSource::VirtualDiskSource(std::unique_ptr<VirtualDisk> disk, FileRange place)
    : m_disk(std::move(disk)), m_place(std::move(place))
{
}

Result<std::size_t> VirtualDiskSource::read(std::span<std::byte> out)
{
    const auto count = static_cast<std::size_t>(std::min<Bytes>(out.size(), m_disk->size() - m_done));
    auto done = m_disk->readAt(m_done, out.first(count));
    if (!done || count < out.size()) {
        if (auto unchanged = m_place.file->checkUnchanged(); !unchanged) {
            done = std::move(unchanged);
        }
    }
    if (!done) {
        done.error().offset = m_done;
        return std::unexpected(done.error());
    }
    m_done += count;
    return count;
}

Bytes VirtualDiskSource::consumed() const noexcept
{
    // Of the file, as if its parts lay in the disk's order and were all of one density.
    const double part = m_disk->size() == 0 ? 1 : static_cast<double>(m_done) / static_cast<double>(m_disk->size());
    return static_cast<Bytes>(part * static_cast<double>(m_place.size()));
}

} // namespace burin
