// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "gzipdecoder.h"

#include <algorithm>
#include <array>
#include <limits>

namespace burin {

namespace {

uInt clampSize(std::size_t size)
{
    return static_cast<uInt>(std::min<std::size_t>(size, std::numeric_limits<uInt>::max()));
}

} // namespace

Result<std::unique_ptr<Decoder>> GzipDecoder::create(Framing framing)
{
    std::unique_ptr<GzipDecoder> decoder(new GzipDecoder(framing));
    // inflateInit2(3): 16 is added for gzip framing, a negative number means none.
    const int windowBits = framing == Framing::Gzip ? MAX_WBITS + 16 : -MAX_WBITS;
    if (inflateInit2(&decoder->m_stream, windowBits) != Z_OK) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return decoder;
}

GzipDecoder::~GzipDecoder()
{
    inflateEnd(&m_stream);
}

Result<DecodeStep> GzipDecoder::decode(std::span<const std::byte> in, bool, std::span<std::byte> out)
{
    // zlib reads next_in only, but without ZLIB_CONST its type lacks the const.
    m_stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(in.data()));
    m_stream.avail_in = clampSize(in.size());
    m_stream.next_out = reinterpret_cast<Bytef*>(out.data());
    m_stream.avail_out = clampSize(out.size());
    const auto offered = m_stream.avail_in;
    const auto room = m_stream.avail_out;
    const int result = inflate(&m_stream, Z_NO_FLUSH);
    switch (result) {
    case Z_OK:
    case Z_BUF_ERROR: // no progress was possible; the caller tells an end from a pause
    case Z_STREAM_END:
        return DecodeStep{.taken = offered - m_stream.avail_in,
                          .made = room - m_stream.avail_out,
                          .streamEnd = result == Z_STREAM_END};
    case Z_MEM_ERROR:
        return failure(ErrorCode::ImageNeedsMemory);
    default:
        return failure(ErrorCode::ImageCorrupt, m_stream.msg ? m_stream.msg : "");
    }
}

Result<void> GzipDecoder::restart()
{
    if (inflateReset(&m_stream) != Z_OK) {
        return failure(ErrorCode::Internal, "inflateReset");
    }
    return {};
}

StreamStart GzipDecoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 3> kMagic = {0x1f, 0x8b, 0x08};
    return m_framing == Framing::Gzip ? matchMagic(in, kMagic) : StreamStart::No;
}

} // namespace burin
