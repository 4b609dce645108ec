// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

#include <lzma.h>

#include <vector>

namespace burin {

/// What liblzma unpacks.
enum class LzmaFraming {
    Xz,
    Lzip,    ///< CRC-32 and sizes are checked
    Alone,   ///< .lzma; has no check
    ZipLzma, ///< method 14 of zip (APPNOTE 5.8.8); what it lacks the zip's directory has
};

/// xz by liblzma's threaded decoder: blocks whose header tells their sizes (xz -T) are unpacked side by side,
/// the rest in the calling thread. Every block's check is verified, unless liblzma doesn't know its kind.
/// lzip and the two older framings by liblzma's own decoders for them.
class XzDecoder final : public Decoder
{
public:
    /// `zipSize`: for ZipLzma, how much there is to unpack.
    [[nodiscard]] static Result<std::unique_ptr<Decoder>>
    create(LzmaFraming framing, const DecoderLimits& limits, Bytes zipSize = 0);
    ~XzDecoder() override;

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    XzDecoder(LzmaFraming framing, const DecoderLimits& limits, Bytes zipSize)
        : m_framing(framing), m_limits(limits), m_zipSize(zipSize)
    {
    }
    [[nodiscard]] lzma_ret begin();
    [[nodiscard]] Result<DecodeStep> takeZipHeader(std::span<const std::byte> in);

    LzmaFraming m_framing;
    std::vector<std::byte> m_zipHeader; ///< what has been seen of it
    bool m_hasBegun = false;

    DecoderLimits m_limits;
    Bytes m_zipSize;
    lzma_stream m_stream = LZMA_STREAM_INIT;
};

} // namespace burin
