// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "lz4decoder.h"

#include <array>

namespace burin {

Result<std::unique_ptr<Decoder>> Lz4Decoder::create()
{
    std::unique_ptr<Lz4Decoder> decoder(new Lz4Decoder);
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    decoder->m_context.reset(context);
    return decoder;
}

Result<DecodeStep> Lz4Decoder::decode(std::span<const std::byte> in, bool, std::span<std::byte> out)
{
    std::size_t taken = in.size();
    std::size_t made = out.size();
    const auto result = LZ4F_decompress(m_context.get(), out.data(), &made, in.data(), &taken, nullptr);
    if (LZ4F_isError(result) != 0) {
        return failure(ErrorCode::ImageCorrupt, LZ4F_getErrorName(result));
    }
    return DecodeStep{.taken = taken, .made = made, .streamEnd = result == 0};
}

Result<void> Lz4Decoder::restart()
{
    LZ4F_resetDecompressionContext(m_context.get());
    return {};
}

StreamStart Lz4Decoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 4> kFrame = {0x04, 0x22, 0x4d, 0x18};
    const auto frame = matchMagic(in, kFrame);
    return frame != StreamStart::No ? frame : matchSkippable(in);
}

} // namespace burin
