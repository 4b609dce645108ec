// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "contentcheck.h"

#include "chunkdigest.h"

#include <cstring>
#include <utility>

namespace burin {

Result<bool> ContentCheck::holds(const ChunkView& chunk)
{
    AlignedBuffer buffer;
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_idle.empty()) {
            buffer = std::move(m_idle.back());
            m_idle.pop_back();
        }
    }
    if (buffer.size() == 0) {
        buffer = AlignedBuffer(m_chunkSize);
    }
    auto result = holds(chunk, buffer.span());
    const std::scoped_lock lock(m_mutex);
    m_idle.push_back(std::move(buffer));
    return result;
}

Result<bool> ContentCheck::holds(const ChunkView& chunk, std::span<std::byte> buffer)
{
    const JobMonitor::InFlight inFlight(m_monitor);
    const auto read = [&](const Range& range, auto matches) -> Result<bool> {
        const auto seen = buffer.first(static_cast<std::size_t>(range.length));
        if (auto done = m_device.readAt(range.offset, seen); !done) {
            // A swapped card answers with errors of its own.
            if (auto same = m_device.checkIdentity(); !same) {
                return std::unexpected(same.error());
            }
            return done.error().code == ErrorCode::ReadBackFailed ? Result<bool>(false)
                                                                  : std::unexpected(done.error());
        }
        return matches(seen);
    };
    for (const auto& part : chunk.parts) {
        const auto there = read(part, [&](std::span<const std::byte> seen) {
            return std::memcmp(seen.data(), chunk.bytes(part).data(), seen.size()) == 0;
        });
        if (!there || !*there) {
            return there;
        }
    }
    for (const auto& gap : chunk.cleared) {
        const auto there = read(gap, [](std::span<const std::byte> seen) { return isZero(seen); });
        if (!there || !*there) {
            return there;
        }
    }
    return true;
}

} // namespace burin
