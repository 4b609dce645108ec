// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "flashjob.h"

#include "chunkdigest.h"
#include "contentcheck.h"
#include "job.h"
#include "verifier.h"
#include "verifyjob.h"
#include "writer.h"

#include <mutex>

namespace burin {

using namespace std::chrono_literals;

namespace {

constexpr int kPartingChecks = 15;
constexpr auto kPartingPause = 100ms;

class FlashJob : public Job
{
public:
    using Job::Job;

    FlashReport run();

private:
    [[nodiscard]] Result<void> write();
    [[nodiscard]] Result<void> writeImage();
    [[nodiscard]] Result<void> writeDifferences();
    [[nodiscard]] Result<void> writeFirstChunk();
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] Result<void> flushHere();
    void keepDigest(const ChunkView& chunk);
    [[nodiscard]] bool writeRange(Offset offset, std::span<const std::byte> data, Bytes imageBytes);
    void writeChunk(const ChunkView& chunk);
    void writeIfDifferent(const ChunkView& chunk);
    [[nodiscard]] Result<bool> isThere(const ChunkView& chunk);
    [[nodiscard]] Result<void> prepareToWrite();
    [[nodiscard]] Result<void> clearBehindImage();
    FlashReport verify();
    FlashReport reportEqual();

    std::mutex m_mutex;
    std::vector<ChunkDigest> m_digests;
    Bytes m_written = 0;
    Bytes m_unchanged = 0;
    AlignedBuffer m_zeros{m_plan.clearRest ? m_plan.chunkSize : 0};

