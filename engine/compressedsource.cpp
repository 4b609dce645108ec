// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "compressedsource.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kBufferSize = 256 * kKiB;

} // namespace

CompressedSource::CompressedSource(std::unique_ptr<ImageSource> packed, std::unique_ptr<Decoder> decoder,
                                   std::optional<Bytes> unpackedSize, DataAfterEnd after)
    : SourceFilter(std::move(packed)), m_decoder(std::move(decoder)), m_unpackedSize(unpackedSize),
      m_after(after), m_buffer(kBufferSize)
{
}

Result<std::size_t> CompressedSource::read(std::span<std::byte> out)
{
    if (m_failed) {
        return std::unexpected(*m_failed);
    }
    std::size_t filled = 0;
    while (filled < out.size() && m_state != State::Ended) {
        const auto made = advance(out.subspan(filled));
        if (!made) {
            // A file that is written to meanwhile looks damaged or cut short; say what is the case.
            const auto unchanged = inner().checkUnchanged();
            m_failed = unchanged ? made.error() : unchanged.error();
            m_failed->offset = m_unpacked;
            return std::unexpected(*m_failed);
        }
        filled += *made;
        m_unpacked += *made;
    }
    return filled;
}

std::span<const std::byte> CompressedSource::input() const
{
    return std::span(m_buffer).subspan(m_begin, m_end - m_begin);
}

void CompressedSource::take(std::size_t count)
{
    m_begin += count;
}

// Moves what is left to the front and fills the rest of the buffer from the input.
Result<void> CompressedSource::refill()
{
    std::memmove(m_buffer.data(), m_buffer.data() + m_begin, m_end - m_begin);
    m_end -= m_begin;
    m_begin = 0;
    const auto room = std::span(m_buffer).subspan(m_end);
    const auto got = inner().read(room);
    if (!got) {
        return std::unexpected(got.error());
    }
    m_end += *got;
    m_inputEnds = *got < room.size();
    return {};
}

// One step: decodes, or goes on from the end of a stream. Returns the bytes made, which may be 0.
Result<std::size_t> CompressedSource::advance(std::span<std::byte> out)
{
    if (input().empty() && !m_inputEnds) {
        if (const auto filled = refill(); !filled) {
            return std::unexpected(filled.error());
        }
    }
    if (m_state == State::BetweenStreams) {
        const auto next = goBetweenStreams();
        return next ? Result<std::size_t>(0) : std::unexpected(next.error());
    }
    const auto step = m_decoder->decode(input(), m_inputEnds, out);
    if (!step) {
        return std::unexpected(step.error());
    }
    take(step->taken);
    if (step->streamEnd) {
        m_state = State::BetweenStreams;
    }
    // liblzma may need a second call to say that it can't go on, so one without progress proves nothing.
    const bool stalls = step->taken == 0 && step->made == 0 && !step->streamEnd;
    if (stalls && m_stalled) {
        return failure(m_inputEnds ? ErrorCode::ImageTruncated : ErrorCode::ImageCorrupt);
    }
    m_stalled = stalls;
    return step->made;
}

Result<void> CompressedSource::goBetweenStreams()
{
    const auto data = input();
    const auto padding = std::ranges::find_if(data, [](std::byte b) { return b != std::byte{0}; });
    take(static_cast<std::size_t>(padding - data.begin()));
    if (input().empty()) {
        return m_inputEnds ? finish() : Result<void>();
    }
    if (input().size() < kStreamMagicSize && !m_inputEnds) {
        if (auto filled = refill(); !filled) {
            return filled;
        }
    }
    switch (m_decoder->startsStream(input())) {
    case StreamStart::Yes:
        m_state = State::InStream;
        return m_decoder->restart();
    case StreamStart::Partial:
        return failure(ErrorCode::ImageTruncated);
    case StreamStart::No:
        break;
    }
    return m_after == DataAfterEnd::PassedOver ? passOver()
                                               : failure(ErrorCode::ImageCorrupt, "data after the end");
}

/// Reads on to the end of the input, so that a sum of the file takes it all in.
Result<void> CompressedSource::passOver()
{
    do {
        take(input().size());
        if (auto filled = refill(); !filled) {
            return filled;
        }
    } while (!input().empty());
    return finish();
}

Result<void> CompressedSource::finish()
{
    m_state = State::Ended;
    if (auto unchanged = inner().checkUnchanged(); !unchanged) {
        return unchanged;
    }
    if (m_unpackedSize && *m_unpackedSize != m_unpacked) {
        return failure(ErrorCode::ImageCorrupt, "length");
    }
    return {};
}

} // namespace burin
