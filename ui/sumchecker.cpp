// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sumchecker.h"

#include "engine/filedigest.h"
#include "engine/imagefile.h"

#include <QFuture>
#include <QtConcurrentRun>

#include <algorithm>
#include <utility>

namespace burin {

namespace {

constexpr int kShowEvery = 200; // milliseconds

/// The digests of the very file that was looked at.
Result<std::vector<DigestResult>> digestsOf(const ImageInfo& image, const std::stop_token& stop,
                                            const std::function<void(Bytes)>& progress)
{
    const auto file = ImageFile::open(image.path);
    if (!file) {
        return std::unexpected(file.error());
    }
    if ((*file)->identity() != image.file) {
        return failure(ErrorCode::ImageChanged);
    }
    return digestFile(**file, kindsOf(image.sums), stop, progress);
}

} // namespace

SumChecker::~SumChecker()
{
    m_stop.request_stop();
}

void SumChecker::stop()
{
    m_stop.request_stop();
    ++m_turn;
    set(State::None);
}

void SumChecker::start(const ImageInfo& image)
{
    stop();
    if (image.sums.empty()) {
        return;
    }
    m_stop = std::stop_source();
    m_progress = std::make_shared<Progress>();
    m_progress->size = image.file.size;
    set(State::Running);
    QtConcurrent::run([image, progress = m_progress, stop = m_stop.get_token()] {
        return digestsOf(image, stop, [&progress](Bytes done) { progress->done = done; });
    }).then(this, [this, turn = m_turn, image](const Result<std::vector<DigestResult>>& digests) {
        take(turn, image, digests);
    });
}

void SumChecker::take(quint64 turn, const ImageInfo& image, const Result<std::vector<DigestResult>>& digests)
{
    if (turn != m_turn) {
        return;
    }
    // What stopped it here, a read error or a change, stops the job too and is said there.
    m_result = digests ? judgeSums(image.sums, *digests, {}, image.path) : std::nullopt;
    if (m_result && !m_result->matches) {
        // A sum may be of the unpacked image, unless its name says that it is of this file, or this file is
        // it.
        const bool isOfFile = image.layers.empty()
            || std::ranges::any_of(image.sums,
                                   [&](const KnownSum& sum) { return isSumOfFile(sum, image.path); });
        if (!isOfFile) {
            m_result.reset();
        }
    }
    set(!m_result ? State::None : m_result->matches ? State::Matches : State::Differs);
}

double SumChecker::fraction() const
{
    return m_progress && m_progress->size > 0
        ? static_cast<double>(m_progress->done) / static_cast<double>(m_progress->size)
        : 0;
}

void SumChecker::timerEvent(QTimerEvent* /*event*/)
{
    Q_EMIT changed();
}

void SumChecker::set(State state)
{
    m_state = state;
    if (state == State::Running && m_timer == 0) {
        m_timer = startTimer(kShowEvery);
    } else if (state != State::Running && m_timer != 0) {
        killTimer(std::exchange(m_timer, 0));
    }
    if (state == State::None || state == State::Running) {
        m_result.reset();
    }
    Q_EMIT changed();
}

} // namespace burin
