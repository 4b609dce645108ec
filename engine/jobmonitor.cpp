// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "jobmonitor.h"

#include <exception>
#include <system_error>
#include <thread>
#include <utility>

namespace burin {

using namespace std::chrono_literals;

namespace {

constexpr auto kSayEvery = 100ms;
constexpr auto kCheckAfter = 2s;    // SPEC 6.9: identity after 2 s without completion
constexpr auto kStalledAfter = 10s; // SPEC 6.8

} // namespace

JobMonitor::JobMonitor(BlockDevice& device, ImageSource& source, const Observer& observer,
                       std::stop_token cancel)
    : m_device(device), m_source(source), m_observer(observer), m_cancel(std::move(cancel)),
      m_lastMove(Clock::now())
{
}

void JobMonitor::say(What what)
{
    if (std::holds_alternative<Retrying>(what)) {
        ++m_retries;
    }
    m_observer({.at = Clock::now(), .what = std::move(what)});
}

void JobMonitor::begin(Phase phase, std::optional<Bytes> total,
                       std::shared_ptr<const std::vector<Range>> ranges)
{
    sayProgress();
    m_phase = phase;
    m_saidStalled = false;
    {
        const std::scoped_lock lock(m_mutex);
        m_lastMove = Clock::now();
        if (phase == Phase::Verifying) {
            m_done = 0;
            m_saidDone = 0;
        }
    }
    say(PhaseStarted{.phase = phase, .total = total, .ranges = std::move(ranges)});
}

void JobMonitor::start(const Workers& workers, std::vector<std::jthread>& threads)
{
    threads.reserve(workers.size());
    try {
        for (const auto& worker : workers) {
            threads.emplace_back([this, &worker] {
                try {
                    worker();
                } catch (const std::exception& e) {
                    fail({.code = ErrorCode::Internal, .detail = e.what()});
                }
                const std::scoped_lock lock(m_mutex);
                --m_working;
                m_wake.notify_one();
            });
        }
    } catch (const std::system_error& e) {
        // Without all of them the others would wait for each other.
        fail({.code = ErrorCode::Internal, .sysErrno = e.code().value(), .detail = e.what()});
        const std::scoped_lock lock(m_mutex);
        m_working -= workers.size() - threads.size();
    }
}

Result<void> JobMonitor::run(const Workers& workers)
{
    m_stop = std::stop_source();
    // A read that waits for a pipe or a network would not see the token.
    const std::stop_callback onStop(m_stop.get_token(), [this] { m_source.interrupt(); });
    const std::stop_callback onCancel(m_cancel, [this] { m_stop.request_stop(); });
    {
        const std::scoped_lock lock(m_mutex);
        m_error.reset();
        m_working = workers.size();
        m_lastMove = Clock::now();
    }
    std::vector<std::jthread> threads;
    start(workers, threads);
    for (bool working = true; working;) {
        {
            std::unique_lock lock(m_mutex);
            m_wake.wait_for(lock, kSayEvery, [this] { return m_working == 0 || !m_posted.empty(); });
            working = m_working > 0;
        }
        sayPosted();
        const auto now = Clock::now();
        if (now - m_saidAt >= kSayEvery) {
            sayProgress();
            watchDrive(now);
        }
    }
    threads.clear();
    const std::scoped_lock lock(m_mutex);
    if (m_error) {
        return std::unexpected(*m_error);
    }
    return {};
}

void JobMonitor::sayPosted()
{
    std::vector<What> posted;
    {
        const std::scoped_lock lock(m_mutex);
        posted.swap(m_posted);
    }
    for (auto& what : posted) {
        say(std::move(what));
    }
}

void JobMonitor::sayProgress()
{
    const Bytes now = done();
    m_saidAt = Clock::now();
    if (now == m_saidDone) {
        return;
    }
    m_saidDone = now;
    if (std::exchange(m_saidStalled, false)) {
        say(Resumed{});
    }
    say(Advanced{.done = now, .sourceConsumed = m_source.consumed(), .sourceSize = m_source.fileSize()});
}

void JobMonitor::watchDrive(Clock::time_point now)
{
    Clock::time_point lastMove;
    bool drive = false;
    {
        const std::scoped_lock lock(m_mutex);
        lastMove = m_lastMove;
        drive = m_inFlight > 0;
    }
    if (now - lastMove >= kCheckAfter && now - m_lastCheck >= kCheckAfter) {
        m_lastCheck = now;
        if (auto same = m_device.checkIdentity(); !same) {
            fail(same.error());
        }
    }
    // A flush may rightly take minutes; the window counts its seconds.
    if (m_phase != Phase::Flushing && !m_saidStalled && now - lastMove >= kStalledAfter) {
        m_saidStalled = true;
        say(Stalled{.since = lastMove, .drive = drive});
    }
}

Bytes JobMonitor::done() const
{
    const std::scoped_lock lock(m_mutex);
    return m_done;
}

void JobMonitor::acknowledge(Bytes bytes)
{
    const std::scoped_lock lock(m_mutex);
    m_done += bytes;
    m_lastMove = Clock::now();
}

void JobMonitor::post(What what)
{
    const std::scoped_lock lock(m_mutex);
    m_posted.push_back(std::move(what));
    m_wake.notify_one();
}

void JobMonitor::fail(FlashError error)
{
    {
        const std::scoped_lock lock(m_mutex);
        if (!m_error) {
            error.phase = m_phase;
            m_error = std::move(error);
        }
    }
    m_stop.request_stop();
}

bool JobMonitor::pause(std::chrono::milliseconds duration)
{
    std::unique_lock lock(m_mutex);
    (void)m_stopped.wait_for(lock, stopToken(), duration, [] { return false; });
    return !stopping();
}

JobMonitor::InFlight::InFlight(JobMonitor& monitor) : m_monitor(monitor)
{
    const std::scoped_lock lock(m_monitor.m_mutex);
    ++m_monitor.m_inFlight;
}

JobMonitor::InFlight::~InFlight()
{
    const std::scoped_lock lock(m_monitor.m_mutex);
    --m_monitor.m_inFlight;
}

} // namespace burin
