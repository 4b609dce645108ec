// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainwindow.h"

#include "confirmsheet.h"
#include "drivepicker.h"
#include "engine/imageformat.h"
#include "errortext.h"
#include "formatting.h"
#include "jobtext.h"
#include "report.h"
#include "throughputchart.h"

#include <QAction>
#include <QCheckBox>
#include <QCloseEvent>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>
#include <QInputDialog>
#include <QMenu>
#include <QMenuBar>
#include <QScrollArea>
#include <QSettings>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr int kRecentImages = 8;

} // namespace

MainWindow::MainWindow(FlashController& controller, WindowServices services, QWidget* parent)
    : QMainWindow(parent), m_controller(controller), m_services(std::move(services)), m_menu(*menuBar()),
      m_panel(new ImagePanel(m_services.probe)), m_picker(new DrivePicker),
      m_showProtected(new QCheckBox(tr("Show &protected drives"))), m_chart(new ThroughputChart),
      m_footer(new Footer)
{
    setObjectName(u"mainWindow"_s);
    setWindowTitle(tr("Burin"));
    setCentralWidget(makeBands());
    resize(fontMetrics().height() * 62, fontMetrics().height() * 46);
    connectMenu();
    connectFooter();
    connectController();
    connect(m_panel, &ImagePanel::chooseRequested, this, &MainWindow::chooseImage);
    connect(m_panel, &ImagePanel::imageChanged, this, &MainWindow::imageChanged);
    connect(&m_picker->drives(), &DriveListModel::chosenChanged, this, &MainWindow::driveChosen);
    connect(&m_tick, &QTimer::timeout, this, &MainWindow::tick);
    m_tick.setInterval(std::chrono::seconds(1));
    restoreSettings();
    refresh();
}

MainWindow::~MainWindow() = default;

QWidget* MainWindow::makeBands()
{
    auto* bands = new QWidget;
    auto* rows = new QVBoxLayout(bands);
    rows->setContentsMargins(18, 16, 18, 16);
    rows->setSpacing(16);
    auto* top = new QHBoxLayout;
    top->setSpacing(16);
    top->addWidget(m_panel, 40);
    top->addWidget(makeDriveCard(), 54);
    m_panel->setMinimumWidth(fontMetrics().height() * 14);
    rows->addLayout(top, 0);
    auto* chartCard = new Card;
    chartCard->column().setContentsMargins(18, 14, 16, 14);
    chartCard->column().addWidget(m_chart);
    rows->addWidget(chartCard, 1);

    auto* scroll = new QScrollArea;
    scroll->setWidget(bands);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    auto* central = new QWidget;
    auto* column = new QVBoxLayout(central);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(scroll, 1);
    column->addWidget(m_footer);
    return central;
}

QWidget* MainWindow::makeDriveCard()
{
    auto* card = new Card;
    card->column().setContentsMargins(8, 12, 8, 10);
    auto* heading = new ToneLabel(ToneLabel::Tone::Muted, 1, QFont::DemiBold);
    heading->setText(tr("2 Drives"));
    m_showProtected->setObjectName(u"showProtectedBox"_s);
    m_showProtected->setChecked(true);
    m_showProtected->setProperty("quiet", true);
    auto* head = new QHBoxLayout;
    head->setContentsMargins(10, 0, 2, 0);
    head->addWidget(heading, 1);
    head->addWidget(m_showProtected);
    card->column().addLayout(head);
    card->column().addWidget(m_picker, 1);
    connect(m_showProtected, &QCheckBox::toggled, m_menu.showProtected, &QAction::setChecked);
    connect(m_menu.showProtected, &QAction::toggled, m_showProtected, &QCheckBox::setChecked);
    connect(m_menu.showProtected, &QAction::toggled, this,
            [this](bool on) { m_picker->filter().setShowProtected(on); });
    return card;
}

