// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "errortext.h"
#include "flashcontroller.h"
#include "footer.h"
#include "imagepanel.h"
#include "mainmenu.h"

#include <QMainWindow>
#include <QPointer>
#include <QTimer>

#include <functional>
#include <optional>
#include <vector>

class QCheckBox;

namespace burin {

class ConfirmSheet;
class DrivePicker;
class Sheet;
class ThroughputChart;

/// What the window asks of the rest of the program. Any may be empty: then the window does without.
struct WindowServices {
    ImagePanel::Probe probe = probeImage;
    std::function<void()> refreshDrives;
    /// Loop devices too; drives that hold one of these files are protected.
    std::function<void(bool loops, const std::vector<std::string>& keptFiles)> listDrives;
    /// Answers later, in the GUI thread: whether the drive may be taken out, and a sentence.
    std::function<void(const DriveInfo&, std::function<void(bool ejected, const QString& sentence)>)> eject;
    std::function<Result<void>(const QString& path)> saveReport;
    /// Ends the process at once, with the job's thread stuck in the kernel.
    std::function<void()> leaveStuck;
};

class MainWindow : public QMainWindow
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(MainWindow)

public:
    MainWindow(FlashController& controller, WindowServices services, QWidget* parent = nullptr);
    ~MainWindow() override;

    void openImage(const QString& pathOrUrl);
    /// Chooses a drive that a person has named already, on the command line.
    void chooseDrive(const DriveInfo& drive);
    void setDrives(const std::vector<DriveInfo>& drives);
    /// Shows a job's state; the controller's arrive by themselves.
    void showJob(const FlashRequest& request, const FlashState& state);
    [[nodiscard]] Sheet* sheet() const;

protected:
    void closeEvent(QCloseEvent* event) override;

private:
    enum class Eject { No, Asked, Done, Failed };

    QWidget* makeBands();
    QWidget* makeDriveCard();
    void connectMenu();
    void connectFooter();
    void connectController();
    void restoreSettings();
    void saveSettings() const;

    void chooseImage();
    void askForSum();
    void askForUrl();
    [[nodiscard]] bool isUsable() const;
    void imageChanged();
    void driveChosen();
    void fillRecent();
    void confirmFlash(bool rewrite = false);
    void rewrite();
    [[nodiscard]] QString rewriteText(const FlashReport& report) const;
    enum class JobKind { Flash, Rewrite, Verify };
    void startJob(const ImageInfo& image, const DriveInfo& drive, JobKind kind);
    void jobFinished(const FlashReport& report);
    void cancelJob();
    void clearJob();
    void flashAgain();
    void ejectDrive(const DriveInfo& drive);
    void askForReportFile();
    void saveReportTo(const QString& path);
    void askToClose();
    void askToLeaveStuck();
    void tell(const QString& title, const QString& text);
    void showSheet(Sheet* sheet);
    void sheetClosed();
    void whyNotShown();
    void listDrives();
    void tick();

    void refresh();
    void refreshIdle();
    void refreshJob(const FlashState& job);
    void refreshFooter();
    [[nodiscard]] bool isRunning() const { return m_job && !m_job->report; }
    [[nodiscard]] ErrorContext context() const;
    [[nodiscard]] QString driveWords() const;

    FlashController& m_controller;
    WindowServices m_services;
    MainMenu m_menu;
    ImagePanel* m_panel;
    DrivePicker* m_picker;
    QCheckBox* m_showProtected;
    ThroughputChart* m_chart;
    Footer* m_footer;
    QPointer<Sheet> m_sheet;
    QPointer<Sheet> m_closing; ///< asks whether to close; no other sheet stands before that question
    QPointer<ConfirmSheet> m_confirm;
    QPointer<QWidget> m_focusBefore;
    QTimer m_tick;

    std::optional<FlashState> m_job;
    FlashRequest m_request;
    bool m_cancelling = false;
    bool m_closeWhenDone = false;
    bool m_stuckAsked = false;
    Eject m_eject = Eject::No;
    QString m_ejectSentence;
    QString m_notice;
};

} // namespace burin
