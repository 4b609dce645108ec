// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "clijob.h"

#include "cli.h"
#include "progresstext.h"
#include "words.h"

#include <QEventLoop>
#include <QJsonDocument>

#include <array>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>

namespace burin::cli {

using namespace Qt::StringLiterals;

namespace {

// Signal handlers may do next to nothing (signal-safety(7)): this one writes to a pipe that the event loop
// reads.
std::array<int, 2> signalPipe{-1, -1};
volatile std::sig_atomic_t signalsSeen = 0;

extern "C" void onSignal(int /*number*/)
{
    signalsSeen = signalsSeen + 1;
    if (signalsSeen > 1) {
        // The drive does not answer; its thread can't be ended, the process can.
        ::_exit(static_cast<int>(ExitStatus::Cancelled));
    }
    const char byte = 0;
    (void)!::write(signalPipe[1], &byte, 1);
}

int openSignalPipe()
{
    if (::pipe2(signalPipe.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
        return -1;
    }
    struct sigaction action = {};
    action.sa_handler = onSignal;
    action.sa_flags = SA_RESTART;
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        (void)sigaction(number, &action, nullptr);
    }
    // A reader of our output that goes away must not end the write.
    (void)std::signal(SIGPIPE, SIG_IGN);
    return signalPipe[0];
}

constexpr int kPercentStep = 5; // where the line can't be redrawn

} // namespace

CliJob::CliJob(bool json)
    : m_controller(openDrive), m_signals(openSignalPipe(), QSocketNotifier::Read), m_json(json),
      m_terminal(::isatty(STDERR_FILENO) == 1)
{
    connect(&m_signals, &QSocketNotifier::activated, this, [this] {
        m_signals.setEnabled(false);
        printError(Words::tr("\nCancelling… (once more: leave at once)\n"));
        m_controller.cancel();
    });
    connect(&m_controller, &FlashController::stateChanged, this, &CliJob::show);
}

FlashReport CliJob::run(FlashRequest request)
{
    QEventLoop loop;
    connect(&m_controller, &FlashController::finished, &loop, &QEventLoop::quit);
    m_controller.start(std::move(request));
    loop.exec();
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        (void)std::signal(number, SIG_DFL); // what follows, an eject, may simply be ended
    }
    printReport(m_controller.state());
    return *m_controller.state().report;
}

void CliJob::show(const FlashState& state)
{
    if (state.phase == Phase::Finished) {
        return;
    }
    showLine(state);
    if (m_json) {
        showJson(state);
    }
    m_shownPhase = state.phase;
}

void CliJob::showLine(const FlashState& state)
{
    const QString detail = progressDetail(state);
    const QString line = progressTitle(state) + (detail.isEmpty() ? QString() : u" · "_s + detail);
    if (m_terminal) {
        printError(u"\r"_s + line + u"\x1b[K"_s);
        m_lineOpen = true;
        return;
    }
    // The first chunk, written while flushing, moves the fraction too, but that phase tells no percent.
    const bool tellsPercent = state.phase == Phase::Writing || state.phase == Phase::Verifying;
    const int steps = static_cast<int>(state.fraction().value_or(0) * 100) / kPercentStep;
    if (state.phase != m_shownPhase || (tellsPercent && steps != m_shownSteps)) {
        m_shownSteps = steps;
        printError(line + u'\n');
    }
}

void CliJob::showJson(const FlashState& state)
{
    const PassState& pass = state.pass();
    QJsonObject event{{u"event"_s, state.phase == m_shownPhase ? u"progress"_s : u"phase"_s},
                      {u"phase"_s, phaseWord(state.phase)},
                      {u"done"_s, static_cast<qint64>(pass.done)},
                      {u"total"_s, pass.total ? QJsonValue(static_cast<qint64>(*pass.total)) : QJsonValue()},
                      {u"retries"_s, static_cast<int>(state.retries)},
                      {u"differing_ranges"_s, static_cast<qint64>(state.badRanges.size())},
                      {u"stalled"_s, state.stalledSince.has_value()}};
    if (const auto rate = pass.recent.rate()) {
        event.insert(u"bytes_per_second"_s, *rate);
    }
    if (const auto left = state.timeLeft()) {
        event.insert(u"seconds_left"_s, static_cast<qint64>(left->count()));
    }
    printOut(QString::fromUtf8(QJsonDocument(event).toJson(QJsonDocument::Compact)) + u'\n');
}

void CliJob::printReport(const FlashState& state)
{
    if (m_lineOpen) {
        printError(u"\r\x1b[K"_s);
    }
    if (m_json) {
        QJsonObject event = reportToJson(m_controller.request(), state);
        event.insert(u"event"_s, u"finished"_s);
        printOut(QString::fromUtf8(QJsonDocument(event).toJson(QJsonDocument::Compact)) + u'\n');
    } else {
        printOut(reportToText(m_controller.request(), state));
    }
}

} // namespace burin::cli
