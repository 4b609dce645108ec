// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The course of a job in the window: the question before it, its end, and closing while it runs.
#include "mainwindow.h"

#include "confirmsheet.h"
#include "drivepicker.h"
#include "jobtext.h"
#include "notifier.h"

#include <QCloseEvent>
#include <QFileDialog>
#include <QMenuBar>

using namespace Qt::StringLiterals;

namespace burin {

void MainWindow::confirmFlash(bool rewrite)
{
    const DriveInfo* drive = m_picker->drives().chosen();
    const auto& image = m_panel->image();
    if (drive == nullptr || !isUsable() || m_controller.isRunning() || m_sheet) {
        return;
    }
    auto* confirm = new ConfirmSheet(*image, *drive, this);
    m_confirm = confirm;
    connect(confirm, &Sheet::accepted, this, [this, flashed = *image, chosen = *drive, rewrite] {
        startJob(flashed, chosen, rewrite ? JobKind::Rewrite : JobKind::Flash);
    });
    connect(confirm, &ConfirmSheet::driveLost, this, [this] {
        m_notice = tr("The drive changed or went while you were asked. Nothing was written.");
    });
    showSheet(confirm);
}

/// Whether it helps to write what differs: after a pull or a cancel the rest, else what the drive lost.
QString MainWindow::rewriteText(const FlashReport& report) const
{
    const bool again = report.driveTouched && !m_request.stream && !report.counterfeit && isUsable()
        && findAgain(m_request.drive, m_picker->drives().drives());
    if (!again) {
        return {};
    }
    if (!report.badRanges.empty()) {
        return tr("Re&write what differs");
    }
    const bool cut =
        report.verdict == Verdict::Cancelled || (report.error && report.error->code == ErrorCode::DriveGone);
    return cut ? tr("Con&tinue") : QString();
}

/// Reads from the start, for what was acknowledged need not be there, and writes what differs; a complete
/// verify follows.
void MainWindow::rewrite()
{
    const auto drive = findAgain(m_request.drive, m_picker->drives().drives());
    clearJob();
    if (drive) {
        m_picker->drives().choose(driveKey(*drive));
        confirmFlash(true);
    }
}

void MainWindow::startJob(const ImageInfo& image, const DriveInfo& drive, JobKind kind)
{
    const bool verifyOnly = kind == JobKind::Verify;
    if (m_controller.isRunning()) {
        return;
    }
    if (!verifyOnly && !isUsable()) {
        refresh(); // the comparison with the sum ended while the question was open
        return;
    }
    m_notice.clear();
    m_cancelling = false;
    m_stuckAsked = false;
    m_eject = Eject::No;
    FlashRequest request{.image = image, .drive = drive, .plan = {}, .verifyOnly = verifyOnly};
    request.plan.verify = m_footer->verify() || verifyOnly;
    request.plan.threadingMemory = kThreadingMemory;
    request.plan.used = m_panel->usedBlocks();
    request.plan.onlyDifferences = kind == JobKind::Rewrite || (!verifyOnly && m_footer->onlyDifferences());
    // One that is known to be short was confirmed as such.
    const bool isShort = std::ranges::contains(request.image.warnings, ImageWarning::ShorterThanItsTable);
    request.plan.leastSize = verifyOnly || isShort ? 0 : request.image.claimedEnd;
    if (m_panel->sums().state() == SumChecker::State::Matches) {
        request.plan.sum = m_panel->sums().result(); // of the same file: the job compares its identity
    } else {
        request.plan.sums = request.image.sums;
    }
    m_tick.start();
    m_controller.start(request);
    showJob(m_controller.request(), m_controller.state());
}

void MainWindow::showJob(const FlashRequest& request, const FlashState& state)
{
    m_request = request;
    m_job = state;
    refresh();
}

void MainWindow::jobFinished(const FlashReport& report)
{
    m_tick.stop();
    m_cancelling = false;
    if (m_sheet) {
        m_sheet->reject(); // a question about a job that is over
    }
    if (m_closeWhenDone) {
        close();
        return;
    }
    if (report.verdict == Verdict::Verified && m_footer->eject() && !m_request.verifyOnly) {
        ejectDrive(m_request.drive);
    }
    if (!isActiveWindow()) {
        notifyDesktop(verdictTitle(report, context()), verdictAdvice(report, context()));
    }
    refresh();
}

void MainWindow::cancelJob()
{
    m_cancelling = true;
    m_controller.cancel();
    refresh();
}

void MainWindow::clearJob()
{
    m_job.reset();
    m_eject = Eject::No;
    refresh();
}

void MainWindow::flashAgain()
{
    const DriveInfo* drive = m_picker->drives().chosen();
    const bool same = drive != nullptr && driveKey(*drive) == driveKey(m_request.drive);
    clearJob();
    if (same) {
        confirmFlash();
    } else {
        m_picker->setFocus();
    }
}

void MainWindow::ejectDrive(const DriveInfo& drive)
{
    if (!m_services.eject || isRunning() || m_eject == Eject::Asked) {
        return;
    }
    m_eject = Eject::Asked;
    refresh();
    m_services.eject(drive, [self = QPointer(this)](bool ejected, const QString& sentence) {
        if (self != nullptr) {
            self->m_eject = ejected ? Eject::Done : Eject::Failed;
            self->m_ejectSentence = sentence;
            self->refresh();
        }
    });
}

void MainWindow::askForReportFile()
{
    if (!m_job || !m_job->report || m_sheet) {
        return;
    }
    auto* dialog = new QFileDialog(this, tr("Save the report"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(u"json"_s);
    dialog->setNameFilters({tr("Reports (*.json)"), tr("All files (*)")});
    dialog->selectFile(tr("burin-report.json"));
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::saveReportTo);
    dialog->open();
}

void MainWindow::saveReportTo(const QString& path)
{
    if (!m_services.saveReport || !m_job || !m_job->report) {
        return;
    }
    const Result<void> saved = m_services.saveReport(path);
    if (!saved) {
        tell(tr("The report was not saved"),
             tr("“%1” could not be written: %2").arg(path, QString::fromStdString(saved.error().detail)));
    }
}

// --- Sheets and closing

void MainWindow::showSheet(Sheet* sheet)
{
    m_sheet = sheet;
    m_focusBefore = focusWidget();
    connect(sheet, &Sheet::closed, this, &MainWindow::sheetClosed);
    centralWidget()->setEnabled(false);
    menuBar()->setEnabled(false);
    sheet->open();
}

void MainWindow::sheetClosed()
{
    m_sheet = nullptr;
    m_closing = nullptr; // it lives on for a moment, answered
    centralWidget()->setEnabled(true);
    menuBar()->setEnabled(true);
    if (m_focusBefore && m_focusBefore->isVisible()) {
        m_focusBefore->setFocus();
    }
    refresh();
}

Sheet* MainWindow::sheet() const
{
    return m_sheet;
}

void MainWindow::tell(const QString& title, const QString& text)
{
    if (m_sheet) {
        return;
    }
    auto* sheet = new Sheet(title, text, this);
    sheet->setSafeButton(tr("Close"));
    showSheet(sheet);
}

void MainWindow::whyNotShown()
{
    tell(tr("Why is my drive not shown?"),
         tr("Burin shows USB sticks, SD cards and other external drives as soon as the system sees them.\n\n"
            "• Protected drives, such as the disk that this system runs from, are shown with “Show protected "
            "drives”.\n"
            "• Internal drives are shown with View > Internal drives.\n"
            "• Loop devices are shown with View > Loop devices.\n"
            "• A drive that is missing altogether is not seen by the system: try another port, cable or "
            "reader, and F5."));
}

void MainWindow::closeEvent(QCloseEvent* event)
{
    if (!m_controller.isRunning()) {
        saveSettings();
        event->accept();
        return;
    }
    event->ignore();
    if (!m_closeWhenDone) {
        askToClose();
    }
}

void MainWindow::askToClose()
{
    if (m_closing) {
        return;
    }
    if (m_sheet) {
        m_sheet->reject();
    }
    auto* sheet = new Sheet(
        tr("Stop and close?"),
        tr("Burin is still at work on %1. If it stops now, the drive may hold only part of the image.")
            .arg(context().drive),
        this);
    m_closing = sheet;
    sheet->setObjectName(u"closeSheet"_s);
    sheet->setSafeButton(m_job && m_job->phase == Phase::Verifying ? tr("Keep verifying")
                                                                   : tr("Keep writing"));
    sheet->setActionButton(tr("Stop and close"));
    connect(sheet, &Sheet::accepted, this, [this] {
        m_closeWhenDone = true;
        cancelJob();
    });
    showSheet(sheet);
}

void MainWindow::askToLeaveStuck()
{
    m_stuckAsked = true;
    auto* sheet =
        new Sheet(tr("The drive does not answer"),
                  tr("%1 has not answered since you cancelled. Pull it out, or close Burin without waiting. "
                     "Don't use the drive as it is.")
                      .arg(context().drive),
                  this);
    m_closing = sheet;
    sheet->setObjectName(u"stuckSheet"_s);
    sheet->setSafeButton(tr("Keep waiting"));
    sheet->setActionButton(tr("Close anyway"));
    connect(sheet, &Sheet::accepted, this, [this] {
        saveSettings();
        hide();
        if (m_services.leaveStuck) {
            m_services.leaveStuck();
        }
    });
    showSheet(sheet);
}

void MainWindow::tick()
{
    if (m_controller.cancelIsStuck() && !m_stuckAsked && !m_sheet) {
        askToLeaveStuck();
    }
    refresh();
}

} // namespace burin
