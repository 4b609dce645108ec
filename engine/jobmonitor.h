// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockdevice.h"
#include "flashevent.h"
#include "imagesource.h"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <vector>

namespace burin {

/// What stands between a job's thread and its workers. The job's thread runs each pass with run(): it
/// starts the workers, says how far they are and watches the drive until the last has come home. The
/// workers report here and from nowhere else come events, so there is one order and one error.
class JobMonitor
{
public:
    using What = decltype(FlashEvent::what);
    using Workers = std::vector<std::function<void()>>;

    JobMonitor(BlockDevice& device, ImageSource& source, const Observer& observer, std::stop_token cancel);

    // --- the job's thread ---

    /// Announces the phase that the next passes belong to.
    void begin(Phase phase, std::optional<Bytes> total = {},
               std::shared_ptr<const std::vector<Range>> ranges = {});
    /// Runs the workers, each in a thread of its own. The first error of any of them, or what the watch
    /// over the drive found; success also where a cancel ended them early.
    [[nodiscard]] Result<void> run(const Workers& workers);
    /// Says the progress that has not been said yet.
    void sayProgress();
    [[nodiscard]] bool cancelled() const { return m_cancel.stop_requested(); }
    [[nodiscard]] unsigned retries() const { return m_retries; }
    [[nodiscard]] Bytes done() const;

    // --- the workers ---

    /// 0 where there is nothing to be done: the job has not stalled.
    void acknowledge(Bytes bytes);
    void post(What what);
    /// The first is kept; all workers of the pass are asked to stop.
    void fail(FlashError error);
    [[nodiscard]] std::stop_token stopToken() const { return m_stop.get_token(); }
    [[nodiscard]] bool stopping() const { return m_stop.stop_requested(); }
    /// Waits between two tries. False if the pass is being stopped.
    [[nodiscard]] bool pause(std::chrono::milliseconds duration);

    /// Tells the watch that a request is with the drive as long as this lives.
    class InFlight
    {
    public:
        explicit InFlight(JobMonitor& monitor);
        InFlight(const InFlight&) = delete;
        InFlight& operator=(const InFlight&) = delete;
        ~InFlight();

    private:
        JobMonitor& m_monitor;
    };

private:
    void start(const Workers& workers, std::vector<std::jthread>& threads);
    void say(What what);
    void sayPosted();
    void watchDrive(Clock::time_point now);

    BlockDevice& m_device;
    ImageSource& m_source;
    const Observer& m_observer;
    std::stop_token m_cancel;
    std::stop_source m_stop;

    mutable std::mutex m_mutex;
    std::condition_variable m_wake;        // the job's thread waits for news
    std::condition_variable_any m_stopped; // workers wait in pause()
    std::vector<What> m_posted;
    std::optional<FlashError> m_error;
    std::size_t m_working = 0;
    unsigned m_inFlight = 0;
    Bytes m_done = 0;
    Clock::time_point m_lastMove;

    // Of the job's thread alone.
    Phase m_phase = Phase::Preparing;
    Bytes m_saidDone = 0;
    Clock::time_point m_saidAt;
    Clock::time_point m_lastCheck;
    bool m_saidStalled = false;
    unsigned m_retries = 0;
};

} // namespace burin
