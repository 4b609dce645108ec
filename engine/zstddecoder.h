// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

#include <zstd.h>

namespace burin {

/// zstd (RFC 8878) by libzstd, with windows up to 2 GiB as `zstd --long=31` makes them. Skippable frames
/// count as streams without output.
class ZstdDecoder final : public Decoder
{
public:
    [[nodiscard]] static Result<std::unique_ptr<Decoder>> create(const DecoderLimits& limits);

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    struct Free {
        void operator()(ZSTD_DCtx* context) const noexcept { ZSTD_freeDCtx(context); }
    };
    explicit ZstdDecoder(Bytes memory) : m_memory(memory), m_context(ZSTD_createDCtx()) { }

    Bytes m_memory;
    std::unique_ptr<ZSTD_DCtx, Free> m_context;
};

} // namespace burin
