// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkpipeline.h"

#include <algorithm>
#include <utility>

namespace burin {

ChunkPipeline::ChunkPipeline(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                             JobMonitor& monitor)
    : m_plan(plan), m_source(source), m_device(device), m_monitor(monitor)
{
    m_first.buffer = AlignedBuffer(plan.chunkSize);
}

/// Fills a chunk with what comes next. False at the end of the image and on errors, which the monitor has.
bool ChunkPipeline::fill(Chunk& chunk)
{
    const auto room = chunk.buffer.span();
    const Offset offset = Offset{m_nextIndex} * m_plan.chunkSize;
    const auto got = m_source.read(room);
    if (!got) {
        if (!m_monitor.stopping()) { // else the read was interrupted
            m_monitor.fail(got.error());
        }
        return false;
    }
    if (*got < room.size()) {
        m_imageSize = offset + *got;
        if (*m_imageSize > 0 && *m_imageSize < m_plan.leastSize) {
            m_monitor.fail({.code = ErrorCode::ImageTruncated, .offset = m_imageSize});
            return false;
        }
    }
    if (*got == 0) {
        return false;
    }
    if (offset + *got > m_device.size()) {
        m_monitor.fail({.code = ErrorCode::ImageGrewPastDrive, .offset = m_device.size()});
        return false;
    }
    const auto padded = static_cast<std::size_t>(alignUp(*got, m_device.logicalBlock()));
    std::ranges::fill(room.subspan(*got, padded - *got), std::byte{0});
    chunk.view = {.index = m_nextIndex, .offset = offset, .data = room.first(padded), .imageBytes = *got};
    ++m_nextIndex;
    return true;
}

Result<void> ChunkPipeline::readFirst()
{
    auto kinds = kindsOf(m_plan.sums);
    if (m_plan.sha256 && !std::ranges::contains(kinds, DigestKind::Sha256)) {
        kinds.push_back(DigestKind::Sha256);
    }
    auto digests = DigestSet::create(kinds);
    if (!digests) {
        return std::unexpected(std::move(digests.error()));
    }
    m_digests = std::move(*digests);
    return m_monitor.run({[this] {
        if (fill(m_first)) {
            m_digests.add(m_first.view.data.first(m_first.view.imageBytes));
        } else if (m_imageSize == Bytes{0}) {
            m_monitor.fail({.code = ErrorCode::ImageEmpty});
        }
    }});
}

ChunkView ChunkPipeline::first()
{
    return m_first.view;
}

void ChunkPipeline::readAll()
{
    const auto stop = m_monitor.stopToken();
    while (!m_imageSize) {
        const auto chunk = m_free.pop(stop);
        if (!chunk || !fill(**chunk)) {
            break;
        }
        (*chunk)->holders = m_digests.empty() ? 1 : 2;
        m_work.push(*chunk);
        if (!m_digests.empty()) {
            m_digest.push(*chunk);
        }
    }
    m_work.close();
    m_digest.close();
}

void ChunkPipeline::release(Chunk& chunk)
{
    if (--chunk.holders == 0) {
        m_free.push(&chunk);
    }
}

Result<void> ChunkPipeline::run(const Work& work)
{
    if (m_imageSize) {
        return {}; // the first chunk was all
    }
    for (unsigned i = 0; i < m_plan.buffers; ++i) {
        auto& chunk = m_chunks.emplace_back(std::make_unique<Chunk>());
        chunk->buffer = AlignedBuffer(m_plan.chunkSize);
        m_free.push(chunk.get());
    }
    JobMonitor::Workers workers;
    workers.emplace_back([this] { readAll(); });
    for (unsigned i = 0; i < m_plan.depth; ++i) {
        workers.emplace_back([this, &work] {
            while (const auto chunk = m_work.pop(m_monitor.stopToken())) {
                work((*chunk)->view);
                release(**chunk);
            }
        });
    }
    if (!m_digests.empty()) {
        workers.emplace_back([this] {
            while (const auto chunk = m_digest.pop(m_monitor.stopToken())) {
                m_digests.add((*chunk)->view.data.first((*chunk)->view.imageBytes));
                release(**chunk);
            }
        });
    }
    auto result = m_monitor.run(workers);
    m_chunks.clear(); // the verify has buffers of its own
    return result;
}

Result<std::vector<DigestResult>> ChunkPipeline::digests()
{
    return m_digests.results();
}

} // namespace burin
