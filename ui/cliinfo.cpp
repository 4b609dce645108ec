// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "blockwords.h"
#include "cli.h"
#include "engine/imageformat.h"
#include "engine/imageprobe.h"
#include "engine/makebmap.h"
#include "formatting.h"
#include "words.h"

#include <QCommandLineParser>
#include <QFile>
#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>

namespace burin::cli {

using namespace Qt::StringLiterals;

namespace {

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

QJsonValue usedToJson(const ImageInfo& info)
{
    const auto used = usedBlocksOf(info);
    if (!used) {
        return {};
    }
    const bool isBmap = used->source == UsedBlocksSource::Bmap;
    return QJsonObject{{u"source"_s, isBmap ? u"block map"_s : u"file systems"_s},
                       {u"bytes"_s, static_cast<qint64>(bytesToWrite(used).value_or(0))}};
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
    QJsonArray sums;
    for (const auto& sum : info.sums) {
        sums.append(QJsonObject{{u"kind"_s, QString::fromUtf8(nameOf(sum.kind))},
                                {u"hex"_s, QString::fromStdString(sum.hex)},
                                {u"name"_s, QFile::decodeName(sum.fileName.c_str())},
                                {u"origin"_s, QFile::decodeName(sum.origin.c_str())}});
    }
    QJsonArray layers;
    for (const auto& layer : info.layers) {
        QJsonObject facts{{u"format"_s, QString::fromUtf8(nameOf(layer.format))}};
        if (!layer.member.empty()) {
            facts.insert(u"member"_s, QString::fromStdString(layer.member));
        }
        layers.append(facts);
    }
    QJsonArray candidates;
    for (const auto& candidate : info.candidates) {
        candidates.append(QJsonObject{{u"member"_s, QString::fromStdString(candidate.member)},
                                      {u"size"_s, static_cast<qint64>(candidate.size)}});
    }
    QJsonArray warnings;
    for (const auto warning : info.warnings) {
        warnings.append(warningText(warning));
    }
    return {
        {u"path"_s, QFile::decodeName(QByteArray::fromStdString(info.path))},
        {u"file_size"_s, static_cast<qint64>(info.file.size)},
        {u"layers"_s, layers},
        {u"candidates"_s, candidates},
        {u"checked"_s, info.checked},
        {u"checksums"_s, sums},
        {u"size"_s, info.unpackedSize ? QJsonValue(static_cast<qint64>(*info.unpackedSize)) : QJsonValue()},
        {u"table"_s, word(info.table)},
        {u"iso_hybrid"_s, info.isoHybrid},
        {u"file_system"_s, QString::fromStdString(info.fileSystem)},
        {u"label"_s, QString::fromStdString(info.label)},
        {u"partitions"_s, partitions},
        {u"used_blocks"_s, usedToJson(info)},
        {u"warnings"_s, warnings}};
}

QString toText(const ImageInfo& info)
{
    QString text = imageSummary(info) + u'\n';
    for (const auto& layer : info.layers) {
        if (!layer.member.empty()) {
            text += Words::tr("  member     %1\n").arg(QString::fromStdString(layer.member));
        }
    }
    for (const auto& candidate :
         info.candidates.size() > 1 ? info.candidates : std::vector<ImageCandidate>()) {
        text += Words::tr("  candidate  %1  %2\n")
                    .arg(QString::fromStdString(candidate.member), formatSize(candidate.size));
    }
    text += u"  check      "_s + checkText(info) + u'\n';
    if (!info.label.empty()) {
        text += Words::tr("  label      %1\n").arg(QString::fromStdString(info.label));
    }
    for (const auto& sum : info.sums) {
        text += Words::tr("  checksum   %1 (compared when it is written)\n").arg(sumName(sum));
    }
    for (const auto& signature : info.signatures) {
        text += Words::tr("  signature  %1 (not checked)\n")
                    .arg(QFileInfo(QFile::decodeName(signature.c_str())).fileName());
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
    text += u"  blocks     "_s + blocksText(info, false) + u'\n';
    if (const QString doubt = doubtText(info); !doubt.isEmpty()) {
        text += u"             "_s + doubt + u'\n';
    }
    if (info.bmapError) {
        text += Words::tr("  block map  %1 can't be used: %2\n")
                    .arg(QFile::decodeName(info.bmapPath.c_str()),
                         QString::fromStdString(info.bmapError->detail));
    }
    for (const auto warning : info.warnings) {
        text += Words::tr("  note: %1\n").arg(warningText(warning));
    }
    return text;
}

/// Writes a block map; the exit status.
int makeMap(const QCommandLineParser& parser, const ImageInfo& info, const QString& image)
{
    const bool fromHoles = parser.isSet(u"from-holes"_s);
    QFile file(QFile::decodeName(toPath(parser.value(u"make-bmap"_s)).c_str()));
    const auto map = makeBmap(info, fromHoles ? BmapOrigin::Holes : BmapOrigin::FreeMaps, {});
    if (!map) {
        if (map.error().code != ErrorCode::BlockMapBad) {
            return refuse(map.error(), {.image = image}, false);
        }
        printError(Words::tr("burin: no block map was made: %1. %2\n")
                       .arg(QString::fromStdString(map.error().detail), doubtText(info)));
        return static_cast<int>(ExitStatus::Refused);
    }
    const QByteArray text = QByteArray::fromStdString(*map);
    if (!file.open(QIODevice::WriteOnly | QIODevice::NewOnly) || file.write(text) != text.size()
        || !file.flush()) {
        printError(
            Words::tr("burin: “%1” could not be written: %2\n").arg(file.fileName(), file.errorString()));
        return static_cast<int>(ExitStatus::Refused);
    }
    if (fromHoles) {
        printError(
            Words::tr("burin: note: the map is right only if this very file was made sparse. Unpacking and "
                      "copying make holes of zeros that files own, and then a drive would keep old data "
                      "there: that is your promise to those who use the map.\n"));
    }
    return 0;
}

} // namespace

int runInfo(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(
        Words::tr("Tells what an image is: format, size, partitions, warnings."));
    parser.addPositionalArgument(u"IMAGE"_s, Words::tr("The image's file."));
    parser.addOptions(
        {{u"json"_s, Words::tr("Print one JSON object.")},
         {u"entry"_s, Words::tr("The file in a zip, 7z or tar."), u"NAME"_s},
         {u"make-bmap"_s, Words::tr("Write a block map of the image, by the free maps of its file systems."),
          u"FILE"_s},
         {u"from-holes"_s, Words::tr("Make it by the holes of the image's file instead.")}});
    int status = 0;
    if (!parse(parser, arguments, status)) {
        return status;
    }
    if (parser.positionalArguments().size() != 1) {
        return usageError(Words::tr("info takes one image; see burin info --help"));
    }
    const QString image = parser.positionalArguments().constFirst();
    const auto info = probeImage(toPath(image), {}, toPath(parser.value(u"entry"_s)));
    if (!info) {
        return refuse(info.error(), {.image = image}, false);
    }
    if (parser.isSet(u"make-bmap"_s)) {
        return makeMap(parser, *info, image);
    }
    printOut(parser.isSet(u"json"_s) ? QString::fromUtf8(QJsonDocument(toJson(*info)).toJson())
                                     : toText(*info));
    return 0;
}

} // namespace burin::cli
