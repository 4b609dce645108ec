// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The real window, the real controller and the real job, over a drive in memory; real clicks and keys.
#include "engine/bmapfile.h"
#include "engine/digest.h"
#include "tests/support/fakes.h"
#include "tests/support/windowstates.h"
#include "ui/burinstyle.h"
#include "ui/confirmsheet.h"
#include "ui/drivepicker.h"
#include "ui/mainwindow.h"
#include "ui/throughputchart.h"

#include <QApplication>
#include <QCheckBox>
#include <QCryptographicHash>
#include <QDropEvent>
#include <QFile>
#include <QMenu>
#include <QMimeData>
#include <QPushButton>
#include <QScopeGuard>
#include <QScreen>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTest>
#include <QThreadPool>
#include <QUrl>

#include <condition_variable>

// Qt 6.8's QTRY macros narrow a duration to int.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace Qt::StringLiterals;
using namespace burin;

namespace {

constexpr std::size_t kImageSize = 24 * kMiB + 12345;
constexpr Bytes kDriveSize = 64 * kMiB;

/// A drive whose contents outlive the job, and which can be made to wait.
struct FakeDrive {
    test::MemoryDevice memory{kDriveSize};
    std::mutex mutex;
    std::condition_variable changed;
    Offset holdAt = ~Offset(0); ///< writes from here on wait
    test::MemoryDevice::Call::Kind holdKind = test::MemoryDevice::Call::Write;
    std::atomic<int> waiting = 0;
    std::atomic<int> opened = 0;

    void release()
    {
        const std::scoped_lock lock(mutex);
        holdAt = ~Offset(0);
        changed.notify_all();
    }
    void passOrWait(test::MemoryDevice::Call::Kind kind, Offset offset)
    {
        std::unique_lock lock(mutex);
        if (kind == holdKind && offset >= holdAt) {
            ++waiting;
            changed.wait(lock, [&] { return offset < holdAt; });
            --waiting;
        }
    }
};

class FakeDevice : public BlockDevice
{
public:
    explicit FakeDevice(FakeDrive& drive) : m_drive(drive) { ++m_drive.opened; }
    Bytes size() const override { return m_drive.memory.size(); }
    std::uint32_t logicalBlock() const override { return m_drive.memory.logicalBlock(); }
    Result<void> writeAt(Offset offset, std::span<const std::byte> data) override
    {
        // The stretch that is cleared first is let through, so that the job gets going.
        if (data.size() > kMiB) {
            m_drive.passOrWait(test::MemoryDevice::Call::Write, offset);
        }
        return m_drive.memory.writeAt(offset, data);
    }
    Result<void> readAt(Offset offset, std::span<std::byte> data) override
    {
        m_drive.passOrWait(test::MemoryDevice::Call::Read, offset);
        return m_drive.memory.readAt(offset, data);
    }
    Result<void> flush() override { return m_drive.memory.flush(); }
    Result<void> checkIdentity() override { return m_drive.memory.checkIdentity(); }

private:
    FakeDrive& m_drive;
};

} // namespace

class MainWindowTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();

    void nothingIsChosenByItself();
    void flashesByMouse();
    void flashesByKeyboard();
    void enterOnTheFreshSheetStartsNothing();
    void sheetBlocksTheWindow();
    void driveThatVanishesClosesTheSheet();
    void secondClickReplacesTheChoice();
    void protectedRowsCannotBeChosen();
    void pressOnOneRowAndReleaseOnAnotherChoosesNothing();
    void cancelSaysWhatIsOnTheDrive();
    void skippedVerifyIsNotCalledVerified();
    void closingAsksAndKeepsWriting();
    void closingStopsTheJobAndCloses();
    void closingAsksInPlaceOfAnotherSheet();
    void finishedJobClosesTheCloseQuestion();
    void drivesComingAndGoingLeaveTheJobAlone();
    void mismatchIsNeverCalledVerified();
    void refusedDriveIsExplained();
    void flashAnotherKeepsTheImageAndClearsTheDrive();
    void flashAgainAsksForTheSameDrive();
    void verdictStaysWhenTheDriveIsPulled();
    void failedEjectIsAWarningBesideTheVerdict();
    void verifyOnlyWritesNothing();
    void droppedFilesAreOpened();
    void refusedImagesSayWhy();
    void lateProbeResultsAreDropped();
    void anImageThatDiffersFromItsSumIsNotWritten();
    void usedBlocksTakeOneTickToWriteAll();
    void aBlockMapThatIsDamagedStopsTheFlash();
    void aCutOffJobGoesOnWhenTheDriveIsBack();
    void everyControlHasAName();
    void fitsASmallScreen();
    void remembersOptionsButNoDrives();

