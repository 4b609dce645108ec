// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"
#include "engine/imageprobe.h"
#include "formatting.h"
#include "words.h"

#include <QCommandLineParser>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>

namespace burin::cli {

using namespace Qt::StringLiterals;

namespace {

QString word(Compression compression)
{
    switch (compression) {
    case Compression::None:
        return u"none"_s;
    case Compression::Gzip:
        return u"gzip"_s;
    case Compression::Bzip2:
        return u"bzip2"_s;
    case Compression::Xz:
        return u"xz"_s;
    case Compression::Zstd:
        return u"zstd"_s;
    }
    return {};
}

QString word(Container container)
{
    switch (container) {
    case Container::None:
        return u"none"_s;
    case Container::Zip:
        return u"zip"_s;
    case Container::Tar:
        return u"tar"_s;
    }
    return {};
}

QString word(PartitionTable table)
{
    switch (table) {
    case PartitionTable::None:
        return u"none"_s;
    case PartitionTable::Mbr:
        return u"MBR"_s;
    case PartitionTable::Gpt:
        return u"GPT"_s;
    }
    return {};
}

QJsonObject toJson(const ImageInfo& info)
{
    QJsonArray partitions;
    for (const auto& partition : info.partitions) {
        partitions.append(QJsonObject{{u"offset"_s, static_cast<qint64>(partition.range.offset)},
                                      {u"size"_s, static_cast<qint64>(partition.range.length)},
                                      {u"name"_s, QString::fromStdString(partition.name)},
                                      {u"label"_s, QString::fromStdString(partition.label)},
                                      {u"file_system"_s, QString::fromStdString(partition.fileSystem)},
                                      {u"type"_s, QString::fromStdString(partition.type)}});
    }
    QJsonArray warnings;
    for (const auto warning : info.warnings) {
        warnings.append(warningText(warning));
    }
    return {
        {u"path"_s, QFile::decodeName(QByteArray::fromStdString(info.path))},
        {u"file_size"_s, static_cast<qint64>(info.file.size)},
        {u"compression"_s, word(info.compression)},
        {u"container"_s, word(info.container)},
        {u"member"_s, QString::fromStdString(info.member)},
        {u"size"_s, info.unpackedSize ? QJsonValue(static_cast<qint64>(*info.unpackedSize)) : QJsonValue()},
        {u"table"_s, word(info.table)},
        {u"iso_hybrid"_s, info.isoHybrid},
        {u"file_system"_s, QString::fromStdString(info.fileSystem)},
        {u"label"_s, QString::fromStdString(info.label)},
        {u"partitions"_s, partitions},
        {u"warnings"_s, warnings}};
}

QString toText(const ImageInfo& info)
{
    QString text = imageSummary(info) + u'\n';
    if (!info.member.empty()) {
        text += Words::tr("  member     %1\n").arg(QString::fromStdString(info.member));
    }
    if (!info.label.empty()) {
        text += Words::tr("  label      %1\n").arg(QString::fromStdString(info.label));
    }
    int number = 0;
    for (const auto& partition : info.partitions) {
        const QStringList facts{
            QString::fromStdString(partition.name), QString::fromStdString(partition.label),
            QString::fromStdString(partition.fileSystem), QString::fromStdString(partition.type)};
        QStringList said;
        for (const auto& fact : facts) {
            if (!fact.isEmpty() && !said.contains(fact)) {
                said += fact;
            }
        }
        text += Words::tr("  partition %1  %2 at %3  %4\n")
                    .arg(++number)
                    .arg(formatSize(partition.range.length), formatSize(partition.range.offset),
                         said.join(u" · "_s));
    }
    for (const auto warning : info.warnings) {
        text += Words::tr("  note: %1\n").arg(warningText(warning));
    }
    return text;
}

} // namespace

int runInfo(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        Words::tr("Tells what an image is: format, size, partitions, warnings."));
    parser.addPositionalArgument(u"IMAGE"_s, Words::tr("The image's file."));
    parser.addOption({u"json"_s, Words::tr("Print one JSON object.")});
    int status = 0;
    if (!parse(parser, arguments, status)) {
        return status;
    }
    if (parser.positionalArguments().size() != 1) {
        return usageError(Words::tr("info takes one image; see burin info --help"));
    }
    const QString image = parser.positionalArguments().constFirst();
    const auto info = probeImage(toPath(image));
    if (!info) {
        return refuse(info.error(), {.image = image}, false);
    }
    printOut(parser.isSet(u"json"_s) ? QString::fromUtf8(QJsonDocument(toJson(*info)).toJson())
                                     : toText(*info));
    return 0;
}

} // namespace burin::cli
