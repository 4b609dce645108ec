// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "zstddecoder.h"

#include <zstd_errors.h>

#include <algorithm>
#include <array>
#include <bit>
#include <string>

namespace burin {

namespace {

// The format's own limits are 10 and 41; libzstd takes at most 31.
constexpr int kLeastWindowLog = 20;
constexpr int kMostWindowLog = 31;

// The largest power of two that fits into the limit.
int windowLog(Bytes memory)
{
    return std::clamp(static_cast<int>(std::bit_width(memory)) - 1, kLeastWindowLog, kMostWindowLog);
}

} // namespace

Result<std::unique_ptr<Decoder>> ZstdDecoder::create(const DecoderLimits& limits)
{
    std::unique_ptr<ZstdDecoder> decoder(new ZstdDecoder(limits.memory));
    if (!decoder->m_context) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    if (ZSTD_isError(ZSTD_DCtx_setParameter(decoder->m_context.get(), ZSTD_d_windowLogMax,
                                            windowLog(limits.memory)))) {
        return failure(ErrorCode::Internal, "ZSTD_d_windowLogMax");
    }
    return decoder;
}

Result<DecodeStep> ZstdDecoder::decode(std::span<const std::byte> in, bool, std::span<std::byte> out)
{
    ZSTD_inBuffer input = {.src = in.data(), .size = in.size(), .pos = 0};
    ZSTD_outBuffer output = {.dst = out.data(), .size = out.size(), .pos = 0};
    const std::size_t result = ZSTD_decompressStream(m_context.get(), &output, &input);
    if (!ZSTD_isError(result)) {
        return DecodeStep{.taken = input.pos, .made = output.pos, .streamEnd = result == 0};
    }
    switch (ZSTD_getErrorCode(result)) {
    case ZSTD_error_frameParameter_windowTooLarge:
    case ZSTD_error_memory_allocation:
        return failure(ErrorCode::ImageNeedsMemory, std::to_string(m_memory));
    case ZSTD_error_dictionary_wrong:
        return failure(ErrorCode::ImageUnsupported, "zstd with a dictionary of its own");
    case ZSTD_error_noForwardProgress_inputEmpty:
    case ZSTD_error_noForwardProgress_destFull:
        return DecodeStep{};
    default:
        return failure(ErrorCode::ImageCorrupt, ZSTD_getErrorName(result));
    }
}

Result<void> ZstdDecoder::restart()
{
    if (ZSTD_isError(ZSTD_DCtx_reset(m_context.get(), ZSTD_reset_session_only))) {
        return failure(ErrorCode::Internal, "ZSTD_DCtx_reset");
    }
    return {};
}

StreamStart ZstdDecoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 4> kFrame = {0x28, 0xb5, 0x2f, 0xfd};
    const auto frame = matchMagic(in, kFrame);
    return frame != StreamStart::No ? frame : matchSkippable(in);
}

} // namespace burin
