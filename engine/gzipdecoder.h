// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

#include <zlib.h>

namespace burin {

/// gzip (RFC 1952) with the CRC and length of its trailer checked, and bare deflate, by zlib.
class GzipDecoder final : public Decoder
{
public:
    enum class Framing { Gzip, Bare };

    [[nodiscard]] static Result<std::unique_ptr<Decoder>> create(Framing framing);
    ~GzipDecoder() override;

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    explicit GzipDecoder(Framing framing) : m_framing(framing) { }

    Framing m_framing;
    z_stream m_stream = {};
};

} // namespace burin
