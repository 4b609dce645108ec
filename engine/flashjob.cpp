// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "flashjob.h"

#include "chunkcomparer.h"
#include "chunkdigest.h"
#include "chunkpipeline.h"
#include "jobmonitor.h"
#include "verifier.h"
#include "writer.h"

#include <cstring>
#include <mutex>

namespace burin {

using namespace std::chrono_literals;

namespace {

constexpr int kPartingChecks = 15;
constexpr auto kPartingPause = 100ms;

/// What writing and comparing have in common: the parts of a job and its report.
class Job
{
public:
    Job(const FlashPlan& plan, ImageSource& source, BlockDevice& device, const Observer& observer,
        const FlashControl& control)
        : m_plan(plan), m_source(source), m_device(device), m_control(control),
          m_monitor(device, source, observer, control.cancel), m_pipeline(plan, source, device, m_monitor)
    {
        m_report.driveSize = device.size();
        m_report.logicalBlock = device.logicalBlock();
        m_report.chunkSize = plan.chunkSize;
    }

protected:
    void begin(Phase phase, std::optional<Bytes> total = {})
    {
        m_report.endedIn = phase;
        m_began = Clock::now();
        m_monitor.begin(phase, total);
    }
    [[nodiscard]] std::chrono::nanoseconds sinceBegin() const { return Clock::now() - m_began; }
    /// Everything that can be known to be wrong before the drive is touched.
    [[nodiscard]] Result<void> prepare()
    {
        begin(Phase::Preparing);
        const auto size = m_source.unpackedSize();
        if (size && *size > m_device.size()) {
            return failure(ErrorCode::ImageTooLarge);
        }
        // Of a container the file's digest is known already: one that is for the file decides at once.
        if (m_plan.fileDigester && m_plan.fileDigester->results()) {
            const auto early = judgeSums(m_plan.sums, *m_plan.fileDigester->results(), {}, m_plan.imagePath);
            if (early && !early->matches && isSumOfFile(early->sum, m_plan.imagePath)) {
                m_report.sum = early;
                return failure(ErrorCode::ImageCorrupt, std::string(nameOf(early->sum.kind)) + " sum");
            }
        }
        return m_pipeline.readFirst();
    }
    /// When the whole image has been read: what the published sums say of it.
    [[nodiscard]] Result<void> takeDigests();
    /// The report of a job that ended with this result; `good` is the verdict of one that nothing stopped.
    [[nodiscard]] FlashReport report(const Result<void>& result, Verdict good)
    {
        m_monitor.sayProgress();
        m_report.retries = m_monitor.retries();
        m_report.imageSize = m_pipeline.imageSize();
        if (!result) {
            m_report.verdict = Verdict::Failed;
            m_report.error = result.error();
            m_report.error->phase = m_report.endedIn;
            const bool went =
                result.error().code == ErrorCode::DriveGone || result.error().code == ErrorCode::DriveChanged;
            if (went && !result.error().offset && m_report.endedIn != Phase::Preparing) {
                m_report.error->offset = m_monitor.done(); // how far it came, where no request tells
            }
        } else if (m_monitor.cancelled()) {
            m_report.verdict = Verdict::Cancelled;
        } else if (!m_report.badRanges.empty()) {
            m_report.verdict = Verdict::Failed;
            const auto& first = m_report.badRanges.front();
            m_report.error = {.code =
                                  first.unreadable ? ErrorCode::ReadBackFailed : ErrorCode::VerifyMismatch,
                              .phase = Phase::Verifying,
                              .sysErrno = first.sysErrno,
                              .offset = first.range.offset,
                              .detail = {}};
        } else {
            m_report.verdict = good;
        }
        return m_report;
    }

    const FlashPlan& m_plan;
    ImageSource& m_source;
    BlockDevice& m_device;
    const FlashControl& m_control;
    JobMonitor m_monitor;
    ChunkPipeline m_pipeline;
    FlashReport m_report;

private:
    Clock::time_point m_began;
};

Result<void> Job::takeDigests()
{
    const auto ofImage = m_pipeline.digests();
    if (!ofImage) {
        return std::unexpected(ofImage.error());
    }
    for (const auto& digest : *ofImage) {
        if (digest.kind == DigestKind::Sha256 && m_plan.sha256) {
            m_report.sha256 = digest.hex;
        }
    }
    std::span<const DigestResult> ofFile;
    if (m_plan.fileDigester && m_plan.fileDigester->results()) {
        ofFile = *m_plan.fileDigester->results();
    }
    m_report.sum =
        m_plan.sums.empty() ? m_plan.sum : judgeSums(m_plan.sums, ofFile, *ofImage, m_plan.imagePath);
    if (m_report.sum && !m_report.sum->matches) {
        return failure(ErrorCode::ImageCorrupt, std::string(nameOf(m_report.sum->sum.kind)) + " sum");
    }
    return {};
}

class FlashJob : public Job
{
public:
    using Job::Job;

