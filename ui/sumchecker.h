// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/imageprobe.h"
#include "engine/imagesums.h"

#include <QObject>

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>

namespace burin {

/// Compares the file of an image with its published sums in the background, as soon as it is chosen, so that
/// a bad download is refused before anything is written. In the GUI thread; the file is read in a pool
/// thread.
class SumChecker : public QObject
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(SumChecker)

public:
    enum class State {
        None, ///< no sums, or the file can't be judged by them: the job compares the unpacked image too
        Running,
        Matches,
        Differs, ///< damaged, or another version
    };

    explicit SumChecker(QObject* parent = nullptr) : QObject(parent) { }
    ~SumChecker() override;

    void start(const ImageInfo& image);
    void stop();

    [[nodiscard]] State state() const { return m_state; }
    /// Exactly when it matches or differs.
    [[nodiscard]] const std::optional<SumResult>& result() const { return m_result; }
    [[nodiscard]] double fraction() const;

Q_SIGNALS:
    void changed();

private:
    struct Progress {
        std::atomic<Bytes> done = 0;
        Bytes size = 0;
    };

    void take(quint64 turn, const ImageInfo& image, const Result<std::vector<DigestResult>>& digests);
    void timerEvent(QTimerEvent* event) override;
    void set(State state);

    State m_state = State::None;
    std::optional<SumResult> m_result;
    std::shared_ptr<Progress> m_progress;
    std::stop_source m_stop;
    quint64 m_turn = 0;
    int m_timer = 0;
};

} // namespace burin
