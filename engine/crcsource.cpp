// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "crcsource.h"

#include <zlib.h>

#include <utility>

namespace burin {

CrcSource::CrcSource(std::unique_ptr<ImageSource> member, Bytes size, std::uint32_t crc)
    : SourceFilter(std::move(member)), m_size(size), m_expected(crc)
{
}

Result<std::size_t> CrcSource::read(std::span<std::byte> out)
{
    auto filled = inner().read(out);
    if (!filled) {
        return filled;
    }
    m_crc = static_cast<std::uint32_t>(crc32_z(m_crc, reinterpret_cast<const Bytef*>(out.data()), *filled));
    m_done += *filled;
    // Said with the last byte, not one read later, for a caller who knows the size.
    const bool ended = *filled < out.size() || m_done >= m_size;
    if (ended && (m_done != m_size || m_crc != m_expected)) {
        return failure(ErrorCode::ImageCorrupt, 0, m_done, m_done == m_size ? "CRC-32" : "length");
    }
    return filled;
}

} // namespace burin
