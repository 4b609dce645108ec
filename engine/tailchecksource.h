// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imageformat.h"
#include "sourcefilter.h"

#include <memory>
#include <vector>

namespace burin {

/// Looks at the last bytes of what passes: a VHD or a DMG has its mark there, and in a stream it is seen only
/// at the end. ImageUnsupported then (detail: "VHD inside gzip"), so that it is never called written.
class TailCheckSource final : public SourceFilter
{
public:
    TailCheckSource(std::unique_ptr<ImageSource> inner, std::string_view outer);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;

private:
    std::string m_outer;
    std::vector<std::byte> m_tail;
};

} // namespace burin
