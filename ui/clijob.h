// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "flashcontroller.h"

#include <QObject>
#include <QSocketNotifier>

namespace burin::cli {

/// Runs one job in the terminal: progress on standard error, JSON events on standard output where asked,
/// Ctrl-C cancels, and a second Ctrl-C leaves a drive that hangs.
class CliJob : public QObject
{
    Q_OBJECT

public:
    explicit CliJob(bool json);

    /// Blocks until the job has ended and the report is printed; returns the report.
    FlashReport run(FlashRequest request);

private:
    void show(const FlashState& state);
    void showLine(const FlashState& state);
    void showJson(const FlashState& state);
    void printReport(const FlashState& state);

    FlashController m_controller;
    QSocketNotifier m_signals;
    bool m_json;
    bool m_terminal;
    Phase m_shownPhase = Phase::Finished;
    int m_shownSteps = -1;
    bool m_lineOpen = false;
};

} // namespace burin::cli
