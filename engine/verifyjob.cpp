// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "verifyjob.h"

#include <algorithm>
#include <cstring>

namespace burin {

FlashReport VerifyJob::run()
{
    auto result = compareAll();
    m_report.verifyTime = sinceBegin();
    m_report.bytesVerified = m_comparer.bytesCompared();
    m_report.chunksVerified = m_comparer.chunksDone();
    m_report.badRanges = m_comparer.badRanges();
    if (result && !m_monitor.cancelled()) {
        result = takeDigests();
    }
    return report(result, Verdict::Verified);
}

Result<void> VerifyJob::compareAll()
{
    const auto ready = prepare();
    if (!ready || m_monitor.cancelled()) {
        return ready;
    }
    beginPass(Phase::Verifying);
    auto done = m_device.checkIdentity();
    if (done) {
        done = m_monitor.run({[this] { compare(m_pipeline.first()); }});
    }
    if (done && !m_monitor.cancelled()) {
        done = m_pipeline.run([this](const ChunkView& chunk) { compare(chunk); });
    }
    if (done && !m_monitor.cancelled()) {
        done = m_device.checkIdentity(); // half of it may come from another card
    }
    return done;
}

void VerifyJob::compare(const ChunkView& chunk)
{
    const ChunkPlace place{.chunk = {.offset = chunk.offset, .length = chunk.data.size()},
                           .imageEnd = chunk.offset + chunk.imageBytes,
                           .parts = chunk.parts};
    m_comparer.compare(place, [&chunk](std::span<const std::byte> seen) {
        return std::ranges::all_of(chunk.parts, [&](const Range& part) {
            const auto at = static_cast<std::size_t>(part.offset - chunk.offset);
            const auto size = static_cast<std::size_t>(chunk.imageBytesIn(std::span(&part, 1)));
            return std::memcmp(seen.data() + at, chunk.data.data() + at, size) == 0;
        });
    });
}

} // namespace burin
