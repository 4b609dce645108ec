// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chunkpipeline.h"
#include "flashjob.h"
#include "jobmonitor.h"

#include <functional>

namespace burin {

/// What writing and comparing have in common: the parts of a job and its report.
class Job
{
public:
    Job(const FlashPlan& plan, ImageSource& source, BlockDevice& device, const Observer& observer,
        const FlashControl& control);

protected:
    void begin(Phase phase, std::optional<Bytes> total = {},
               std::shared_ptr<const std::vector<Range>> ranges = {});
    /// Begins a pass over all that has to be on the drive.
    void beginPass(Phase phase);
    [[nodiscard]] std::chrono::nanoseconds sinceBegin() const { return Clock::now() - m_began; }
    /// Everything that can be known to be wrong before the drive is touched.
    [[nodiscard]] Result<void> prepare();
    /// Runs one step in a worker thread, so that this one can watch the drive meanwhile.
    [[nodiscard]] Result<void> onWorker(const std::function<Result<void>()>& step);
    /// When the whole image has been read: what the published sums say of it.
    [[nodiscard]] Result<void> takeDigests();
    /// The report of a job that ended with this result; `good` is the verdict of one that nothing stopped.
    [[nodiscard]] FlashReport report(const Result<void>& result, Verdict good);

    const FlashPlan& m_plan;
    ImageSource& m_source;
    BlockDevice& m_device;
    const FlashControl& m_control;
    JobMonitor m_monitor;
    ChunkPipeline m_pipeline;
    FlashReport m_report;

private:
    void tellCoverage();

    Clock::time_point m_began;
};

} // namespace burin
