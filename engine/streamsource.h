// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imagesource.h"
#include "uniquefd.h"

#include <atomic>
#include <memory>

namespace burin {

/// The bytes of a pipe, a socket or a terminal, as they come. Its end is taken for the end of the data: what
/// ends it before its time can't be told, so only what is packed in it proves that it is whole.
class StreamSource final : public ImageSource
{
public:
    /// ImageUnreadable if there is no descriptor to wake a waiting read with.
    [[nodiscard]] static Result<std::unique_ptr<StreamSource>> create(UniqueFd fd);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return {}; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_done; }
    [[nodiscard]] Bytes fileSize() const noexcept override { return 0; }
    void interrupt() noexcept override;

private:
    StreamSource(UniqueFd fd, UniqueFd wake);

    UniqueFd m_fd;
    UniqueFd m_wake; ///< readable from interrupt() on
    std::atomic<Bytes> m_done = 0;
};

} // namespace burin
