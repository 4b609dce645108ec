// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

#include <lzma.h>

namespace burin {

/// xz by liblzma's threaded decoder: blocks whose header tells their sizes (xz -T) are unpacked side by side,
/// the rest in the calling thread. Every block's check is verified, unless liblzma doesn't know its kind.
class XzDecoder final : public Decoder
{
public:
    [[nodiscard]] static Result<std::unique_ptr<Decoder>> create(const DecoderLimits& limits);
    ~XzDecoder() override;

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    explicit XzDecoder(const DecoderLimits& limits) : m_limits(limits) { }

    DecoderLimits m_limits;
    lzma_stream m_stream = LZMA_STREAM_INIT;
};

} // namespace burin
