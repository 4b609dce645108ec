// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gzipdecoder.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace burin {

namespace {

constexpr std::uint32_t kReservedFlags = 0xe0; ///< RFC 1952, 2.3.1.2: must be zero

std::uint32_t clampSize(std::size_t size)
{
    return static_cast<std::uint32_t>(std::min<std::size_t>(size, std::numeric_limits<std::uint32_t>::max()));
}

std::unexpected<FlashError> corrupt(int result)
{
    switch (result) {
    case ISAL_INCORRECT_CHECKSUM:
        return failure(ErrorCode::ImageCorrupt, "the checksum or the length at its end differs");
    case ISAL_INVALID_WRAPPER:
    case ISAL_UNSUPPORTED_METHOD:
        return failure(ErrorCode::ImageCorrupt, "header");
    default:
        return failure(ErrorCode::ImageCorrupt, "deflate");
    }
}

} // namespace

GzipDecoder::GzipDecoder(Framing framing) : m_framing(framing), m_inHeader(framing == Framing::Gzip)
{
    isal_inflate_init(&m_state);
    isal_gzip_header_init(&m_header);
    m_state.crc_flag = framing == Framing::Gzip ? ISAL_GZIP_NO_HDR_VER : ISAL_DEFLATE;
}

Result<DecodeStep> GzipDecoder::decode(std::span<const std::byte> in, bool, std::span<std::byte> out)
{
    // ISA-L reads next_in only, but its type lacks the const.
    m_state.next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(in.data()));
    m_state.avail_in = clampSize(in.size());
    m_state.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    m_state.avail_out = clampSize(out.size());
    const auto offered = m_state.avail_in;
    const auto room = m_state.avail_out;
    if (m_inHeader) {
        if (const auto read = readHeader(); !read) {
            return std::unexpected(read.error());
        }
    }
    if (!m_inHeader) {
        if (const int result = isal_inflate(&m_state); result != ISAL_DECOMP_OK) {
            return corrupt(result);
        }
    }
    const bool ended = m_state.block_state == ISAL_BLOCK_FINISH;
    if (m_framing == Framing::Bare && (ended || m_state.avail_out == 0)) {
        giveBack();
    }
    return DecodeStep{
        .taken = offered - m_state.avail_in, .made = room - m_state.avail_out, .streamEnd = ended};
}

/// isal_inflate() reads headers too, but forgets their flags between two calls, and lets reserved ones pass.
Result<void> GzipDecoder::readHeader()
{
    const int result = isal_read_gzip_header(&m_state, &m_header);
    if (result == ISAL_END_INPUT) {
        return {};
    }
    if (result != ISAL_DECOMP_OK) {
        return corrupt(result);
    }
    if ((m_header.flags & kReservedFlags) != 0) {
        return corrupt(ISAL_INVALID_WRAPPER);
    }
    m_inHeader = false;
    return {};
}

/// Bare deflate has no trailer that would take up the up to 8 bytes that ISA-L reads ahead. They are from
/// this call's input: a call that left room in its output ended with bits of the stream only.
void GzipDecoder::giveBack()
{
    const auto ahead = static_cast<std::uint32_t>(std::max(m_state.read_in_length, 0)) / 8;
    m_state.next_in -= ahead;
    m_state.avail_in += ahead;
    m_state.read_in_length -= static_cast<std::int32_t>(ahead * 8);
    m_state.read_in &= (std::uint64_t{1} << static_cast<unsigned>(m_state.read_in_length)) - 1;
}

Result<void> GzipDecoder::restart()
{
    isal_inflate_reset(&m_state);
    isal_gzip_header_init(&m_header);
    m_inHeader = m_framing == Framing::Gzip;
    return {};
}

StreamStart GzipDecoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 3> kMagic = {0x1f, 0x8b, 0x08};
    return m_framing == Framing::Gzip ? matchMagic(in, kMagic) : StreamStart::No;
}

} // namespace burin
