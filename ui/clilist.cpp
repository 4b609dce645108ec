// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "formatting.h"
#include "platform/drivelist.h"
#include "words.h"

#include <QCommandLineParser>
#include <QJsonArray>
#include <QJsonDocument>

namespace burin::cli {

using namespace Qt::StringLiterals;

namespace {

QString accessWord(Access access)
{
    switch (access) {
    case Access::None:
        return u"none"_s;
    case Access::ReadOnly:
        return u"read"_s;
    case Access::Write:
        return u"write"_s;
    }
    return {};
}

QJsonObject toJson(const DriveInfo& drive)
{
    QJsonArray contents;
    for (const auto& content : drive.contents) {
        QJsonArray mounts;
        for (const auto& point : content.mountPoints) {
            mounts.append(QString::fromStdString(point));
        }
        contents.append(QJsonObject{{u"node"_s, QString::fromStdString(content.node)},
                                    {u"file_system"_s, QString::fromStdString(content.fileSystem)},
                                    {u"label"_s, QString::fromStdString(content.label)},
                                    {u"size"_s, static_cast<qint64>(content.size)},
                                    {u"mounted_at"_s, mounts}});
    }
    QJsonArray protections;
    for (const auto& protection : drive.protections) {
        protections.append(QJsonObject{{u"reason"_s, protectionText(protection)},
                                       {u"detail"_s, QString::fromStdString(protection.detail)},
                                       {u"release"_s, QString::fromStdString(protection.release)}});
    }
    return {{u"path"_s, QString::fromStdString(drive.path)},
            {u"vendor"_s, QString::fromStdString(drive.vendor)},
            {u"model"_s, QString::fromStdString(drive.model)},
            {u"serial"_s, QString::fromStdString(drive.serial)},
            {u"size"_s, static_cast<qint64>(drive.size)},
            {u"logical_block"_s, static_cast<int>(drive.logicalBlock)},
            {u"diskseq"_s, static_cast<qint64>(drive.diskseq)},
            {u"external"_s, drive.external},
            {u"removable"_s, drive.removable},
            {u"needs_confirm_model"_s, needsTypedName(drive)},
            {u"access"_s, accessWord(drive.access)},
            {u"protections"_s, protections},
            {u"contents"_s, contents}};
}

} // namespace

int runList(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        Words::tr("Lists the drives, those that Burin never writes with the reason why."));
    parser.addOptions(
        {{u"json"_s, Words::tr("Print one JSON array.")}, {u"loop"_s, Words::tr("Loop devices too.")}});
    int status = 0;
    if (!parse(parser, arguments, status)) {
        return status;
    }
    if (!parser.positionalArguments().isEmpty()) {
        return usageError(Words::tr("list takes no drive; see burin list --help"));
    }
    const auto drives = listDrives({.loops = parser.isSet(u"loop"_s)});
    if (parser.isSet(u"json"_s)) {
        QJsonArray array;
        for (const auto& drive : drives) {
            array.append(toJson(drive));
        }
        printOut(QString::fromUtf8(QJsonDocument(array).toJson()));
        return 0;
    }
    if (drives.empty()) {
        printOut(Words::tr("No drives. Plug in a USB stick or an SD card.\n"));
    }
    for (const auto& drive : drives) {
        printOut(u"%1  %2\n    %3\n"_s.arg(QString::fromStdString(drive.path), driveTitle(drive),
                                           driveSubtitle(drive)));
        if (drive.access != Access::Write) {
            for (const auto& protection : drive.protections) {
                printOut(Words::tr("    protected: %1\n").arg(protectionText(protection)));
            }
        } else if (needsTypedName(drive)) {
            printOut(
                Words::tr("    needs --confirm-model '%1'\n").arg(QString::fromStdString(typedName(drive))));
        }
    }
    return 0;
}

} // namespace burin::cli
