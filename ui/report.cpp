// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "report.h"

#include "blockwords.h"
#include "errortext.h"
#include "formatting.h"
#include "words.h"

#include <QFileInfo>
#include <QJsonArray>
#include <QJsonDocument>
#include <QSaveFile>

#include <chrono>

namespace burin {

using namespace Qt::StringLiterals;

namespace {

double seconds(std::chrono::nanoseconds time)
{
    return std::chrono::duration<double>(time).count();
}

double rate(Bytes bytes, std::chrono::nanoseconds time)
{
    return time.count() > 0 ? static_cast<double>(bytes) / seconds(time) : 0;
}

QJsonValue number(Bytes bytes)
{
    return static_cast<qint64>(bytes);
}

QJsonObject driveToJson(const DriveInfo& drive, const FlashReport& report)
{
    return {{u"node"_s, QString::fromStdString(drive.node)},
            {u"path"_s, QString::fromStdString(drive.path)},
            {u"vendor"_s, QString::fromStdString(drive.vendor)},
            {u"model"_s, QString::fromStdString(drive.model)},
            {u"serial"_s, QString::fromStdString(drive.serial)},
            {u"size"_s, number(drive.size)},
            {u"logical_block"_s, static_cast<int>(report.logicalBlock)},
            {u"write_cache"_s, QString::fromStdString(drive.writeCache)}};
}

QJsonObject sumToJson(const SumResult& result)
{
    const auto originOf = [](const KnownSum& sum) {
        return QFile::decodeName(QByteArray::fromStdString(sum.origin));
    };
    QJsonObject object{{u"kind"_s, QString::fromUtf8(nameOf(result.sum.kind))},
                       {u"hex"_s, QString::fromStdString(result.sum.hex)},
                       {u"origin"_s, originOf(result.sum)},
                       {u"of"_s, result.ofFile ? u"file"_s : u"image"_s},
                       {u"matches"_s, result.matches}};
    if (result.contradictedBy) {
        object.insert(u"contradicted_by"_s, originOf(*result.contradictedBy));
    }
    return object;
}

QJsonArray badRangesToJson(const FlashReport& report)
{
    QJsonArray array;
    for (const BadRange& bad : report.badRanges) {
        array.append(QJsonObject{{u"offset"_s, number(bad.range.offset)},
                                 {u"length"_s, number(bad.range.length)},
                                 {u"unreadable"_s, bad.unreadable},
                                 {u"errno"_s, bad.sysErrno},
                                 {u"same_again"_s, bad.sameAgain}});
    }
    return array;
}

QJsonObject curveToJson(const SpeedCurve& curve)
{
    QJsonArray rates;
    for (const auto& bin : curve.bins()) {
        rates.append(static_cast<qint64>(bin.rate()));
    }
    return {{u"bin_bytes"_s, number(curve.binWidth())}, {u"bytes_per_second"_s, rates}};
}

QString coverage(const FlashReport& report)
{
    if (report.verdict != Verdict::Verified) {
        return u"none"_s;
    }
    return report.coverage == Coverage::EveryByte ? u"every byte"_s : u"all used blocks"_s;
}

/// Where the knowledge of what is used came from; null for a job that never had any.
QJsonValue usedBlocksToJson(const FlashRequest& request, const FlashReport& report)
{
    if (!request.plan.used) {
        return {};
    }
    const bool isBmap = request.plan.used->source == UsedBlocksSource::Bmap;
    QJsonObject object{{u"source"_s, isBmap ? u"block map"_s : u"file systems"_s}};
    if (isBmap) {
        object.insert(u"path"_s, QFile::decodeName(request.plan.used->path.c_str()));
    }
    if (report.refuted) {
        object.insert(u"dropped_at"_s, number(report.refuted->offset));
        object.insert(u"dropped_because"_s,
                      report.refuted->reason == MapRefuted::Reason::NotZero ? u"left out data"_s
                                                                            : u"other image size"_s);
    }
    return object;
}

QString usedBlocksLines(const FlashRequest& request, const FlashReport& report)
{
    QString text;
    if (request.plan.used && request.plan.used->source == UsedBlocksSource::Bmap) {
        text += Words::tr("  block map  %1").arg(QFile::decodeName(request.plan.used->path.c_str())) + u'\n';
    }
    if (report.bytesSkipped > 0) {
        text += Words::tr("  skipped    %1 that the image does not use").arg(formatSize(report.bytesSkipped))
            + u'\n';
    }
    if (report.bytesCleared > 0) {
        text += Words::tr("  cleared    %1 that the image does not use").arg(formatSize(report.bytesCleared))
            + u'\n';
    }
    if (report.bytesUnchanged > 0) {
        text +=
            Words::tr("  unchanged  %1 were there already").arg(formatSize(report.bytesUnchanged)) + u'\n';
    }
    if (report.refuted) {
        text += Words::tr("  note: %1").arg(refutedText(*report.refuted)) + u'\n';
    }
    return text;
}

QString fileName(const FlashRequest& request)
{
    return QFileInfo(QFile::decodeName(QByteArray::fromStdString(request.image.path))).fileName();
}

/// "written    268 MB in 2.0 s, 134 MB/s"
QString passLine(const QString& what, Bytes bytes, std::chrono::nanoseconds time)
{
    return what
        + Words::tr("%1 in %2, %3")
              .arg(formatSize(bytes), formatTimeTaken(time), formatRate(rate(bytes, time)))
        + u'\n';
}

} // namespace

QString phaseWord(Phase phase)
{
    switch (phase) {
    case Phase::Preparing:
        return u"preparing"_s;
    case Phase::Writing:
        return u"writing"_s;
    case Phase::Flushing:
        return u"flushing"_s;
    case Phase::Verifying:
        return u"verifying"_s;
    case Phase::Finished:
        return u"finished"_s;
    }
    return {};
}

QString verdictWord(Verdict verdict)
{
    switch (verdict) {
    case Verdict::Verified:
        return u"verified"_s;
    case Verdict::WrittenNotVerified:
        return u"written, not verified"_s;
    case Verdict::Cancelled:
        return u"cancelled"_s;
    case Verdict::Failed:
        return u"failed"_s;
    }
    return {};
}

QJsonObject errorToJson(const FlashError& error, const ErrorContext& context)
{
    const ErrorText words = errorText(error, context);
    QJsonObject object{{u"code"_s, errorCodeName(error.code)},
                       {u"phase"_s, phaseWord(error.phase)},
                       {u"errno"_s, error.sysErrno},
                       {u"detail"_s, QString::fromStdString(error.detail)},
                       {u"title"_s, words.title},
                       {u"text"_s, words.text}};
    if (error.offset) {
        object.insert(u"offset"_s, number(*error.offset));
    }
    return object;
}

ErrorContext errorContext(const FlashRequest& request, const FlashReport& report)
{
    return {.image = fileName(request),
            .drive = QString::fromStdString(driveName(request.drive)),
            .imageSize = report.imageSize.value_or(request.image.unpackedSize.value_or(0)),
            .driveSize = request.drive.size,
            .driveTouched = report.driveTouched,
            .sum = report.sum && !report.sum->matches ? sumName(report.sum->sum) : QString()};
}

QJsonObject reportToJson(const FlashRequest& request, const FlashState& state)
{
    const FlashReport& report = state.report.value();
    QJsonObject object{
        {u"burin"_s, QStringLiteral(BURIN_VERSION)},
        {u"verdict"_s, verdictWord(report.verdict)},
        {u"coverage"_s, coverage(report)},
        {u"ended_in"_s, phaseWord(report.endedIn)},
        {u"drive_touched"_s, report.driveTouched},
        {u"image"_s,
         QJsonObject{{u"path"_s, QFile::decodeName(QByteArray::fromStdString(request.image.path))},
                     {u"file_size"_s, number(request.image.file.size)},
                     {u"size"_s, report.imageSize ? number(*report.imageSize) : QJsonValue()},
                     {u"sha256"_s, QString::fromStdString(report.sha256)}}},
        {u"drive"_s, driveToJson(request.drive, report)},
        {u"chunk_size"_s, number(report.chunkSize)},
        {u"bytes_written"_s, number(report.bytesWritten)},
        {u"bytes_skipped"_s, number(report.bytesSkipped)},
        {u"bytes_cleared"_s, number(report.bytesCleared)},
        {u"bytes_unchanged"_s, number(report.bytesUnchanged)},
        {u"bytes_verified"_s, number(report.bytesVerified)},
        {u"write_seconds"_s, seconds(report.writeTime)},
        {u"flush_seconds"_s, seconds(report.flushTime)},
        {u"verify_seconds"_s, seconds(report.verifyTime)},
        {u"write_mean"_s, rate(report.bytesWritten, report.writeTime)},
        {u"verify_mean"_s, rate(report.bytesVerified, report.verifyTime)},
        {u"write_curve"_s, curveToJson(state.write.curve)},
        {u"verify_curve"_s, curveToJson(state.verify.curve)},
        {u"retries"_s, static_cast<int>(report.retries)},
        {u"differing"_s, badRangesToJson(report)}};
    object.insert(u"used_blocks"_s, usedBlocksToJson(request, report));
    if (report.error) {
        object.insert(u"error"_s, errorToJson(*report.error, errorContext(request, report)));
    }
    if (report.sum) {
        object.insert(u"checksum"_s, sumToJson(*report.sum));
    }
    if (report.counterfeit) {
        object.insert(u"counterfeit"_s,
                      QJsonObject{{u"likely_size"_s, number(report.counterfeit->likelySize)},
                                  {u"wraps"_s, report.counterfeit->wraps}});
    }
    return object;
}

QString reportToText(const FlashRequest& request, const FlashState& state)
{
    const FlashReport& report = state.report.value();
    const ErrorContext context = errorContext(request, report);
    QString text = verdictTitle(report, context) + u'\n';
    text += Words::tr("  image      %1 (%2)").arg(fileName(request), imageSummary(request.image)) + u'\n';
    if (!report.sha256.empty()) {
        text += Words::tr("  SHA-256    %1").arg(QString::fromStdString(report.sha256)) + u'\n';
    }
    if (report.sum) {
        text += Words::tr("  checksum   %1").arg(sumText(*report.sum)) + u'\n';
    }
    text += Words::tr("  drive      %1, %2")
                .arg(driveTitle(request.drive), QString::fromStdString(request.drive.path))
        + u'\n';
    if (report.bytesWritten > 0) {
        text +=
            passLine(Words::tr("  written    "), report.bytesWritten, report.writeTime + report.flushTime);
    }
    if (report.bytesVerified > 0) {
        text += passLine(Words::tr("  read back  "), report.bytesVerified, report.verifyTime);
    }
    text += usedBlocksLines(request, report);
    if (report.retries > 0) {
        text += Words::tr("  retries    %1").arg(report.retries) + u'\n';
    }
    for (const BadRange& bad : report.badRanges) {
        text += Words::tr("  %1  %2 at byte %3")
                    .arg(bad.unreadable ? Words::tr("unreadable") : Words::tr("different "),
                         formatSize(bad.range.length))
                    .arg(bad.range.offset)
            + u'\n';
    }
    if (report.error) {
        const ErrorText words = errorText(*report.error, context);
        text += words.text + u'\n';
        if (!words.details.isEmpty()) {
            text += Words::tr("Details: %1").arg(words.details) + u'\n';
        }
    }
    const QString advice = verdictAdvice(report, context);
    return advice.isEmpty() ? text : text + advice + u'\n';
}

Result<void> saveReport(const FlashRequest& request, const FlashState& state, const QString& path)
{
    const QByteArray bytes = path.endsWith(".json"_L1) ? QJsonDocument(reportToJson(request, state)).toJson()
                                                       : reportToText(request, state).toUtf8();
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size() || !file.commit()) {
        return failure(ErrorCode::WriteFailed, file.errorString().toStdString());
    }
    return {};
}

ExitStatus exitStatus(const FlashReport& report)
{
    switch (report.verdict) {
    case Verdict::Verified:
    case Verdict::WrittenNotVerified:
        return ExitStatus::Good;
    case Verdict::Cancelled:
        return ExitStatus::Cancelled;
    case Verdict::Failed:
        break;
    }
    const bool ofTheImage = report.error && report.error->code <= ErrorCode::ImageGrewPastDrive;
    if (report.driveTouched && report.sum && !report.sum->matches) {
        return ExitStatus::VerifyFailed;
    }
    if (ofTheImage && !report.driveTouched) {
        return ExitStatus::Refused; // a verify that found the image, not the drive, to be bad
    }
    if (report.endedIn == Phase::Verifying) {
        return ExitStatus::VerifyFailed;
    }
    return report.driveTouched ? ExitStatus::WriteFailed : ExitStatus::Refused;
}

} // namespace burin