    FlashReport run()
    {
        const auto result = write();
        const bool whole = result && !m_monitor.cancelled();
        if (!whole || !m_plan.verify || m_control.skipVerify.stop_requested()) {
            return report(result, Verdict::WrittenNotVerified);
        }
        return verify();
    }

private:
    [[nodiscard]] Result<void> write();
    [[nodiscard]] Result<void> writeImage();
    [[nodiscard]] Result<void> flush();
    [[nodiscard]] Result<void> onWorker(const std::function<Result<void>()>& step);
    void writeChunk(const ChunkView& chunk);
    FlashReport verify();

    std::mutex m_mutex;
    std::vector<ChunkDigest> m_digests;
};

/// Runs one step in a worker thread, so that this one can watch the drive meanwhile.
Result<void> FlashJob::onWorker(const std::function<Result<void>()>& step)
{
    return m_monitor.run({[this, &step] {
        if (auto done = step(); !done) {
            m_monitor.fail(done.error());
        }
    }});
}

Result<void> FlashJob::flush()
{
    return onWorker([this] {
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
    });
}

void FlashJob::writeChunk(const ChunkView& chunk)
{
    const ChunkDigest digest = digestChunk(chunk.data, m_device.logicalBlock());
    {
        const std::scoped_lock lock(m_mutex);
        if (m_digests.size() <= chunk.index) {
            m_digests.resize(chunk.index + 1);
        }
        m_digests[chunk.index] = digest;
    }
    if (auto written = writeWithRetries(m_device, m_monitor, chunk.offset, chunk.data); !written) {
        m_monitor.fail(written.error());
        return;
    }
    m_monitor.acknowledge(chunk.imageBytes);
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
    if (!done || m_monitor.cancelled()) {
        return done;
    }
    begin(Phase::Flushing);
    done = flush();
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

Result<void> FlashJob::write()
{
    const auto ready = prepare();
    if (!ready || m_monitor.cancelled()) {
        return ready;
    }
    begin(Phase::Writing, m_source.unpackedSize());
    auto done = writeImage();
    m_report.bytesWritten = m_monitor.done();
    return done;
}

FlashReport FlashJob::verify()
{
    begin(Phase::Verifying, m_pipeline.imageSize());
    auto read = readBack(m_plan, m_digests, m_pipeline.imageSize().value_or(0), m_device, m_monitor,
                         m_control.skipVerify);
    m_report.verifyTime = sinceBegin();
    if (!read) {
        m_report.bytesVerified = m_monitor.done();
        return report(std::unexpected(read.error()), Verdict::Failed);
    }
    m_report.bytesVerified = read->bytesRead;
    m_report.badRanges = std::move(read->badRanges);
    m_report.counterfeit = read->counterfeit;
    return report({}, read->complete ? Verdict::Verified : Verdict::WrittenNotVerified);
}

class VerifyJob : public Job
{
public:
    using Job::Job;

    FlashReport run()
    {
        auto result = compareAll();
        m_report.verifyTime = sinceBegin();
        m_report.bytesVerified = m_comparer.bytesCompared();
        m_report.badRanges = m_comparer.badRanges();
        if (result && !m_monitor.cancelled()) {
            result = takeDigests();
        }
        return report(result, Verdict::Verified);
    }

private:
    [[nodiscard]] Result<void> compareAll();
    void compare(const ChunkView& chunk);

    ChunkComparer m_comparer{m_device, m_monitor, m_plan.chunkSize};
};

Result<void> VerifyJob::compareAll()
{
    const auto ready = prepare();
    if (!ready || m_monitor.cancelled()) {
        return ready;
    }
    begin(Phase::Verifying, m_source.unpackedSize());
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
    const Range range{.offset = chunk.offset, .length = chunk.imageBytes};
    m_comparer.compare(range, chunk.data.size(), [&chunk](std::span<const std::byte> seen) {
        return std::memcmp(seen.data(), chunk.data.data(), chunk.imageBytes) == 0;
    });
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
