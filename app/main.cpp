// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cli.h"
#include "wiring.h"

#include <QApplication>
#include <QCoreApplication>
#include <QStringList>

#include <algorithm>
#include <malloc.h>

using namespace Qt::StringLiterals;

namespace {

bool hasDisplay()
{
    return std::ranges::any_of(
        std::initializer_list<const char*>{"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"},
        [](const char* name) { return !qEnvironmentVariableIsEmpty(name); });
}

} // namespace

int main(int argc, char** argv)
{
    // Large buffers go back to the system when they are freed. By itself glibc raises this threshold to the
    // largest size that was ever freed and then keeps such memory in each thread's own arena (mallopt(3)).
    (void)mallopt(M_MMAP_THRESHOLD, 1 << 20);
    QCoreApplication::setApplicationName(u"burin"_s);
    QCoreApplication::setOrganizationName(u"burin"_s);
    QCoreApplication::setApplicationVersion(QStringLiteral(BURIN_VERSION));

    const QStringList arguments = burin::commandLineArguments(argc, argv);
    const QString word = arguments.value(1);
    // The demo opens the window where there is a display; its options are the command line's.
    const bool demoWindow = word == "demo"_L1 && arguments.size() == 2 && hasDisplay();
    if (burin::isCommand(word) && !demoWindow) {
        const QCoreApplication application(argc, argv);
        return burin::runCommand(arguments);
    }
    if (!hasDisplay()) {
        burin::cli::printError(
            u"burin: there is no display for the window; burin --help lists the commands\n"_s);
        return static_cast<int>(burin::ExitStatus::Usage);
    }
    const QApplication application(argc, argv);
    return demoWindow ? burin::runDemoWindow() : burin::runWindow(word);
}
