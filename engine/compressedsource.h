// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"
#include "sourcefilter.h"

#include <memory>
#include <optional>
#include <vector>

namespace burin {

/// Data after the last stream may be a damaged next one: only a published sum of the whole file can tell.
enum class DataAfterEnd { Damage, PassedOver };

/// One or more compressed streams, joined and padded as the formats allow. The rules are the same for all
/// formats: the input may only end after a stream's end mark; zeros may follow it, another stream may follow
/// it, anything else is damage unless it is to be passed over. The input is read to its proven end, and with
/// it checked.
class CompressedSource final : public SourceFilter
{
public:
    /// `unpackedSize` is what the format claims; other than that many bytes are ImageCorrupt.
    CompressedSource(std::unique_ptr<ImageSource> packed, std::unique_ptr<Decoder> decoder,
                     std::optional<Bytes> unpackedSize, DataAfterEnd after = DataAfterEnd::Damage);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_unpackedSize; }

private:
    enum class State { InStream, BetweenStreams, Ended };

    [[nodiscard]] std::span<const std::byte> input() const;
    [[nodiscard]] Result<void> refill();
    void take(std::size_t count);
    [[nodiscard]] Result<std::size_t> advance(std::span<std::byte> out);
    [[nodiscard]] Result<void> goBetweenStreams();
    [[nodiscard]] Result<void> passOver();
    [[nodiscard]] Result<void> finish();

    std::unique_ptr<Decoder> m_decoder;
    std::optional<Bytes> m_unpackedSize;
    DataAfterEnd m_after;
    std::vector<std::byte> m_buffer;
    std::size_t m_begin = 0; ///< of what is left in the buffer
    std::size_t m_end = 0;
    bool m_inputEnds = false;
    bool m_stalled = false;
    State m_state = State::InStream;
    Bytes m_unpacked = 0;
    std::optional<FlashError> m_failed;
};

} // namespace burin
