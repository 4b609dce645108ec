// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "xzdecoder.h"

#include <array>
#include <string>

namespace burin {

Result<std::unique_ptr<Decoder>> XzDecoder::create(const DecoderLimits& limits)
{
    std::unique_ptr<XzDecoder> decoder(new XzDecoder(limits));
    if (const auto ready = decoder->restart(); !ready) {
        return std::unexpected(ready.error());
    }
    return decoder;
}

XzDecoder::~XzDecoder()
{
    lzma_end(&m_stream);
}

Result<DecodeStep> XzDecoder::decode(std::span<const std::byte> in, bool inputEnds, std::span<std::byte> out)
{
    m_stream.next_in = reinterpret_cast<const std::uint8_t*>(in.data());
    m_stream.avail_in = in.size();
    m_stream.next_out = reinterpret_cast<std::uint8_t*>(out.data());
    m_stream.avail_out = out.size();
    const lzma_ret result = lzma_code(&m_stream, inputEnds ? LZMA_FINISH : LZMA_RUN);
    switch (result) {
    case LZMA_OK:
    case LZMA_BUF_ERROR:
    case LZMA_STREAM_END:
        return DecodeStep{.taken = in.size() - m_stream.avail_in,
                          .made = out.size() - m_stream.avail_out,
                          .streamEnd = result == LZMA_STREAM_END};
    case LZMA_MEMLIMIT_ERROR: // the threaded decoder doesn't tell how much it would need
    case LZMA_MEM_ERROR:
        return failure(ErrorCode::ImageNeedsMemory, std::to_string(m_limits.memory));
    case LZMA_OPTIONS_ERROR: // headers have a CRC of their own, so this is a filter newer than liblzma
        return failure(ErrorCode::ImageUnsupported, "xz with an unknown filter");
    case LZMA_FORMAT_ERROR:
    case LZMA_DATA_ERROR:
        return failure(ErrorCode::ImageCorrupt);
    default:
        return failure(ErrorCode::Internal, "liblzma " + std::to_string(result));
    }
}

Result<void> XzDecoder::restart()
{
    // One stream at a time, without LZMA_CONCATENATED: padding and what follows are the same for all formats
    // and are CompressedSource's.
    lzma_mt options = {};
    options.threads = m_limits.threads;
    options.memlimit_threading = m_limits.threadingMemory;
    options.memlimit_stop = m_limits.memory;
    switch (lzma_stream_decoder_mt(&m_stream, &options)) {
    case LZMA_OK:
        return {};
    case LZMA_MEM_ERROR:
        return failure(ErrorCode::ImageNeedsMemory);
    default:
        return failure(ErrorCode::Internal, "lzma_stream_decoder_mt");
    }
}

StreamStart XzDecoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 6> kMagic = {0xfd, '7', 'z', 'X', 'Z', 0x00};
    return matchMagic(in, kMagic);
}

} // namespace burin
