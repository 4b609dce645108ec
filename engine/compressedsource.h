// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"
#include "imagefile.h"
#include "imagesource.h"

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

namespace burin {

/// One or more compressed streams, joined and padded as the formats allow. The rules are the same for all
/// formats: the file may only end after a stream's end mark; zeros may follow it, another stream may follow
/// it, anything else is damage.
class CompressedSource final : public ImageSource
{
public:
    /// `packed` is where the streams lie in the file. `unpackedSize` is what the format claims; other than
    /// that many bytes are ImageCorrupt.
    CompressedSource(std::shared_ptr<const ImageFile> file, Range packed, std::unique_ptr<Decoder> decoder,
                     std::optional<Bytes> unpackedSize);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_unpackedSize; }
    [[nodiscard]] Bytes consumed() const noexcept override
    {
        return m_consumed.load(std::memory_order_relaxed);
    }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_packed.length; }

private:
    enum class State { InStream, BetweenStreams, Ended };

    [[nodiscard]] std::span<const std::byte> input() const;
    [[nodiscard]] Result<void> refill();
    void take(std::size_t count);
    [[nodiscard]] Result<std::size_t> advance(std::span<std::byte> out);
    [[nodiscard]] Result<void> goBetweenStreams();
    [[nodiscard]] Result<void> finish();

    std::shared_ptr<const ImageFile> m_file;
    Range m_packed;
    std::unique_ptr<Decoder> m_decoder;
    std::optional<Bytes> m_unpackedSize;
    std::vector<std::byte> m_buffer;
    std::size_t m_begin = 0; ///< of what is left in the buffer
    std::size_t m_end = 0;
    Bytes m_fetched = 0; ///< of m_packed, into the buffer
    bool m_inputEnds = false;
    bool m_stalled = false;
    State m_state = State::InStream;
    Bytes m_unpacked = 0;
    std::optional<FlashError> m_failed;
    std::atomic<Bytes> m_consumed = 0;
};

} // namespace burin