private:
    void makeWindow();
    QString writeImage(const QString& name, const std::vector<std::byte>& bytes) const;
    void openTestImage();
    void clickRow(int row);
    void click(const char* name) { QTest::mouseClick(button(name), Qt::LeftButton); }
    QPushButton* button(const char* name) const
    {
        return m_window->findChild<QPushButton*>(QString::fromLatin1(name));
    }
    void startByMouse();
    void writeMappedImage(bool damaged);
    void tabTo(const QWidget* target);
    QString headline() const { return m_window->findChild<ThroughputChart*>()->headline(); }
    QString advice() const { return m_window->findChild<Footer*>()->advice(); }
    bool driveHoldsImage() const;
    DriveListModel& drives() { return m_window->findChild<DrivePicker*>()->drives(); }

    QTemporaryDir m_folder;
    std::vector<std::byte> m_bytes = test::noise(kImageSize);
    std::vector<std::byte> m_mapped;
    QString m_image;
    std::unique_ptr<FakeDrive> m_drive;
    std::optional<FlashError> m_openError;
    std::unique_ptr<FlashController> m_controller;
    std::unique_ptr<MainWindow> m_window;
    int m_ejects = 0;
    bool m_ejectWorks = true;
};

void MainWindowTest::initTestCase()
{
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(u"burin-test-%1"_s.arg(QCoreApplication::applicationPid()));
    QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope, m_folder.path());
    QApplication::setStyle(new BurinStyle);
    m_image = writeImage(u"system.img"_s, m_bytes);
}

QString MainWindowTest::writeImage(const QString& name, const std::vector<std::byte>& bytes) const
{
    QFile file(m_folder.filePath(name));
    if (!file.open(QFile::WriteOnly)
        || file.write(reinterpret_cast<const char*>(bytes.data()), qint64(bytes.size()))
            != qint64(bytes.size())) {
        qFatal("no room for the test's image");
    }
    return file.fileName();
}

void MainWindowTest::init()
{
    QSettings().clear();
    m_drive = std::make_unique<FakeDrive>();
    m_openError.reset();
    m_ejects = 0;
    m_ejectWorks = true;
    m_controller = std::make_unique<FlashController>(
        [this](const OpenRequest&, std::stop_token) -> Result<std::unique_ptr<BlockDevice>> {
            if (m_openError) {
                return std::unexpected(*m_openError);
            }
            return std::make_unique<FakeDevice>(*m_drive);
        });
    makeWindow();
}