void MainWindow::connectMenu()
{
    connect(m_menu.openImage, &QAction::triggered, this, &MainWindow::chooseImage);
    connect(m_menu.recent, &QMenu::aboutToShow, this, &MainWindow::fillRecent);
    connect(m_menu.openUrl, &QAction::triggered, this, &MainWindow::askForUrl);
    connect(m_menu.pasteSum, &QAction::triggered, this, &MainWindow::askForSum);
    connect(m_panel, &ImagePanel::sumsChanged, this, &MainWindow::refresh);
    connect(m_panel, &ImagePanel::blocksChanged, this, &MainWindow::refresh);
    connect(m_menu.saveReport, &QAction::triggered, this, &MainWindow::askForReportFile);
    connect(m_menu.quit, &QAction::triggered, this, &QWidget::close);
    connect(m_menu.verify, &QAction::triggered, this, [this] {
        if (const DriveInfo* drive = m_picker->drives().chosen(); drive != nullptr && m_panel->image()) {
            startJob(*m_panel->image(), *drive, JobKind::Verify);
        }
    });
    connect(m_menu.eject, &QAction::triggered, this, [this] {
        if (const DriveInfo* drive = m_picker->drives().chosen()) {
            ejectDrive(*drive);
        }
    });
    connect(m_menu.showInternal, &QAction::toggled, this,
            [this](bool on) { m_picker->filter().setShowInternal(on); });
    connect(m_menu.showLoops, &QAction::toggled, this, [this](bool on) {
        m_picker->filter().setShowLoops(on);
        listDrives();
    });
    connect(m_menu.refresh, &QAction::triggered, this, [this] {
        if (m_services.refreshDrives) {
            m_services.refreshDrives();
        }
    });
    connect(m_menu.whyNotShown, &QAction::triggered, this, &MainWindow::whyNotShown);
    connect(m_menu.about, &QAction::triggered, this, [this] {
        tell(tr("Burin %1").arg(QStringLiteral(BURIN_VERSION)),
             tr("Writes disk images to USB sticks and SD cards, and proves that they arrived.\n\n"
                "A burin is the engraver's steel: the tool that cuts exactly.\n\nFree software under the GNU "
                "GPL, "
                "version 3 or later."));
    });
}

void MainWindow::connectFooter()
{
    connect(m_footer, &Footer::flashRequested, this, [this] { confirmFlash(); });
    connect(m_footer, &Footer::rewriteRequested, this, &MainWindow::rewrite);
    connect(m_footer, &Footer::cancelRequested, this, &MainWindow::cancelJob);
    connect(m_footer, &Footer::skipVerifyRequested, this, [this] { m_controller.skipVerify(); });
    connect(m_footer, &Footer::saveReportRequested, this, &MainWindow::askForReportFile);
    connect(m_footer, &Footer::flashAgainRequested, this, &MainWindow::flashAgain);
    connect(m_footer, &Footer::ejectRequested, this, [this] { ejectDrive(m_request.drive); });
    connect(m_footer, &Footer::flashAnotherRequested, this, [this] {
        clearJob();
        m_picker->drives().choose({});
        m_picker->setFocus();
    });
    connect(m_footer, &Footer::detailsRequested, this, [this] {
        if (m_job && m_job->report && m_job->report->error) {
            const ErrorText words = errorText(*m_job->report->error, context());
            tell(words.title,
                 words.text + u"\n\n"_s + QString::fromStdString(m_request.drive.path) + u'\n'
                     + words.details);
        }
    });
}

void MainWindow::connectController()
{
    connect(&m_controller, &FlashController::stateChanged, this,
            [this](const FlashState& state) { showJob(m_controller.request(), state); });
    connect(&m_controller, &FlashController::finished, this, &MainWindow::jobFinished);
}

void MainWindow::restoreSettings()
{
    const QSettings settings;
    restoreGeometry(settings.value("window/geometry"_L1).toByteArray());
    m_footer->setOptions(settings.value("options/verify"_L1, true).toBool(),
                         settings.value("options/eject"_L1, true).toBool());
    m_menu.showProtected->setChecked(settings.value("view/protected"_L1, true).toBool());
}

void MainWindow::saveSettings() const
{
    QSettings settings;
    settings.setValue("window/geometry"_L1, saveGeometry());
    settings.setValue("options/verify"_L1, m_footer->verify());
    settings.setValue("options/eject"_L1, m_footer->ejectOption());
    settings.setValue("view/protected"_L1, m_menu.showProtected->isChecked());
}

// --- Image and drives

