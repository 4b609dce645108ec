// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashjob.h"
#include "engine/flashstate.h"
#include "engine/imageprobe.h"
#include "platform/driveopener.h"

#include <QObject>
#include <QTimer>

#include <functional>
#include <memory>
#include <stop_token>
#include <thread>

namespace burin {

struct FlashRequest {
    ImageInfo image;
    DriveInfo drive;
    FlashPlan plan;
    std::shared_ptr<ImageSource> stream{}; ///< of an image that can be read only once
    bool verifyOnly = false;               ///< compare the drive with the image, write nothing
};

/// Runs one job at a time in a thread of its own and turns its events into the state that the window and
/// the command line show. Used from the GUI thread; all signals come there.
class FlashController : public QObject
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(FlashController)

public:
    using OpenDrive =
        std::function<Result<std::unique_ptr<BlockDevice>>(const OpenRequest&, std::stop_token)>;

    explicit FlashController(OpenDrive openDrive, QObject* parent = nullptr);
    /// Cancels and waits for the job's thread.
    ~FlashController() override;

    [[nodiscard]] bool isRunning() const { return m_running; }
    [[nodiscard]] const FlashState& state() const { return m_state; }
    [[nodiscard]] const FlashRequest& request() const { return m_request; }

    void start(FlashRequest request);
    void cancel();
    void skipVerify();
    /// True once a cancel has had no answer for 10 s: the drive hangs, and only leaving without it helps.
    [[nodiscard]] bool cancelIsStuck() const;

Q_SIGNALS:
    void stateChanged(const burin::FlashState& state);
    /// After the last stateChanged of a job; the drive is closed.
    void finished(const burin::FlashReport& report);

private:
    void apply(const FlashEvent& event);

    OpenDrive m_openDrive;
    FlashRequest m_request;
    FlashState m_state;
    std::stop_source m_cancel;
    std::stop_source m_skipVerify;
    std::optional<Clock::time_point> m_cancelAsked;
    std::jthread m_thread;
    bool m_running = false;
};

} // namespace burin
