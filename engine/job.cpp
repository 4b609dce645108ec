// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "job.h"

namespace burin {

Job::Job(const FlashPlan& plan, ImageSource& source, BlockDevice& device, const Observer& observer,
         const FlashControl& control)
    : m_plan(plan), m_source(source), m_device(device), m_control(control),
      m_monitor(device, source, observer, control.cancel), m_pipeline(plan, source, device, m_monitor)
{
    m_report.driveSize = device.size();
    m_report.logicalBlock = device.logicalBlock();
    m_report.chunkSize = plan.chunkSize;
}

void Job::begin(Phase phase, std::optional<Bytes> total, std::shared_ptr<const std::vector<Range>> ranges)
{
    m_report.endedIn = phase;
    m_began = Clock::now();
    m_monitor.begin(phase, total, std::move(ranges));
}

void Job::beginPass(Phase phase)
{
    const WriteMap& map = m_pipeline.map();
    if (map.isEverything() || m_plan.clearRest) {
        begin(phase, m_pipeline.imageSize() ? m_pipeline.imageSize() : m_source.unpackedSize());
    } else {
        begin(phase, map.total(), std::make_shared<const std::vector<Range>>(map.ranges()));
    }
}

Result<void> Job::prepare()
{
    begin(Phase::Preparing);
    const auto size = m_source.unpackedSize();
    if (size && *size > m_device.size()) {
        return failure(ErrorCode::ImageTooLarge);
    }
    // Of a container the file's digest is known already: one that is for the file decides at once.
    const auto ofFile = m_plan.fileDigester ? m_plan.fileDigester->results() : std::nullopt;
    if (ofFile) {
        const auto early = judgeSums(m_plan.sums, *ofFile, {}, m_plan.imagePath);
        if (early && !early->matches && isSumOfFile(early->sum, m_plan.imagePath)) {
            m_report.sum = early;
            return failure(ErrorCode::ImageCorrupt, std::string(nameOf(early->sum.kind)) + " sum");
        }
    }
    return m_pipeline.readFirst();
}

Result<void> Job::onWorker(const std::function<Result<void>()>& step)
{
    return m_monitor.run({[this, &step] {
        if (auto done = step(); !done) {
            m_monitor.fail(done.error());
        }
    }});
}

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
    const auto ofFile = (m_plan.fileDigester ? m_plan.fileDigester->results() : std::nullopt)
                            .value_or(std::vector<DigestResult>());
    m_report.sum =
        m_plan.sums.empty() ? m_plan.sum : judgeSums(m_plan.sums, ofFile, *ofImage, m_plan.imagePath);
    if (m_report.sum && !m_report.sum->matches) {
        return failure(ErrorCode::ImageCorrupt, std::string(nameOf(m_report.sum->sum.kind)) + " sum");
    }
    return {};
}

void Job::tellCoverage()
{
    const WriteMap& map = m_pipeline.map();
    m_report.refuted = m_pipeline.refuted();
    if (map.isEverything()) {
        return;
    }
    m_report.coverage = Coverage::UsedBlocks;
    (m_plan.clearRest ? m_report.bytesCleared : m_report.bytesSkipped) =
        map.used()->imageSize - map.total().value_or(0);
}

FlashReport Job::report(const Result<void>& result, Verdict good)
{
    m_monitor.sayProgress();
    m_report.retries = m_monitor.retries();
    m_report.imageSize = m_pipeline.imageSize();
    tellCoverage();
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
        m_report.error = {.code = first.unreadable ? ErrorCode::ReadBackFailed : ErrorCode::VerifyMismatch,
                          .phase = Phase::Verifying,
                          .sysErrno = first.sysErrno,
                          .offset = first.range.offset,
                          .detail = {}};
    } else {
        m_report.verdict = good;
    }
    return m_report;
}

} // namespace burin
