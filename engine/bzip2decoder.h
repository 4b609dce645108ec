// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"

class KFilterBase;

namespace burin {

/// bzip2 by KArchive's filter. Only the filter: KCompressionDevice around it ends without an error at a
/// truncated file and after the first of several streams (KArchive 6.13, measured).
class Bzip2Decoder final : public Decoder
{
public:
    [[nodiscard]] static Result<std::unique_ptr<Decoder>> create();
    ~Bzip2Decoder() override;

    [[nodiscard]] Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                            std::span<std::byte> out) override;
    [[nodiscard]] Result<void> restart() override;
    [[nodiscard]] StreamStart startsStream(std::span<const std::byte> in) const override;

private:
    explicit Bzip2Decoder(std::unique_ptr<KFilterBase> filter);

    std::unique_ptr<KFilterBase> m_filter;
};

} // namespace burin
