// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "clijob.h"
#include "demo.h"
#include "platform/drivelist.h"
#include "words.h"

#include <QCommandLineParser>
#include <QFile>

namespace burin::cli {

using namespace Qt::StringLiterals;

int runDemo(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(Words::tr(
        "Makes a packed disk image and a virtual drive, both ordinary files, and writes and verifies one\n"
        "with the other: in the window, or in the terminal where there is no display."));
    parser.addOption({u"cli"_s, Words::tr("In the terminal, also where there is a display.")});
    int status = 0;
    if (!parse(parser, arguments, status)) {
        return status;
    }
    const auto demo = makeDemo([](const QString& step) { printError(u"burin demo: %1\n"_s.arg(step)); });
    if (!demo) {
        printError(u"burin demo: %1\n"_s.arg(demo.error()));
        return static_cast<int>(ExitStatus::Refused);
    }
    FlashRequest request;
    request.image.path = toPath(demo->image);
    const auto image = probeImage(request.image.path);
    if (!image) {
        return refuse(image.error(), {.image = demo->image}, false);
    }
    request.image = *image;
    const std::string drive = toPath(demo->drive);
    const auto found = findDrive(drive, listDrives({.files = {drive}}));
    if (!found) {
        return refuse(found.error(), {.drive = demo->drive}, false);
    }
    request.drive = *found;
    const FlashReport report = CliJob(false).run(request);
    printOut(demoFarewell(*demo));
    return static_cast<int>(exitStatus(report));
}

} // namespace burin::cli