void MainWindowTest::makeWindow()
{
    WindowServices services;
    services.eject = [this](const DriveInfo&, const auto& done) {
        ++m_ejects;
        done(m_ejectWorks, m_ejectWorks ? u"It can be taken out"_s : u"It could not be ejected"_s);
    };
    m_window = std::make_unique<MainWindow>(*m_controller, services);
    m_window->resize(1000, 740);
    m_window->setDrives(test::pictureDrives());
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

void MainWindowTest::cleanup()
{
    m_drive->release();
    m_controller->cancel();
    QTRY_VERIFY(!m_controller->isRunning());
    m_window.reset();
    m_controller.reset();
}

void MainWindowTest::openTestImage()
{
    m_window->openImage(m_image);
    QTRY_VERIFY(m_window->findChild<ImagePanel*>()->image().has_value());
}

void MainWindowTest::clickRow(int row)
{
    auto* picker = m_window->findChild<DrivePicker*>();
    const QRect place = picker->visualRect(picker->model()->index(row, 0));
    QTest::mouseClick(picker->viewport(), Qt::LeftButton, {}, place.center());
}

void MainWindowTest::startByMouse()
{
    openTestImage();
    clickRow(0);
    click("flashButton");
    QVERIFY(m_window->sheet() != nullptr);
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QVERIFY(m_controller->isRunning());
}

void MainWindowTest::tabTo(const QWidget* target)
{
    for (int i = 0; i < 40 && QApplication::focusWidget() != target; ++i) {
        QWidget* focus = QApplication::focusWidget();
        QTest::keyClick(focus != nullptr ? focus : m_window.get(), Qt::Key_Tab);
    }
    QCOMPARE(QApplication::focusWidget(), target);
}

bool MainWindowTest::driveHoldsImage() const
{
    return std::equal(m_bytes.begin(), m_bytes.end(), m_drive->memory.bytes.begin());
}

void MainWindowTest::nothingIsChosenByItself()
{
    m_window->setDrives({test::stick()});
    openTestImage();
    QVERIFY(drives().chosen() == nullptr);
    QVERIFY(!button("flashButton")->isEnabled());
    m_window->setDrives({});
    m_window->setDrives({test::stick()});
    QVERIFY(!button("flashButton")->isEnabled());
    clickRow(0);
    QVERIFY(button("flashButton")->isEnabled());
}

void MainWindowTest::flashesByMouse()
{
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY2(headline().startsWith(u"Verified"_s), qPrintable(headline()));
    QVERIFY(driveHoldsImage());
    QVERIFY(!m_drive->memory.misaligned);
    QCOMPARE(m_ejects, 1);
    QCOMPARE(advice(), u"It can be taken out"_s);
    QVERIFY(button("saveReportButton")->isVisible());
}

void MainWindowTest::flashesByKeyboard()
{
    openTestImage();
    auto* picker = m_window->findChild<DrivePicker*>();
    tabTo(picker);
    QTest::keyClick(picker, Qt::Key_Down);
    QTest::keyClick(picker, Qt::Key_Up);
    QTest::keyClick(picker, Qt::Key_Space);
    QVERIFY(drives().chosen() != nullptr);
    QCOMPARE(drives().chosen()->node, "sdb");
    tabTo(button("flashButton"));
    QTest::keyClick(button("flashButton"), Qt::Key_Return);
    QVERIFY(m_window->sheet() != nullptr);
    tabTo(m_window->sheet()->actionButton());
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QTRY_VERIFY(m_drive->opened == 1 && !m_controller->isRunning());
    QVERIFY(driveHoldsImage());
    tabTo(button("anotherButton"));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QVERIFY(drives().chosen() == nullptr);
}

void MainWindowTest::enterOnTheFreshSheetStartsNothing()
{
    openTestImage();
    clickRow(0);
    click("flashButton");
    QVERIFY(m_window->sheet() != nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QVERIFY(m_window->sheet() == nullptr);
    QVERIFY(!m_controller->isRunning());
    QCOMPARE(m_drive->opened.load(), 0);
    QVERIFY(button("flashButton")->isEnabled());
}

void MainWindowTest::sheetBlocksTheWindow()
{
    openTestImage();
    clickRow(0);
    click("flashButton");
    QVERIFY(m_window->sheet() != nullptr);
    click("flashButton");
    clickRow(1);
    QCOMPARE(drives().chosen()->node, "sdb");
    QCOMPARE(m_window->findChildren<Sheet*>().size(), 1);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(m_window->sheet() == nullptr);
    clickRow(1);
    QCOMPARE(drives().chosen()->node, "sdc");
}

void MainWindowTest::driveThatVanishesClosesTheSheet()
{
    openTestImage();
    clickRow(0);
    click("flashButton");
    QVERIFY(m_window->sheet() != nullptr);
    m_window->setDrives({test::cardReader(), test::systemDisk()});
    QVERIFY(m_window->sheet() == nullptr);
    QVERIFY(drives().chosen() == nullptr);
    QVERIFY(m_window->findChild<ThroughputChart*>()->message().contains(u"Nothing was written"_s));
    QCOMPARE(m_drive->opened.load(), 0);
}

void MainWindowTest::secondClickReplacesTheChoice()
{
    openTestImage();
    clickRow(0);
    clickRow(1);
    QCOMPARE(drives().chosen()->node, "sdc");
    QCOMPARE(button("flashButton")->text().remove(u'&'), u"Flash 1 drive"_s);
    clickRow(1);
    QVERIFY(drives().chosen() == nullptr);
}

void MainWindowTest::protectedRowsCannotBeChosen()
{
    openTestImage();
    clickRow(2);
    QVERIFY(drives().chosen() == nullptr);
    QTest::mouseClick(m_window->findChild<QCheckBox*>(u"showProtectedBox"_s), Qt::LeftButton, {}, {8, 8});
    QCOMPARE(m_window->findChild<DrivePicker*>()->model()->rowCount(), 2);
}

void MainWindowTest::pressOnOneRowAndReleaseOnAnotherChoosesNothing()
{
    auto* picker = m_window->findChild<DrivePicker*>();
    const auto centre = [&](int row) { return picker->visualRect(picker->model()->index(row, 0)).center(); };
    QTest::mousePress(picker->viewport(), Qt::LeftButton, {}, centre(0));
    QTest::mouseRelease(picker->viewport(), Qt::LeftButton, {}, centre(1));
    QVERIFY(drives().chosen() == nullptr);
    // The list moves under the pointer between press and release.
    QTest::mousePress(picker->viewport(), Qt::LeftButton, {}, centre(0));
    m_window->setDrives({test::cardReader(), test::stick(), test::systemDisk()});
    QTest::mouseRelease(picker->viewport(), Qt::LeftButton, {}, centre(0));
    QVERIFY(drives().chosen() == nullptr);
}

void MainWindowTest::cancelSaysWhatIsOnTheDrive()
{
    m_drive->holdAt = 12 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    QTRY_VERIFY(headline().startsWith(u"Writing"_s));
    click("cancelButton");
    QVERIFY(!button("cancelButton")->isEnabled());
    QVERIFY(headline().startsWith(u"Cancelling"_s));
    m_drive->release();
    QTRY_VERIFY(!m_controller->isRunning());
    QCOMPARE(headline(), u"Cancelled: the drive holds only part of the image"_s);
    QVERIFY(advice().contains(u"Do not use"_s));
    QCOMPARE(m_ejects, 0);
    QVERIFY(!button("ejectButton")->isVisible());
}

void MainWindowTest::skippedVerifyIsNotCalledVerified()
{
    m_drive->holdKind = test::MemoryDevice::Call::Read;
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(button("skipButton")->isVisible() && m_drive->waiting > 0);
    click("skipButton");
    m_drive->release();
    QTRY_VERIFY(!m_controller->isRunning());
    QCOMPARE(headline(), u"Written, not verified"_s);
    QCOMPARE(m_ejects, 0);
    QVERIFY(driveHoldsImage());
}

void MainWindowTest::closingAsksAndKeepsWriting()
{
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    QVERIFY(!m_window->close());
    QVERIFY(m_window->sheet() != nullptr);
    QVERIFY(!m_window->close());
    QCOMPARE(m_window->findChildren<Sheet*>(u"closeSheet"_s).size(), 1);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QVERIFY(m_window->sheet() == nullptr);
    m_drive->release();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY(headline().startsWith(u"Verified"_s));
    QVERIFY(m_window->isVisible());
}

void MainWindowTest::closingStopsTheJobAndCloses()
{
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    QVERIFY(!m_window->close());
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QVERIFY(m_window->isVisible());
    m_drive->release();
    QTRY_VERIFY(!m_window->isVisible());
    QVERIFY(!m_controller->isRunning());
}

void MainWindowTest::closingAsksInPlaceOfAnotherSheet()
{
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    m_window->findChild<QAction*>(u"about"_s)->trigger();
    QVERIFY(m_window->sheet() != nullptr);
    QVERIFY(!m_window->close());
    QVERIFY(m_window->sheet() != nullptr);
    QCOMPARE(m_window->sheet()->objectName(), u"closeSheet"_s);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return); // keep writing
    QVERIFY(m_window->sheet() == nullptr);
    QVERIFY(!m_window->close()); // and it asks again
    QVERIFY(m_window->sheet() != nullptr);
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    m_drive->release();
    QTRY_VERIFY(!m_window->isVisible());
}

void MainWindowTest::finishedJobClosesTheCloseQuestion()
{
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    QVERIFY(!m_window->close());
    QVERIFY(m_window->sheet() != nullptr);
    m_drive->release();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY(m_window->sheet() == nullptr);
    QVERIFY(m_window->isVisible());
    QVERIFY(button("anotherButton")->isEnabled());
}

void MainWindowTest::drivesComingAndGoingLeaveTheJobAlone()
{
    m_drive->holdAt = 8 * kMiB;
    startByMouse();
    QTRY_VERIFY(m_drive->waiting > 0);
    const QString before = headline().section(u' ', 0, 0);
    for (unsigned i = 0; i < 20; ++i) {
        DriveInfo other = test::cardReader();
        other.diskseq = 200 + i;
        m_window->setDrives({other, test::stick()});
        clickRow(0);
        QCOMPARE(drives().chosen()->node, "sdb");
    }
    m_window->openImage(m_image);
    QCOMPARE(headline().section(u' ', 0, 0), before);
    m_window->setDrives({});
    m_drive->release();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY(headline().startsWith(u"Verified"_s));
}

void MainWindowTest::mismatchIsNeverCalledVerified()
{
    m_drive->memory.realSize = 16 * kMiB;
    m_drive->memory.wraps = true;
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY2(headline().contains(u"read back differently"_s), qPrintable(headline()));
    QVERIFY2(advice().contains(u"Counterfeit"_s) || advice().contains(u"Do not use"_s), qPrintable(advice()));
    QCOMPARE(m_ejects, 0);
    QVERIFY(button("againButton")->isVisible());
    QVERIFY(!button("ejectButton")->isVisible());
}

void MainWindowTest::refusedDriveIsExplained()
{
    m_openError = FlashError{.code = ErrorCode::AuthNoAgent, .offset = {}, .detail = {}};
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    const QString message = m_window->findChild<ThroughputChart*>()->message();
    QVERIFY(message.contains(u"authentication agent"_s) && message.contains(u"Nothing was written."_s));
    click("detailsButton");
    QVERIFY(m_window->sheet() != nullptr);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QVERIFY(m_window->sheet() == nullptr);
}

void MainWindowTest::flashAnotherKeepsTheImageAndClearsTheDrive()
{
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    click("anotherButton");
    QVERIFY(m_window->findChild<ImagePanel*>()->image().has_value());
    QVERIFY(drives().chosen() == nullptr);
    QVERIFY(!button("flashButton")->isEnabled());
    QCOMPARE(headline(), u"Throughput"_s);
}

void MainWindowTest::flashAgainAsksForTheSameDrive()
{
    m_openError = FlashError{.code = ErrorCode::DriveBusy, .offset = {}, .detail = "backup"};
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    m_openError.reset();
    click("againButton");
    QVERIFY(qobject_cast<ConfirmSheet*>(m_window->sheet()) != nullptr);
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QTRY_VERIFY(m_drive->opened == 1 && !m_controller->isRunning());
    QVERIFY(headline().startsWith(u"Verified"_s));
}

void MainWindowTest::verdictStaysWhenTheDriveIsPulled()
{
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    m_window->setDrives({test::cardReader()});
    QVERIFY(headline().startsWith(u"Verified"_s));
    QVERIFY(drives().chosen() == nullptr);
    clickRow(0);
    QCOMPARE(headline(), u"Throughput"_s);
}

void MainWindowTest::failedEjectIsAWarningBesideTheVerdict()
{
    m_ejectWorks = false;
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    QVERIFY(headline().startsWith(u"Verified"_s));
    QCOMPARE(advice(), u"It could not be ejected"_s);
    m_ejectWorks = true;
    click("ejectButton");
    QCOMPARE(m_ejects, 2);
    QCOMPARE(advice(), u"It can be taken out"_s);
}

void MainWindowTest::verifyOnlyWritesNothing()
{
    std::ranges::copy(m_bytes, m_drive->memory.bytes.begin());
    openTestImage();
    clickRow(0);
    m_window->findChild<QAction*>(u"verifyDrive"_s)->trigger();
    QTRY_VERIFY(m_drive->opened == 1 && !m_controller->isRunning());
    QVERIFY(headline().startsWith(u"Verified"_s));
    QVERIFY(std::ranges::none_of(m_drive->memory.calls, [](const auto& call) {
        return call.kind == test::MemoryDevice::Call::Write;
    }));
    QCOMPARE(m_ejects, 0);
}

void MainWindowTest::droppedFilesAreOpened()
{
    auto* panel = m_window->findChild<ImagePanel*>();
    QMimeData data;
    data.setUrls({QUrl::fromLocalFile(m_image)});
    QDragEnterEvent enter({20, 20}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(panel, &enter);
    QVERIFY(enter.isAccepted());
    QDropEvent drop({20, 20}, Qt::CopyAction, &data, Qt::LeftButton, {});
    QApplication::sendEvent(panel, &drop);
    QTRY_VERIFY(panel->image().has_value());

    QMimeData web;
    web.setUrls({QUrl(u"ftp://example.org/a.img"_s)});
    QDragEnterEvent refused({20, 20}, Qt::CopyAction, &web, Qt::LeftButton, {});
    refused.ignore();
    QApplication::sendEvent(panel, &refused);
    QVERIFY(!refused.isAccepted());
    QCOMPARE(localFile(u"file:///tmp/a%20b.img"_s), u"/tmp/a b.img"_s);
    QCOMPARE(localFile(u"/tmp/a%20b.img"_s), u"/tmp/a%20b.img"_s);
}

void MainWindowTest::refusedImagesSayWhy()
{
    auto* panel = m_window->findChild<ImagePanel*>();
    openTestImage();
    clickRow(0);
    m_window->openImage(m_folder.filePath(u"missing.img"_s));
    QTRY_VERIFY(!panel->isProbing());
    QVERIFY(!panel->image().has_value());
    QVERIFY(panel->message().contains(u"missing.img"_s));
    QVERIFY(!button("flashButton")->isEnabled());
    m_window->openImage(m_folder.path());
    QTRY_VERIFY(!panel->isProbing());
    QVERIFY(panel->message().contains(u"folder"_s));
}

void MainWindowTest::lateProbeResultsAreDropped()
{
    std::mutex mutex;
    std::condition_variable go;
    bool released = false;
    WindowServices services;
    services.probe = [&](const std::string& path, std::stop_token, const std::string&) -> Result<ImageInfo> {
        ImageInfo image = test::pictureImage();
        image.path = path;
        if (path.ends_with("slow.img")) {
            std::unique_lock lock(mutex);
            go.wait(lock, [&] { return released; });
        }
        return image;
    };
    MainWindow window(*m_controller, services);
    auto* panel = window.findChild<ImagePanel*>();
    window.openImage(u"/tmp/slow.img"_s);
    window.openImage(u"/tmp/fast.img"_s);
    QTRY_VERIFY(panel->image().has_value());
    {
        const std::scoped_lock lock(mutex);
        released = true;
    }
    go.notify_all();
    QVERIFY(QThreadPool::globalInstance()->waitForDone());
    QCoreApplication::processEvents();
    QCOMPARE(panel->image()->path, "/tmp/fast.img");
}

void MainWindowTest::anImageThatDiffersFromItsSumIsNotWritten()
{
    const auto hex = [](const QByteArray& data) {
        return QCryptographicHash::hash(data, QCryptographicHash::Sha256).toHex();
    };
    const auto state = [this] { return m_window->findChild<ImagePanel*>()->sums().state(); };
    const auto flashIsEnabled = [this] { return button("flashButton")->isEnabled(); };
    QFile sums(m_folder.filePath(u"SHA256SUMS"_s));
    const auto remove = qScopeGuard([&] { sums.remove(); });
    const QByteArray right = hex(QByteArray::fromRawData(reinterpret_cast<const char*>(m_bytes.data()),
                                                         static_cast<qsizetype>(m_bytes.size())));
    for (const QByteArray& published : {right, hex("another image")}) {
        QVERIFY(sums.open(QIODevice::WriteOnly | QIODevice::Truncate));
        sums.write(published + "  system.img\n");
        sums.close();
        openTestImage();
        QTRY_VERIFY(state() == SumChecker::State::Matches || state() == SumChecker::State::Differs);
        if (m_window->findChild<DrivePicker*>()->drives().chosen() == nullptr) {
            clickRow(0);
        }
        QCOMPARE(state() == SumChecker::State::Matches, published == right);
        QCOMPARE(flashIsEnabled(), published == right);
    }
    QVERIFY(button("ignoreSumButton")->isVisible());
    click("ignoreSumButton");
    QVERIFY(flashIsEnabled());
    QVERIFY(!button("ignoreSumButton")->isVisible());
}

/// An image of which the middle is unused, and its block map.
void MainWindowTest::writeMappedImage(bool damaged)
{
    m_mapped = m_bytes;
    std::fill(m_mapped.begin() + 8 * kMiB, m_mapped.begin() + 16 * kMiB, std::byte{0});
    UsedBlocks used{.imageSize = kImageSize, .ranges = {{0, 8 * kMiB}, {16 * kMiB, kImageSize - 16 * kMiB}}};
    for (const auto& range : used.ranges) {
        auto digest = Digest::create(DigestKind::Sha256);
        digest->add(std::span(m_mapped).subspan(range.offset, range.length));
        used.sums.push_back(digest->hex());
    }
    std::string map = bmapText(used, 4096).value();
    if (damaged) {
        map[map.size() / 2] ^= 1;
    }
    const QString image = writeImage(u"mapped.img"_s, m_mapped);
    const auto bytes = std::as_bytes(std::span(map));
    writeImage(u"mapped.img.bmap"_s, {bytes.begin(), bytes.end()});
    m_window->openImage(image);
    QTRY_VERIFY(m_window->findChild<ImagePanel*>()->image().has_value());
    clickRow(0);
}

void MainWindowTest::usedBlocksTakeOneTickToWriteAll()
{
    writeMappedImage(false);
    auto* box = m_window->findChild<QCheckBox*>(u"everyBlockBox"_s);
    const auto* words = m_window->findChild<QWidget*>(u"imageCoverage"_s);
    QVERIFY(box->isVisible() && !box->isChecked());
    QCOMPARE(qobject_cast<const ToneLabel*>(words)->text(), u"writes 16.7 of 25.2 MB: used blocks"_s);
    click("flashButton");
    QVERIFY(m_window->sheet() != nullptr);
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QTRY_VERIFY(m_controller->state().report && !m_controller->isRunning());
    QCOMPARE(headline(), u"Verified: all used blocks (16.7 of 25.2 MB; the rest was not written)"_s);
    QCOMPARE(m_drive->memory.bytes[12 * kMiB], std::byte{0xA5});
    click("anotherButton");

    box->click();
    QCOMPARE(qobject_cast<const ToneLabel*>(words)->text(), u"writes every block · 66 % are used"_s);
    clickRow(0);
    click("flashButton");
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QTRY_VERIFY(m_controller->state().report && !m_controller->isRunning());
    QCOMPARE(headline(), u"Verified: every byte on the drive equals the image"_s);
    QCOMPARE(m_drive->memory.bytes[12 * kMiB], std::byte{0});
}

void MainWindowTest::aBlockMapThatIsDamagedStopsTheFlash()
{
    writeMappedImage(true);
    QVERIFY(!button("flashButton")->isEnabled());
    auto* box = m_window->findChild<QCheckBox*>(u"everyBlockBox"_s);
    QVERIFY(box->isVisible());
    box->click();
    QVERIFY(button("flashButton")->isEnabled());
}

void MainWindowTest::aCutOffJobGoesOnWhenTheDriveIsBack()
{
    openTestImage();
    m_drive->memory.writeFaults.push_back(
        {{12 * kMiB, 512}, {.code = ErrorCode::DriveGone, .sysErrno = ENODEV}, 1});
    startByMouse();
    QTRY_VERIFY(m_controller->state().report && !m_controller->isRunning());
    const DriveInfo before = drives().drives().front();
    m_window->setDrives({});
    QVERIFY(!button("rewriteButton")->isVisible());
    DriveInfo again = before;
    again.diskseq += 5;
    again.node = "sdd";
    DriveInfo other = again;
    other.serial += "x";
    other.diskseq += 1;
    m_window->setDrives({other});
    QVERIFY(!button("rewriteButton")->isVisible());
    m_window->setDrives({other, again});
    QVERIFY(button("rewriteButton")->isVisible());
    click("rewriteButton");
    QVERIFY(m_window->sheet() != nullptr);
    QTest::mouseClick(m_window->sheet()->actionButton(), Qt::LeftButton);
    QTRY_VERIFY(m_controller->state().report && !m_controller->isRunning());
    QVERIFY(m_controller->request().plan.onlyDifferences);
    QCOMPARE(m_controller->request().drive.diskseq, again.diskseq);
    QCOMPARE(headline(), u"Verified: every byte on the drive equals the image"_s);
    QVERIFY(driveHoldsImage());
}

void MainWindowTest::everyControlHasAName()
{
    for (const auto* widget : m_window->findChildren<QAbstractButton*>()) {
        if (widget->objectName().startsWith("qt_"_L1)) {
            continue; // Qt's own, for menus that don't fit
        }
        QVERIFY2(!widget->text().isEmpty() || !widget->accessibleName().isEmpty(),
                 qPrintable(widget->objectName()));
    }
    for (const auto* widget : m_window->findChildren<QWidget*>()) {
        if (widget->focusPolicy() != Qt::NoFocus && widget->isVisible()
            && qobject_cast<const QAbstractButton*>(widget) == nullptr) {
            QVERIFY2(!widget->accessibleName().isEmpty() || qobject_cast<const QMenu*>(widget) != nullptr,
                     widget->metaObject()->className());
        }
    }
}

void MainWindowTest::fitsASmallScreen()
{
    QVERIFY2(
        m_window->minimumSizeHint().width() <= 800 && m_window->minimumSizeHint().height() <= 480,
        qPrintable(
            u"%1x%2"_s.arg(m_window->minimumSizeHint().width()).arg(m_window->minimumSizeHint().height())));
    m_window->resize(800, 480);
    startByMouse();
    QTRY_VERIFY(!m_controller->isRunning());
    for (const auto* widget : m_window->findChildren<QPushButton*>()) {
        const QRect place(widget->mapTo(m_window.get(), QPoint()), widget->size());
        QVERIFY2(!widget->isVisible() || m_window->rect().contains(place), qPrintable(widget->objectName()));
    }
}

void MainWindowTest::remembersOptionsButNoDrives()
{
    clickRow(0);
    QTest::mouseClick(m_window->findChild<QCheckBox*>(u"ejectOption"_s), Qt::LeftButton, {}, {8, 8});
    QVERIFY(!m_window->findChild<QCheckBox*>(u"ejectOption"_s)->isChecked());
    QVERIFY(m_window->close());
    makeWindow();
    QVERIFY(!m_window->findChild<QCheckBox*>(u"ejectOption"_s)->isChecked());
    QVERIFY(m_window->findChild<QCheckBox*>(u"verifyOption"_s)->isChecked());
    QVERIFY(drives().chosen() == nullptr);
}

QTEST_MAIN(MainWindowTest)
#include "tst_mainwindow.moc"
