// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "xzdecoder.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

namespace burin {

Result<std::unique_ptr<Decoder>> XzDecoder::create(LzmaFraming framing, const DecoderLimits& limits,
                                                   Bytes zipSize)
{
    std::unique_ptr<XzDecoder> decoder(new XzDecoder(framing, limits, zipSize));
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
    if (m_framing == LzmaFraming::ZipLzma && !m_hasBegun) {
        return takeZipHeader(in);
    }
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

lzma_ret XzDecoder::begin()
{
    switch (m_framing) {
    case LzmaFraming::Xz: {
        // One stream at a time, without LZMA_CONCATENATED: padding and what follows are the same for all
        // formats and are CompressedSource's.
        lzma_mt options = {};
        options.threads = m_limits.threads;
        options.memlimit_threading = m_limits.threadingMemory;
        options.memlimit_stop = m_limits.memory;
        return lzma_stream_decoder_mt(&m_stream, &options);
    }
    case LzmaFraming::Lzip:
        return lzma_lzip_decoder(&m_stream, m_limits.memory, 0);
    case LzmaFraming::Alone:
        return lzma_alone_decoder(&m_stream, m_limits.memory);
    case LzmaFraming::ZipLzma:
        break; // begins when its header has been seen
    }
    return LZMA_OK;
}

Result<void> XzDecoder::restart()
{
    switch (begin()) {
    case LZMA_OK:
        return {};
    case LZMA_MEM_ERROR:
        return failure(ErrorCode::ImageNeedsMemory);
    default:
        return failure(ErrorCode::Internal, "liblzma");
    }
}

// Two bytes of version, two with the size of the properties, which is 5, the properties.
Result<DecodeStep> XzDecoder::takeZipHeader(std::span<const std::byte> in)
{
    constexpr std::size_t kHeader = 9;
    constexpr std::size_t kProperties = 4;
    const auto taken = std::min(in.size(), kHeader - m_zipHeader.size());
    m_zipHeader.insert(m_zipHeader.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(taken));
    if (m_zipHeader.size() < kHeader) {
        return DecodeStep{.taken = taken};
    }
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(m_zipHeader.data());
    lzma_filter filters[2] = {{.id = LZMA_FILTER_LZMA1EXT, .options = nullptr},
                              {.id = LZMA_VLI_UNKNOWN, .options = nullptr}};
    if (bytes[2] != kHeader - kProperties || bytes[3] != 0
        || lzma_properties_decode(&filters[0], nullptr, bytes + kProperties, kHeader - kProperties)
            != LZMA_OK) {
        return failure(ErrorCode::ImageCorrupt, "zip's LZMA properties");
    }
    // The end mark may be there or not: the zip's directory knows the size.
    auto* options = static_cast<lzma_options_lzma*>(filters[0].options);
    options->ext_flags = LZMA_LZMA1EXT_ALLOW_EOPM;
    lzma_set_ext_size(*options, m_zipSize);
    const auto needed = lzma_raw_decoder_memusage(filters);
    const auto begun = needed <= m_limits.memory ? lzma_raw_decoder(&m_stream, filters) : LZMA_MEMLIMIT_ERROR;
    std::free(filters[0].options); // lzma_properties_decode() says: allocated with malloc()
    if (begun != LZMA_OK) {
        return failure(ErrorCode::ImageNeedsMemory, std::to_string(m_limits.memory));
    }
    m_hasBegun = true;
    return DecodeStep{.taken = taken};
}

StreamStart XzDecoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 6> kXz = {0xfd, '7', 'z', 'X', 'Z', 0x00};
    static constexpr std::array<unsigned char, 5> kLzip = {'L', 'Z', 'I', 'P', 1};
    switch (m_framing) {
    case LzmaFraming::Xz:
        return matchMagic(in, kXz);
    case LzmaFraming::Lzip:
        return matchMagic(in, kLzip);
    default:
        return StreamStart::No; // these have one stream
    }
}

} // namespace burin
