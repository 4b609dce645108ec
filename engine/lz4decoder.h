// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

#include <lz4frame.h>

namespace burin {

/// lz4 frames by liblz4, which verifies the checksums of blocks and content where the frame has them.
class Lz4Decoder final : public Decoder
{
public:
    [[nodiscard]] static Result<std::unique_ptr<Decoder>> create();

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    struct Free {
        void operator()(LZ4F_dctx* context) const noexcept { LZ4F_freeDecompressionContext(context); }
    };

    Lz4Decoder() = default;

    std::unique_ptr<LZ4F_dctx, Free> m_context;
};

} // namespace burin