    // Of a job that writes only what differs.
    ContentCheck m_content{m_device, m_monitor, m_plan.chunkSize};
    std::mutex m_firstWrite;
    bool m_wroteAny = false; ///< since the comparison began
};

FlashReport FlashJob::run()
{
    const auto result = write();
    const bool whole = result && !m_monitor.cancelled();
    if (whole && m_plan.onlyDifferences && !m_wroteAny) {
        return reportEqual();
    }
    if (!whole || !m_plan.verify || m_control.skipVerify.stop_requested()) {
        return report(result, Verdict::WrittenNotVerified);
    }
    return verify();
}

Result<void> FlashJob::flushHere()
{
    const JobMonitor::InFlight inFlight(m_monitor);
    auto flushed = m_device.flush();
    // The flush of a drive that was pulled fails with EIO a moment before the kernel lets it go.
    for (int i = 0; !flushed && i < kPartingChecks && m_device.checkIdentity(); ++i) {
        if (!m_monitor.pause(kPartingPause)) {
            break;
        }
    }
    // Flushing tells little of which drive was flushed: a swapped card has nothing to flush.
    if (auto same = m_device.checkIdentity(); !same) {
        return same;
    }
    return flushed;
}

Result<void> FlashJob::flush()
{
    return onWorker([this] { return flushHere(); });
}

/// What has to be in a chunk of the drive: zeros where nothing of the image is.
void FlashJob::keepDigest(const ChunkView& chunk)
{
    ChunkDigest digest;
    if (chunk.fillsUp) {
        digest = digestChunk(chunk.data, m_device.logicalBlock());
    } else if (chunk.parts.empty()) {
        digest = digestChunk(m_zeros.span().first(chunk.data.size()), m_device.logicalBlock());
    } else {
        digest = digestParts(chunk.data, chunk.offset, chunk.parts, m_device.logicalBlock());
    }
    const std::scoped_lock lock(m_mutex);
    if (m_digests.size() <= chunk.index) {
        m_digests.resize(chunk.index + 1);
    }
    // A chunk that is filled up is known, gaps and all, if there was anything in it.
    if (!chunk.fillsUp || m_digests[chunk.index].length == 0) {
        m_digests[chunk.index] = digest;
    }
}

bool FlashJob::writeRange(Offset offset, std::span<const std::byte> data, Bytes imageBytes)
{
    if (auto written = writeWithRetries(m_device, m_monitor, offset, data); !written) {
        m_monitor.fail(written.error());
        return false;
    }
    m_monitor.acknowledge(imageBytes);
    const std::scoped_lock lock(m_mutex);
    m_written += imageBytes;
    return true;
}

void FlashJob::writeChunk(const ChunkView& chunk)
{
    keepDigest(chunk);
    for (const auto& part : chunk.parts) {
        if (!writeRange(part.offset, chunk.bytes(part), chunk.imageBytesIn(std::span(&part, 1)))) {
            return;
        }
    }
    for (const auto& gap : chunk.cleared) {
        const auto zeros = m_zeros.span().first(static_cast<std::size_t>(gap.length));
        if (!writeRange(gap.offset, zeros, chunk.imageBytesIn(std::span(&gap, 1)))) {
            return;
        }
    }
}

Result<bool> FlashJob::isThere(const ChunkView& chunk)
{
    keepDigest(chunk);
    const auto there = m_content.holds(chunk);
    if (there && *there) {
        const Bytes bytes = chunk.imageBytesIn(chunk.parts) + chunk.imageBytesIn(chunk.cleared);
        m_monitor.acknowledge(bytes);
        const std::scoped_lock lock(m_mutex);
        m_unchanged += bytes;
    }
    return there;
}

void FlashJob::writeIfDifferent(const ChunkView& chunk)
{
    const auto there = isThere(chunk);
    auto ready = there ? Result<void>() : std::unexpected(there.error());
    if (there && *there) {
        return;
    }
    if (ready) {
        ready = prepareToWrite();
    }
    if (!ready) {
        m_monitor.fail(ready.error());
        return;
    }
    writeChunk(chunk);
}

/// Before the first write among others that may not be needed: a job that is cut off from here on must not
/// leave a drive that looks whole (SPEC 6.3).
Result<void> FlashJob::prepareToWrite()
{
    const std::scoped_lock lock(m_firstWrite);
    if (m_wroteAny) {
        return {};
    }
    m_wroteAny = true;
    m_report.driveTouched = true;
    const AlignedBuffer zeros(std::min(m_pipeline.first().data.size(), kMiB));
    auto cleared = writeWithRetries(m_device, m_monitor, 0, zeros.span());
    return cleared ? flushHere() : cleared;
}

/// The image's own range is left as it is, but an old backup GPT behind it has to go.
Result<void> FlashJob::clearBehindImage()
{
    const auto size = m_pipeline.imageSize() ? m_pipeline.imageSize() : m_source.unpackedSize();
    if (!size) {
        return {};
    }
    return onWorker([&]() -> Result<void> {
        const auto cleared = clearEndBehind(m_device, m_monitor, *size);
        if (!cleared) {
            return std::unexpected(cleared.error());
        }
        m_report.driveTouched = m_report.driveTouched || *cleared;
        return *cleared ? flushHere() : Result<void>();
    });
}

Result<void> FlashJob::writeFirstChunk()
{
    m_report.flushTime = {};
    begin(Phase::Flushing);
    auto done = flush();
    if (done && !m_monitor.cancelled()) {
        done = onWorker([this] {
            writeChunk(m_pipeline.first());
            return Result<void>();
        });
    }
    if (done && !m_monitor.cancelled()) {
        done = flush();
    }
    m_report.flushTime = sinceBegin();
    return done;
}

Result<void> FlashJob::writeImage()
{
    m_report.driveTouched = true;
    auto done = onWorker([this] { return clearEnds(m_device, m_monitor); });
    if (done && !m_monitor.cancelled()) {
        done = flush();
    }
    if (done && !m_monitor.cancelled()) {
        done = m_pipeline.run([this](const ChunkView& chunk) { writeChunk(chunk); });
    }
    m_report.writeTime = sinceBegin();
    if (done && !m_monitor.cancelled()) {
        done = takeDigests(); // before the first chunk: a drive with a wrong image never looks whole
    }
    return !done || m_monitor.cancelled() ? done : writeFirstChunk();
}

Result<void> FlashJob::writeDifferences()
{
    const bool sizeKnown = m_pipeline.imageSize() || m_source.unpackedSize();
    auto done = clearBehindImage();
    bool firstIsThere = false;
    if (done && !m_monitor.cancelled()) {
        done = onWorker([&]() -> Result<void> {
            const auto there = isThere(m_pipeline.first());
            firstIsThere = there && *there;
            return there ? Result<void>() : std::unexpected(there.error());
        });
    }
    if (done && !m_monitor.cancelled()) {
        done = m_pipeline.run([this](const ChunkView& chunk) { writeIfDifferent(chunk); });
    }
    m_report.writeTime = sinceBegin();
    if (done && !m_monitor.cancelled()) {
        done = takeDigests();
    }
    if (done && !sizeKnown && !m_monitor.cancelled()) {
        const bool touched = std::exchange(m_report.driveTouched, false);
        done = clearBehindImage();
        m_wroteAny = m_wroteAny || m_report.driveTouched; // what was compared before has to be again
        m_report.driveTouched = m_report.driveTouched || touched;
    }
    if (!done || m_monitor.cancelled() || (firstIsThere && !m_wroteAny)) {
        return done;
    }
    m_wroteAny = true;
    m_report.driveTouched = true;
    return writeFirstChunk();
}

Result<void> FlashJob::write()
{
    const auto ready = prepare();
    if (!ready || m_monitor.cancelled()) {
        return ready;
    }
    beginPass(Phase::Writing);
    auto done = m_plan.onlyDifferences ? writeDifferences() : writeImage();
    m_report.bytesWritten = m_written;
    m_report.bytesUnchanged = m_unchanged;
    return done;
}

/// The comparison has found all that was to be there, so it is the verify.
FlashReport FlashJob::reportEqual()
{
    m_report.verifyTime = std::exchange(m_report.writeTime, {});
    m_report.bytesVerified = m_unchanged;
    if (auto same = m_device.checkIdentity(); !same) {
        return report(std::unexpected(same.error()), Verdict::Failed);
    }
    return report({}, Verdict::Verified);
}

FlashReport FlashJob::verify()
{
    m_digests.resize(m_pipeline.chunkCount());
    beginPass(Phase::Verifying);
    auto read = readBack(m_plan, m_digests, m_pipeline.map(), m_pipeline.imageSize().value_or(0), m_device,
                         m_monitor, m_control.skipVerify);
    m_report.verifyTime = sinceBegin();
    if (!read) {
        m_report.bytesVerified = m_monitor.done();
        return report(std::unexpected(read.error()), Verdict::Failed);
    }
    m_report.bytesVerified = read->bytesRead;
    m_report.chunksVerified = read->chunks;
    m_report.badRanges = std::move(read->badRanges);
    m_report.counterfeit = read->counterfeit;
    return report({}, read->complete ? Verdict::Verified : Verdict::WrittenNotVerified);
}

} // namespace

FlashReport runFlash(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                     const Observer& observer, const FlashControl& control)
{
    return FlashJob(plan, source, device, observer, control).run();
}

FlashReport runVerify(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                      const Observer& observer, const FlashControl& control)
{
    return VerifyJob(plan, source, device, observer, control).run();
}

} // namespace burin
