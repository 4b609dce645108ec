// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "wiring.h"

#include "platform/drivewatcher.h"
#include "platform/ejector.h"
#include "ui/burinstyle.h"
#include "ui/cli.h"
#include "ui/demo.h"
#include "ui/ejectwords.h"
#include "ui/mainwindow.h"
#include "ui/report.h"

#include <QApplication>
#include <QIcon>
#include <QThreadPool>

#include <cstdlib>
#include <stop_token>

namespace burin {

using namespace Qt::StringLiterals;

namespace {

constexpr int kMostReaders = 32;
constexpr int kPatience = 2000; // ms

/// The objects of one window and what connects them.
class Program
{
public:
    explicit Program(const ListOptions& options)
        : m_watcher(options), m_controller(openDrive), m_window(m_controller, services())
    {
        QObject::connect(&m_watcher, &DriveWatcher::drivesChanged, &m_window, &MainWindow::setDrives);
        m_window.setDrives(m_watcher.drives());
    }

    Program(const Program&) = delete;
    Program& operator=(const Program&) = delete;
    /// An eject that is under way answers to the window, which still lives here.
    ~Program()
    {
        m_stopEject.request_stop();
        m_ejecting.waitForDone();
    }

    MainWindow& window() { return m_window; }
    [[nodiscard]] const std::vector<DriveInfo>& drives() const { return m_watcher.drives(); }
    int run()
    {
        m_window.show();
        return QApplication::exec();
    }

private:
    WindowServices services()
    {
        WindowServices services;
        services.refreshDrives = [this] { m_watcher.refresh(); };
        services.listDrives = [this](bool loops, const std::vector<std::string>& keptFiles) {
            ListOptions options = m_watcher.options();
            options.loops = loops;
            options.keptFiles = keptFiles;
            m_watcher.setOptions(options);
        };
        services.eject = [this](const DriveInfo& drive,
                                const std::function<void(bool, const QString&)>& done) {
            // An eject may take seconds, so it runs beside the window and answers in the window's thread.
            m_ejecting.start([this, drive, done] {
                const EjectOutcome outcome = ejectDrive(drive, m_stopEject.get_token());
                QMetaObject::invokeMethod(
                    &m_window,
                    [done, drive, outcome] {
                        done(outcome.result != EjectResult::Failed, ejectSentence(drive, outcome));
                    },
                    Qt::QueuedConnection);
            });
        };
        services.saveReport = [this](const QString& path) {
            return saveReport(m_controller.request(), m_controller.state(), path);
        };
        services.leaveStuck = [] { std::_Exit(static_cast<int>(ExitStatus::Cancelled)); };
        return services;
    }

    std::stop_source m_stopEject;
    QThreadPool m_ejecting;
    DriveWatcher m_watcher;
    FlashController m_controller;
    MainWindow m_window;
};

void dress()
{
    QApplication::setStyle(new BurinStyle);
    QApplication::setWindowIcon(QIcon(u":/icons/burin.svg"_s));
    QGuiApplication::setDesktopFileName(u"burin"_s);
    QGuiApplication::setApplicationDisplayName(u"Burin"_s);
    // A file on a mount that hangs holds the thread that looks at it; the next image must get another one.
    QThreadPool::globalInstance()->setMaxThreadCount(kMostReaders);
}

/// To be said when nothing of the window is left. A read that hangs in the kernel must not keep the process
/// alive without a window: no drive is open any more.
int leave(int status)
{
    if (!QThreadPool::globalInstance()->waitForDone(kPatience)) {
        std::_Exit(status);
    }
    return status;
}

} // namespace

int runWindow(const QString& image)
{
    dress();
    const auto show = [&] {
        Program program({});
        if (!image.isEmpty()) {
            program.window().openImage(image);
        }
        return program.run();
    };
    return leave(show());
}

int runDemoWindow()
{
    dress();
    const auto demo = makeDemo([](const QString& step) { cli::printError(u"burin demo: %1\n"_s.arg(step)); });
    if (!demo) {
        cli::printError(u"burin demo: %1\n"_s.arg(demo.error()));
        return static_cast<int>(ExitStatus::Refused);
    }
    const auto show = [&] {
        const std::string file = cli::toPath(demo->drive);
        Program program({.loops = false, .keptFiles = {}, .files = {file}});
        program.window().openImage(demo->image);
        if (const auto drive = findDrive(file, program.drives())) {
            program.window().chooseDrive(*drive);
        }
        return program.run();
    };
    const int status = show();
    cli::printOut(demoFarewell(*demo));
    return leave(status);
}

} // namespace burin
