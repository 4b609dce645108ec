// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "errortext.h"

#include "blockwords.h"
#include "formatting.h"
#include "words.h"

#include <QLocale>

#include <algorithm>

namespace burin {

namespace {

QString text(const std::string& s)
{
    return QString::fromStdString(s);
}

Bytes blocksIn(const FlashReport& report)
{
    if (report.coverage == Coverage::UsedBlocks) {
        return report.chunksVerified;
    }
    const Bytes size = report.imageSize.value_or(report.bytesVerified);
    return report.chunkSize == 0 ? 0 : alignUp(size, report.chunkSize) / report.chunkSize;
}

/// Chunks that a bad range touches; neighbouring ranges may share one.
Bytes badBlocksIn(const FlashReport& report)
{
    Bytes count = 0;
    Offset countedTo = 0;
    for (const BadRange& bad : report.badRanges) {
        const Offset begin = std::max(alignDown(bad.range.offset, report.chunkSize), countedTo);
        const Offset end = alignUp(bad.range.end(), report.chunkSize);
        if (end > begin) {
            count += (end - begin) / report.chunkSize;
            countedTo = end;
        }
    }
    return count;
}

QString mismatchTitle(const FlashReport& report)
{
    if (report.chunkSize == 0 || report.badRanges.empty()) {
        return Words::tr("The drive reads back differently");
    }
    const QLocale locale;
    return Words::tr("%1 of %2 blocks read back differently")
        .arg(locale.toString(qulonglong(badBlocksIn(report))), locale.toString(qulonglong(blocksIn(report))));
}

QString cancelledTitle(const FlashReport& report)
{
    if (!report.driveTouched) {
        return Words::tr("Cancelled: nothing was written");
    }
    return report.endedIn == Phase::Verifying
        ? Words::tr("Cancelled: written, but not verified to the end")
        : Words::tr("Cancelled: the drive holds only part of the image");
}

QString failedAdvice(const FlashReport& report, const ErrorContext& context)
{
    if (report.counterfeit) {
        return Words::tr("Counterfeit: %1 holds about %2, not %3")
            .arg(context.drive, formatSize(report.counterfeit->likelySize), formatSize(report.driveSize));
    }
    if (!report.badRanges.empty()) {
        const QString place = formatSize(report.badRanges.front().range.offset);
        return report.driveTouched
            ? Words::tr("Do not use this drive: it loses data near %1").arg(place)
            : Words::tr("%1 differs from the image, first at %2").arg(context.drive, place);
    }
    return report.driveTouched ? Words::tr("Do not use %1 as it is: flash it again").arg(context.drive)
                               : Words::tr("Nothing was written to %1").arg(context.drive);
}

} // namespace

QString protectionText(const Protection& protection)
{
    const QString detail = text(protection.detail);
    switch (protection.kind) {
    case ProtectionKind::SystemDisk:
        return detail.isEmpty() ? Words::tr("this system runs from it")
                                : Words::tr("this system runs from it (%1)").arg(detail);
    case ProtectionKind::HoldsImage:
        return Words::tr("it holds %1").arg(detail.isEmpty() ? Words::tr("the image") : detail);
    case ProtectionKind::WriteProtected:
        return Words::tr("write-protected: check the lock switch");
    case ProtectionKind::StackInUse:
        return protection.release.empty()
            ? Words::tr("in use by %1").arg(detail)
            : Words::tr("in use by %1; to release it: %2").arg(detail, text(protection.release));
    case ProtectionKind::NamedInFstab:
        return Words::tr("/etc/fstab mounts it at %1").arg(detail);
    case ProtectionKind::NamedInCrypttab:
        return Words::tr("/etc/crypttab unlocks it (%1)").arg(detail);
    case ProtectionKind::CannotTell:
        return Words::tr("can't tell whether the system uses it (%1)").arg(detail);
    case ProtectionKind::NoMedium:
        return Words::tr("no card in it");
    }
    return {};
}

QString protectionBadge(const Protection& protection)
{
    switch (protection.kind) {
    case ProtectionKind::SystemDisk:
        return Words::tr("system disk");
    case ProtectionKind::HoldsImage:
        return Words::tr("holds the image");
    case ProtectionKind::WriteProtected:
        return Words::tr("write-protected");
    case ProtectionKind::StackInUse:
        return Words::tr("in use");
    case ProtectionKind::NamedInFstab:
    case ProtectionKind::NamedInCrypttab:
        return Words::tr("part of the system");
    case ProtectionKind::CannotTell:
        return Words::tr("can't tell");
    case ProtectionKind::NoMedium:
        return Words::tr("no card");
    }
    return {};
}

QString warningText(ImageWarning warning)
{
    switch (warning) {
    case ImageWarning::NoBootRecord:
        return Words::tr("Neither partitions nor a boot record: nothing will start from it");
    case ImageWarning::StartsFromDiscOnly:
        return Words::tr(
            "Made for optical discs, without a boot record for drives: most computers won't start "
            "from it");
    case ImageWarning::DamagedTable:
        return Words::tr("The partition table or its backup doesn't fit its own checksum: the image may be "
                         "damaged");
    case ImageWarning::WindowsInstaller:
        return Words::tr("A Windows installer: written as it is, most computers won't start from it. Use "
                         "Microsoft's Media "
                         "Creation Tool or Ventoy instead");
    case ImageWarning::ShorterThanItsTable:
        return Words::tr("Probably incomplete: its own table reaches beyond the end of the file");
    case ImageWarning::OtherSuffix:
        return Words::tr("The name's ending doesn't fit the content. The content is what counts.");
    case ImageWarning::EndNotMarked:
        return Words::tr(
            "The server doesn't say where the file ends: one cut short on the way would look whole.");
    case ImageWarning::UnfinishedDownload:
        return Words::tr("The name is that of an unfinished download.");
    case ImageWarning::ManyMembers:
        return Words::tr("Several images inside: the largest one is written");
    }
    return {};
}

QString verdictTitle(const FlashReport& report, const ErrorContext& context)
{
    switch (report.verdict) {
    case Verdict::Verified:
        return verifiedTitle(report);
    case Verdict::WrittenNotVerified:
        return Words::tr("Written, not verified");
    case Verdict::Cancelled:
        return cancelledTitle(report);
    case Verdict::Failed:
        break;
    }
    const FlashError error = report.error.value_or(FlashError{});
    return error.code == ErrorCode::VerifyMismatch ? mismatchTitle(report) : errorText(error, context).title;
}

QString verdictAdvice(const FlashReport& report, const ErrorContext& context)
{
    switch (report.verdict) {
    case Verdict::Verified:
        return report.driveTouched ? Words::tr("%1 is flushed and safe to eject").arg(context.drive)
            : report.coverage == Coverage::EveryByte
            ? Words::tr("%1 holds exactly this image").arg(context.drive)
            : Words::tr("%1 holds all that this image uses").arg(context.drive);
    case Verdict::WrittenNotVerified:
        return Words::tr("%1 is flushed; nobody has checked what it holds").arg(context.drive);
    case Verdict::Cancelled:
        if (report.driveTouched && report.endedIn == Phase::Verifying) {
            return Words::tr("%1 is flushed; nobody has checked what it holds").arg(context.drive);
        }
        return report.driveTouched ? Words::tr("Do not use %1 as it is: flash it again").arg(context.drive)
                                   : Words::tr("%1 is as it was").arg(context.drive);
    case Verdict::Failed:
        return failedAdvice(report, context);
    }
    return {};
}

} // namespace burin
