// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "alignedbuffer.h"
#include "closablequeue.h"
#include "digest.h"
#include "flashjob.h"
#include "jobmonitor.h"
#include "rangesums.h"
#include "writemap.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace burin {

/// A piece of the image as it lies on the drive: `data` is a multiple of the logical block, zeros after
/// the image's own `imageBytes`.
struct ChunkView {
    std::size_t index = 0;
    Offset offset = 0;
    std::span<std::byte> data;
    std::size_t imageBytes = 0;
    std::vector<Range> parts{};   ///< of the drive: what is written and compared, whole logical blocks
    std::vector<Range> cleared{}; ///< of the drive: what is zeroed
    bool fillsUp = false;         ///< zeros for what was left out of a chunk that came by before

    [[nodiscard]] std::span<std::byte> bytes(const Range& part) const
    {
        return data.subspan(static_cast<std::size_t>(part.offset - offset),
                            static_cast<std::size_t>(part.length));
    }
    [[nodiscard]] Bytes imageBytesIn(std::span<const Range> ranges) const;
};

/// Carries an image through: one thread reads and unpacks it into buffers, several do the work on each
/// chunk, one takes the SHA-256, all at the same time and without copying. Buffers go round: a reader that
/// is ahead waits for one.
class ChunkPipeline
{
public:
    /// Called in several threads at once, each chunk once, in about the order of the image. Errors go to
    /// the monitor.
    using Work = std::function<void(const ChunkView&)>;

    ChunkPipeline(const FlashPlan& plan, ImageSource& source, BlockDevice& device, JobMonitor& monitor);

    /// Reads the first chunk, which stays in memory until the end. Before anything is done to the drive:
    /// what is wrong with an image mostly shows in its first bytes. Errors: the source's, ImageEmpty, and
    /// Internal where there is no SHA-256.
    [[nodiscard]] Result<void> readFirst();
    [[nodiscard]] ChunkView first();

    /// Carries all further chunks through; those of which nothing is needed only past the digests. If the
    /// image gives its block map the lie, what was left out before comes at the end.
    [[nodiscard]] Result<void> run(const Work& work);

    /// Set when the end of the image was seen.
    [[nodiscard]] std::optional<Bytes> imageSize() const { return m_imageSize; }
    [[nodiscard]] std::size_t chunkCount() const { return m_nextIndex; }
    /// As it was chosen, or as it has become: for use between the passes.
    [[nodiscard]] const WriteMap& map() const { return m_map; }
    [[nodiscard]] const std::optional<MapRefuted>& refuted() const { return m_refuted; }
    /// Once, when the end was seen: SHA-256 unless switched off, and the kinds of the plan's sums.
    [[nodiscard]] Result<std::vector<DigestResult>> digests();

private:
    struct Chunk {
        AlignedBuffer buffer;
        ChunkView view;
        std::atomic<int> holders = 0;
    };

    void readAll();
    [[nodiscard]] bool fill(Chunk& chunk);
    void choose(ChunkView& view);
    [[nodiscard]] std::optional<MapRefuted> contradicts(const ChunkView& view) const;
    void refute(MapRefuted refuted);
    void fillUp();
    void send(Chunk& chunk);
    void release(Chunk& chunk);
    void digest(const ChunkView& view);
    [[nodiscard]] bool takesDigests() const { return !m_digests.empty() || !m_rangeSums.empty(); }

    const FlashPlan& m_plan;
    ImageSource& m_source;
    BlockDevice& m_device;
    JobMonitor& m_monitor;

    Chunk m_first;
    std::vector<std::unique_ptr<Chunk>> m_chunks;
    ClosableQueue<Chunk*> m_free;
    ClosableQueue<Chunk*> m_work;
    ClosableQueue<Chunk*> m_digest;
    DigestSet m_digests;
    RangeSums m_rangeSums;
    WriteMap m_map;
    std::vector<Range> m_leftOut; // of the chunks before the map was refuted
    std::optional<MapRefuted> m_refuted;
    std::size_t m_nextIndex = 0; // of the reader
    std::optional<Bytes> m_imageSize;
};

} // namespace burin