void MainWindow::openImage(const QString& pathOrUrl)
{
    if (!isRunning() && !pathOrUrl.isEmpty()) {
        m_panel->open(localFile(pathOrUrl));
    }
}

void MainWindow::chooseImage()
{
    if (isRunning() || m_sheet) {
        return;
    }
    auto* dialog = new QFileDialog(this, tr("Choose an image"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    QStringList endings{u"*.img"_s, u"*.iso"_s, u"*.raw"_s, u"*.bin"_s, u"*.wic"_s};
    for (const std::string_view suffix : packedSuffixes()) {
        endings << u'*' + QString::fromUtf8(suffix);
    }
    dialog->setNameFilters({tr("Disk images (%1)").arg(endings.join(u' ')), tr("All files (*)")});
    dialog->setDirectory(QSettings().value("images/folder"_L1).toString());
    connect(dialog, &QFileDialog::fileSelected, this, &MainWindow::openImage);
    dialog->open();
}

void MainWindow::askForUrl()
{
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Open from the web"));
    dialog->setLabelText(tr("Address of the image, http or https. It is written while it is downloaded:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        if (isUrl(text.trimmed().toStdString())) {
            openImage(text.trimmed());
        } else {
            m_notice = tr("That is no http or https address.");
            refresh();
        }
    });
    dialog->open();
}

void MainWindow::askForSum()
{
    auto* dialog = new QInputDialog(this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("Compare with a checksum"));
    dialog->setLabelText(tr("Paste the MD5, SHA-1, SHA-256 or SHA-512 that was published for the image:"));
    connect(dialog, &QInputDialog::textValueSelected, this, [this](const QString& text) {
        if (const auto sum = parsePasted(text.toStdString())) {
            m_panel->setSum(*sum);
        } else {
            m_notice = tr("That is no checksum. One has 32, 40, 64 or 128 digits from 0 to f.");
            refresh();
        }
    });
    dialog->open();
}

void MainWindow::imageChanged()
{
    if (m_job && m_job->report) {
        clearJob();
    }
    const auto& image = m_panel->image();
    m_picker->drives().setNeeded(image ? image->unpackedSize : std::nullopt);
    if (image) {
        QSettings settings;
        const QString path = QFile::decodeName(image->path.c_str());
        QStringList recent = settings.value("images/recent"_L1).toStringList();
        recent.removeAll(path);
        recent.prepend(path);
        settings.setValue("images/recent"_L1, recent.mid(0, kRecentImages));
        if (!isUrl(image->path)) {
            settings.setValue("images/folder"_L1, QFileInfo(path).absolutePath());
        }
        listDrives();
    }
    m_notice.clear();
    refresh();
}

void MainWindow::fillRecent()
{
    m_menu.recent->clear();
    const QStringList recent = QSettings().value("images/recent"_L1).toStringList();
    for (const QString& path : recent) {
        QAction* action = m_menu.recent->addAction(QFileInfo(path).fileName().replace(u'&', u"&&"_s));
        action->setToolTip(path);
        connect(action, &QAction::triggered, this, [this, path] { openImage(path); });
    }
    if (recent.isEmpty()) {
        m_menu.recent->addAction(tr("None yet"))->setEnabled(false);
    }
}

void MainWindow::setDrives(const std::vector<DriveInfo>& drives)
{
    m_picker->drives().setDrives(drives);
    if (m_confirm) {
        m_confirm->watch(drives);
    }
    refresh();
}

void MainWindow::chooseDrive(const DriveInfo& drive)
{
    m_picker->drives().choose(driveKey(drive));
}

void MainWindow::driveChosen()
{
    // A drive pulled after its job leaves the verdict standing.
    if (m_job && m_job->report && m_picker->drives().chosen() != nullptr) {
        clearJob();
    }
    m_notice.clear();
    refresh();
}

void MainWindow::listDrives()
{
    if (m_services.listDrives) {
        std::vector<std::string> kept;
        if (const auto& image = m_panel->image(); image && !isUrl(image->path)) {
            kept.push_back(image->path);
        }
        m_services.listDrives(m_menu.showLoops->isChecked(), kept);
    }
}

// --- What is shown

ErrorContext MainWindow::context() const
{
    return errorContext(m_request, m_job && m_job->report ? *m_job->report : FlashReport());
}

void MainWindow::refresh()
{
    const bool running = isRunning();
    m_panel->setLocked(running);
    m_picker->setLocked(running);
    m_chart->setModel(chartModel(m_job, m_job ? std::optional(m_request.image) : m_panel->image()));
    if (m_job) {
        refreshJob(*m_job);
    } else {
        refreshIdle();
    }
    refreshFooter();
    const bool ready = m_panel->image() && m_picker->drives().chosen() != nullptr;
    m_menu.openImage->setEnabled(!running);
    m_menu.pasteSum->setEnabled(!running && m_panel->image());
    m_menu.recent->setEnabled(!running);
    m_menu.openUrl->setEnabled(!running);
    m_menu.verify->setEnabled(!running && ready);
    m_menu.eject->setEnabled(!running && m_picker->drives().chosen() != nullptr);
    m_menu.saveReport->setEnabled(m_job && m_job->report);
}

/// An image that is not the published one is not written, unless a person says so.
bool MainWindow::isUsable() const
{
    return m_panel->image() && m_panel->sums().state() != SumChecker::State::Differs
        && !m_panel->needsEveryBlock();
}

void MainWindow::refreshIdle()
{
    const DriveInfo* drive = m_picker->drives().chosen();
    const auto& image = m_panel->image();
    QString detail;
    QString message = tr("The write and the verify speed appear here, along the image");
    if (drive != nullptr && image) {
        const QString name = QString::fromStdString(driveName(*drive));
        detail = image->unpackedSize ? tr("%1 to %2").arg(formatSize(*image->unpackedSize), name)
                                     : tr("to %1").arg(name);
        message = drive->node == driveName(*drive)
            ? tr("Ready: everything on %1 (%2) will be replaced").arg(name, formatSize(drive->size))
            : tr("Ready: everything on %1 (%2, %3) will be replaced")
                  .arg(name, QString::fromStdString(drive->node), formatSize(drive->size));
    }
    if (image && !isUsable()) {
        message = m_panel->needsEveryBlock()
            ? tr("The block map can't be used. “Write every block” goes on without it")
            : tr("The image is not the published one, so nothing is written");
    }
    m_chart->setHeadline(tr("Throughput"), detail);
    m_chart->setMessage(m_notice.isEmpty() ? message : m_notice);
    m_footer->setReady(drive != nullptr && isUsable());
}

void MainWindow::refreshJob(const FlashState& job)
{
    const JobText text = jobText(job, context(), m_cancelling, Clock::now());
    m_chart->setHeadline(text.headline, text.detail, text.mark);
    m_chart->setMessage(text.message);
}

void MainWindow::refreshFooter()
{
    m_footer->setCancelling(m_cancelling);
    if (!m_job) {
        m_footer->setMode(Footer::Mode::Idle);
        return;
    }
    if (!m_job->report) {
        const bool verifying = m_job->phase == Phase::Verifying && !m_request.verifyOnly;
        m_footer->setMode(verifying ? Footer::Mode::Verifying : Footer::Mode::Running);
        return;
    }
    const FlashReport& report = *m_job->report;
    const bool verified = report.verdict == Verdict::Verified;
    QString advice = verdictAdvice(report, context());
    auto tone = verified                                ? ToneLabel::Tone::Good
        : report.verdict == Verdict::WrittenNotVerified ? ToneLabel::Tone::Plain
                                                        : ToneLabel::Tone::Bad;
    if (report.verdict == Verdict::Cancelled && !report.driveTouched) {
        tone = ToneLabel::Tone::Plain;
    }
    const QString name = context().drive;
    if (m_eject == Eject::Asked) {
        advice = tr("Ejecting %1…").arg(name);
    } else if (m_eject != Eject::No) {
        advice = m_ejectSentence;
        tone = m_eject == Eject::Failed ? ToneLabel::Tone::Warning : tone;
    }
    m_footer->setAdvice(advice, tone);
    m_footer->setEjectable(m_eject != Eject::Asked && m_eject != Eject::Done);
    m_footer->setDetails(report.error.has_value());
    m_footer->setRewrite(rewriteText(report));
    m_footer->setMode(verified ? Footer::Mode::Verified : Footer::Mode::Ended);
}

} // namespace burin
