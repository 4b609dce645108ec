// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkpipeline.h"

#include "chunkdigest.h"
#include "rangelist.h"

#include <algorithm>
#include <utility>

namespace burin {

Bytes ChunkView::imageBytesIn(std::span<const Range> ranges) const
{
    return totalLength(partsWithin(ranges, {.offset = offset, .length = imageBytes}));
}

std::vector<DigestKind> digestKinds(const FlashPlan& plan)
{
    auto kinds = kindsOf(plan.sums);
    if (plan.sha256 && !std::ranges::contains(kinds, DigestKind::Sha256)) {
        kinds.push_back(DigestKind::Sha256);
    }
    return kinds;
}

ChunkPipeline::ChunkPipeline(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                             JobMonitor& monitor)
    : m_plan(plan), m_source(source), m_device(device), m_monitor(monitor), m_rangeSums(plan.used),
      m_map({.used = plan.used, .clearRest = plan.clearRest, .chunkSize = plan.chunkSize})
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
    if (m_imageSize && !m_map.isEverything() && *m_imageSize != m_map.used()->imageSize) {
        refute({.reason = MapRefuted::Reason::OtherSize, .offset = *m_imageSize});
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
    choose(chunk.view);
    ++m_nextIndex;
    return true;
}

/// What there is in a chunk that its block map rules out.
std::optional<MapRefuted> ChunkPipeline::contradicts(const ChunkView& view) const
{
    const UsedBlocks& used = *m_map.used();
    if (view.offset + view.imageBytes > used.imageSize) {
        return MapRefuted{.reason = MapRefuted::Reason::OtherSize, .offset = used.imageSize};
    }
    if (used.source != UsedBlocksSource::Bmap) {
        return {}; // what is free may hold anything
    }
    for (const auto& gap : gapsWithin(used.ranges, {.offset = view.offset, .length = view.imageBytes})) {
        if (!isZero(view.bytes(gap))) {
            return MapRefuted{.reason = MapRefuted::Reason::NotZero, .offset = gap.offset};
        }
    }
    return {};
}

void ChunkPipeline::refute(MapRefuted refuted)
{
    if (m_map.used()->source != UsedBlocksSource::Bmap) {
        m_monitor.fail({.code = ErrorCode::ImageChanged}); // since its file systems were looked at
        return;
    }
    // What was left out so far is zero, or it would have been noticed.
    for (std::size_t i = 0; i < m_nextIndex && !m_plan.clearRest; ++i) {
        const auto gaps = gapsWithin(m_map.ranges(), {Offset{i} * m_plan.chunkSize, m_plan.chunkSize});
        m_leftOut.insert(m_leftOut.end(), gaps.begin(), gaps.end());
    }
    m_map.drop();
    refuted.total = m_imageSize ? m_imageSize : m_source.unpackedSize();
    m_refuted = refuted;
    m_monitor.post(refuted);
}

/// What of a chunk is written.
void ChunkPipeline::choose(ChunkView& view)
{
    if (!m_map.isEverything()) {
        if (const auto refuted = contradicts(view)) {
            refute(*refuted);
        }
    }
    const Range chunk{.offset = view.offset, .length = view.data.size()};
    view.parts = m_map.written(chunk);
    view.cleared = m_map.cleared(chunk);
}

Result<void> ChunkPipeline::readFirst()
{
    const auto kinds = m_source.takesDigests() ? std::vector<DigestKind>() : digestKinds(m_plan);
    auto digests = DigestSet::create(kinds);
    if (!digests) {
        return std::unexpected(std::move(digests.error()));
    }
    m_digests = std::move(*digests);
    return m_monitor.run({[this] {
        if (fill(m_first)) {
            digest(m_first.view);
        } else if (m_imageSize == Bytes{0}) {
            m_monitor.fail({.code = ErrorCode::ImageEmpty});
        }
    }});
}

void ChunkPipeline::digest(const ChunkView& view)
{
    const auto data = view.data.first(view.imageBytes);
    m_digests.add(data);
    if (auto right = m_rangeSums.add(data); !right) {
        m_monitor.fail(right.error());
    }
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
        send(**chunk);
    }
    if (m_imageSize && !m_monitor.stopping()) {
        fillUp();
    }
    m_work.close();
    m_digest.close();
}

void ChunkPipeline::send(Chunk& chunk)
{
    const bool toWork = !chunk.view.parts.empty() || !chunk.view.cleared.empty();
    const bool toDigest = takesDigests() && !chunk.view.fillsUp;
    chunk.holders = 1 + (toWork ? 1 : 0) + (toDigest ? 1 : 0);
    if (toWork) {
        m_work.push(&chunk);
    } else {
        m_monitor.acknowledge(0);
    }
    if (toDigest) {
        m_digest.push(&chunk);
    }
    release(chunk);
}

/// Zeros for all that was left out before the map was refuted.
void ChunkPipeline::fillUp()
{
    const Offset end = alignUp(*m_imageSize, m_device.logicalBlock());
    for (std::size_t at = 0; at < m_leftOut.size();) {
        const auto index = static_cast<std::size_t>(m_leftOut[at].offset / m_plan.chunkSize);
        const Offset offset = Offset{index} * m_plan.chunkSize;
        const auto chunk = m_free.pop(m_monitor.stopToken());
        if (!chunk || offset >= end) {
            return;
        }
        const auto size = static_cast<std::size_t>(std::min<Bytes>(m_plan.chunkSize, end - offset));
        ChunkView view{.index = index,
                       .offset = offset,
                       .data = (*chunk)->buffer.span().first(size),
                       .imageBytes = static_cast<std::size_t>(std::min<Bytes>(size, *m_imageSize - offset)),
                       .fillsUp = true};
        std::ranges::fill(view.data, std::byte{0});
        for (; at < m_leftOut.size() && m_leftOut[at].offset < offset + m_plan.chunkSize; ++at) {
            const auto within = partsWithin(std::span(&m_leftOut[at], 1), {offset, size});
            view.parts.insert(view.parts.end(), within.begin(), within.end());
        }
        (*chunk)->view = std::move(view);
        send(**chunk);
    }
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
    if (takesDigests()) {
        workers.emplace_back([this] {
            while (const auto chunk = m_digest.pop(m_monitor.stopToken())) {
                digest((*chunk)->view);
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
    if (auto complete = m_rangeSums.finish(); !complete) {
        return std::unexpected(complete.error());
    }
    return m_source.takesDigests() ? m_source.digests() : m_digests.results();
}

} // namespace burin
