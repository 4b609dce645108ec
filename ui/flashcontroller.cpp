// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "flashcontroller.h"

#include "platform/sleepinhibitor.h"

#include <pthread.h>

#include <exception>
#include <utility>

namespace burin {

using namespace std::chrono_literals;

namespace {

FlashReport failedBefore(FlashError error)
{
    error.phase = Phase::Preparing;
    FlashReport report;
    report.error = std::move(error);
    return report;
}

FlashReport cancelledBefore()
{
    FlashReport report;
    report.verdict = Verdict::Cancelled;
    return report;
}

/// Opens both ends, runs the job and closes them. In the job's thread.
FlashReport runJob(const FlashRequest& request, const FlashController::OpenDrive& openDrive,
                   const Observer& observer, const FlashControl& control)
{
    observer({.at = Clock::now(), .what = PhaseStarted{.phase = Phase::Preparing}});
    std::shared_ptr<ImageSource> image = request.stream;
    FlashPlan plan = request.plan;
    plan.imagePath = request.image.path;
    if (!image) {
        if (!plan.sums.empty()) {
            plan.fileDigester = std::make_shared<FileDigester>(kindsOf(plan.sums));
        }
        auto opened = openImage(request.image,
                                {.threadingMemory = plan.threadingMemory,
                                 .digester = plan.fileDigester,
                                 .judgedBySum = !plan.sums.empty() || plan.sum,
                                 .stop = control.cancel});
        if (!opened) {
            return control.cancel.stop_requested() ? cancelledBefore() : failedBefore(opened.error());
        }
        image = std::move(*opened);
    }
    std::vector<std::string> keptFiles;
    if (!request.stream && !isUrl(request.image.path)) {
        keptFiles.push_back(request.image.path);
    }
    const auto device =
        openDrive({.drive = request.drive, .write = !request.verifyOnly, .keptFiles = std::move(keptFiles)},
                  control.cancel);
    if (control.cancel.stop_requested()) {
        return cancelledBefore();
    }
    if (!device) {
        return failedBefore(device.error());
    }
    const SleepInhibitor inhibitor("Writing and verifying " + driveName(request.drive));
    const auto run = request.verifyOnly ? runVerify : runFlash;
    return run(plan, *image, **device, observer, control);
}

} // namespace

FlashController::FlashController(OpenDrive openDrive, QObject* parent)
    : QObject(parent), m_openDrive(std::move(openDrive))
{
    qRegisterMetaType<burin::FlashState>();
    qRegisterMetaType<burin::FlashReport>();
}

FlashController::~FlashController()
{
    m_cancel.request_stop();
}

void FlashController::start(FlashRequest request)
{
    if (m_running) {
        return;
    }
    if (m_thread.joinable()) {
        m_thread.join(); // it has said Finished and is at its end
    }
    m_request = std::move(request);
    m_state = initialState(m_request.verifyOnly || m_request.plan.verify);
    m_cancel = std::stop_source();
    m_skipVerify = std::stop_source();
    m_cancelAsked.reset();
    m_running = true;
    Q_EMIT stateChanged(m_state);
    m_thread = std::jthread(
        [this, job = m_request, open = m_openDrive,
         control = FlashControl{.cancel = m_cancel.get_token(), .skipVerify = m_skipVerify.get_token()}] {
            (void)pthread_setname_np(pthread_self(), "burin-job");
            const Observer observer = [this](const FlashEvent& event) {
                QMetaObject::invokeMethod(this, [this, event] { apply(event); }, Qt::QueuedConnection);
            };
            FlashReport report;
            try {
                report = runJob(job, open, observer, control);
            } catch (const std::exception& e) {
                report = failedBefore({.code = ErrorCode::Internal, .detail = e.what()});
                report.driveTouched = !job.verifyOnly; // not known, so the worse is said
            }
            observer({.at = Clock::now(), .what = Finished{std::move(report)}});
        });
}

void FlashController::cancel()
{
    if (m_running && !m_cancelAsked) {
        m_cancelAsked = Clock::now();
        m_cancel.request_stop();
    }
}

void FlashController::skipVerify()
{
    m_skipVerify.request_stop();
}

bool FlashController::cancelIsStuck() const
{
    return m_running && m_cancelAsked && Clock::now() - *m_cancelAsked >= 10s;
}

void FlashController::apply(const FlashEvent& event)
{
    m_state = reduce(std::move(m_state), event);
    const bool ended = m_state.phase == Phase::Finished && m_running;
    if (ended) {
        m_running = false;
    }
    Q_EMIT stateChanged(m_state);
    if (ended) {
        Q_EMIT finished(*m_state.report);
    }
}

} // namespace burin
