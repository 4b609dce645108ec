// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// usage: screenshots FOLDER [light|dark] [WIDTHxHEIGHT]
// Saves the window in the states of the design's pictures, to be looked at by people.
#include "engine/imagefile.h"
#include "tests/support/windowstates.h"
#include "ui/burinstyle.h"
#include "ui/drivepicker.h"
#include "ui/mainwindow.h"
#include "ui/sheet.h"
#include "ui/theme.h"

#include <QApplication>
#include <QCryptographicHash>
#include <QDir>
#include <QFile>
#include <QIcon>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QThreadPool>

#include <functional>
#include <utility>

using namespace Qt::StringLiterals;
using namespace burin;

namespace {

class Studio
{
public:
    Studio(QString folder, QSize size) : m_folder(std::move(folder)), m_size(size) { }

    void take(const QString& name, bool image, bool drives, bool chosen,
              const std::function<void(MainWindow&)>& then)
    {
        FlashController controller(
            [](const OpenRequest&, std::stop_token) -> Result<std::unique_ptr<BlockDevice>> {
                return failure(ErrorCode::DriveBusy);
            });
        WindowServices services;
        services.probe = [](const std::string&, std::stop_token, const std::string&) -> Result<ImageInfo> {
            return failure(ErrorCode::ImageFormatUnknown);
        };
        MainWindow window(controller, services);
        window.resize(m_size);
        window.setDrives(drives ? test::pictureDrives() : std::vector<DriveInfo>());
        if (image) {
            window.findChild<ImagePanel*>()->showImage(test::pictureImage());
        }
        if (chosen) {
            window.chooseDrive(test::stick());
        }
        window.show();
        then(window);
        QThreadPool::globalInstance()->waitForDone();
        QApplication::processEvents();
        QApplication::processEvents(); // what the first round has asked for: layouts
        window.grab().save(QDir(m_folder).filePath(name + u".png"_s));
    }

    void job(const QString& name, const test::PictureJob& job)
    {
        take(name, true, true, true, [&](MainWindow& window) {
            window.showJob({.image = test::pictureImage(), .drive = test::stick(), .plan = {}}, job.state);
        });
    }

private:
    QString m_folder;
    QSize m_size;
};

/// An image whose file has a published sum, which it matches or not.
ImageInfo summedImage(const QTemporaryDir& folder, bool right)
{
    const QByteArray content = "the image";
    ImageInfo image = test::pictureImage();
    QFile file(folder.filePath(u"raspios-trixie-arm64.img.xz"_s));
    if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
        return image;
    }
    file.close();
    image.path = QFile::encodeName(file.fileName()).toStdString();
    if (const auto opened = ImageFile::open(image.path)) {
        image.file = (*opened)->identity();
    }
    const auto hex =
        QCryptographicHash::hash(right ? content : "another", QCryptographicHash::Sha256).toHex();
    image.sums = {{.kind = DigestKind::Sha256,
                   .hex = hex.toStdString(),
                   .fileName = "raspios-trixie-arm64.img.xz",
                   .origin = "SHA256SUMS"}};
    return image;
}

void waitForSums(ImagePanel& panel)
{
    while (panel.sums().state() == SumChecker::State::Running) {
        QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    }
}

FlashReport mismatch()
{
    FlashReport report;
    report.verdict = Verdict::Failed;
    report.endedIn = Phase::Verifying;
    report.error =
        FlashError{.code = ErrorCode::VerifyMismatch, .phase = Phase::Verifying, .offset = 4'050'000'000};
    report.badRanges = {{.range = {966 * 4 * kMiB, 41 * 4 * kMiB}, .sameAgain = true}};
    return report;
}

void takeAll(Studio& studio)
{
    const auto nothing = [](MainWindow&) { };
    studio.take(u"0-empty"_s, false, false, false, nothing);
    studio.take(u"1-start"_s, false, true, false, nothing);
    studio.take(u"2-ready"_s, true, true, true, nothing);
    studio.take(u"2b-confirm"_s, true, true, true,
                [](MainWindow& w) { w.findChild<QPushButton*>(u"flashButton"_s)->click(); });
    studio.take(u"2c-refused"_s, false, true, false,
                [](MainWindow& w) { w.openImage(u"/nowhere/manual.pdf"_s); });
    for (const bool right : {true, false}) {
        const QTemporaryDir folder;
        studio.take(right ? u"2d-sum-matches"_s : u"2e-sum-differs"_s, true, true, true, [&](MainWindow& w) {
            auto* panel = w.findChild<ImagePanel*>();
            panel->showImage(summedImage(folder, right));
            waitForSums(*panel);
        });
    }
    studio.take(u"2f-several"_s, true, true, true, [](MainWindow& w) {
        ImageInfo image = test::pictureImage();
        image.path = "/home/ana/boards.zip";
        image.layers = {{.format = Format::Zip, .member = "boards/raspberrypi-4.img"}};
        image.candidates = {{.member = "boards/raspberrypi-4.img", .size = 5'870'000'000},
                            {.member = "boards/rock-5b.img", .size = 4'100'000'000}};
        image.warnings = {ImageWarning::ManyMembers};
        w.findChild<ImagePanel*>()->showImage(image);
    });
    test::PictureJob writing;
    writing.write(0.58);
    studio.job(u"3-writing"_s, writing);
    test::PictureJob verified;
    verified.write(1);
    verified.flush();
    verified.verify(1);
    test::PictureJob wrong = verified;
    verified.end({.verdict = Verdict::Verified, .endedIn = Phase::Finished});
    studio.job(u"4-verified"_s, verified);
    wrong.end(mismatch());
    studio.job(u"5-mismatch"_s, wrong);
    test::PictureJob verifying;
    verifying.write(1);
    verifying.verify(0.37);
    studio.job(u"6-verifying"_s, verifying);
    test::PictureJob gone;
    gone.write(0.3);
    FlashReport report{.verdict = Verdict::Failed, .endedIn = Phase::Writing};
    report.error = FlashError{.code = ErrorCode::DriveGone, .phase = Phase::Writing, .offset = 1'760'000'000};
    gone.end(report);
    studio.job(u"7-gone"_s, gone);
}

} // namespace

int main(int argc, char** argv)
{
    QApplication application(argc, argv);
    QStandardPaths::setTestModeEnabled(true);
    QCoreApplication::setOrganizationName(u"burin-screenshots"_s);
    QSettings().clear();
    const QStringList arguments = QApplication::arguments();
    QFont font(u"Inter"_s);
    font.setPointSizeF(9.75);
    QApplication::setFont(font);
    QApplication::setStyle(new BurinStyle);
    const bool dark = arguments.value(2) == "dark"_L1;
    QApplication::setPalette(themePalette(dark ? Qt::ColorScheme::Dark : Qt::ColorScheme::Light));
    const QStringList size = arguments.value(3, u"1000x740"_s).split(u'x');
    QDir().mkpath(arguments.value(1));
    Studio studio(arguments.value(1), {size.value(0).toInt(), size.value(1).toInt()});
    takeAll(studio);
    QIcon(u":/icons/burin.svg"_s).pixmap(256).save(QDir(arguments.value(1)).filePath(u"icon.png"_s));
    return 0;
}
