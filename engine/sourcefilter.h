// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagesource.h"

#include <memory>
#include <utility>

namespace burin {

/// A source around another: reads it in a way of its own, and leaves the rest to it.
class SourceFilter : public ImageSource
{
public:
    explicit SourceFilter(std::unique_ptr<ImageSource> inner) : m_inner(std::move(inner)) { }

    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_inner->unpackedSize(); }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_inner->consumed(); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_inner->fileSize(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_inner->checkUnchanged(); }
    void interrupt() noexcept override { m_inner->interrupt(); }

protected:
    [[nodiscard]] ImageSource& inner() const { return *m_inner; }

private:
    std::unique_ptr<ImageSource> m_inner;
};

} // namespace burin
