// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "errortext.h"

#include "formatting.h"
#include "words.h"

#include <QHash>
#include <QStringList>

#include <array>
#include <cstring>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

struct Entry {
    ErrorCode code;
    const char* title;
    const char* text; ///< quotes facts as {image}, {drive}, {reason}, {place}, {imageSize}, {driveSize}
};

#define W(s) QT_TRANSLATE_NOOP("burin::Words", s)

constexpr auto kEntries = std::to_array<Entry>({
    {ErrorCode::ImageUnreadable, W("Can't read the image"),
     W("“{image}” could not be read: {reason}. Check that the file still exists and its disk is "
       "connected.")},
    {ErrorCode::ImageEmpty, W("The image is empty"), W("“{image}” holds no data. Download it again.")},
    {ErrorCode::ImageFormatUnknown, W("Not a disk image"),
     W("“{image}” is in no format that Burin knows. Choose a disk image.")},
    {ErrorCode::ImageUnsupported, W("Burin can't unpack this format"),
     W("“{image}” is in a format that Burin does not unpack ({reason}). Convert it to a raw image "
       "first.")},
    {ErrorCode::ImageNoMember, W("No disk image inside"),
     W("Nothing in “{image}” looks like a disk image. Unpack it and look for an .img or .iso file.")},
    {ErrorCode::ImageEncrypted, W("The image is encrypted"),
     W("“{image}” is protected by a password. Unpack it first.")},
    {ErrorCode::ImageTruncated, W("The image is incomplete"),
     W("“{image}” ends before its data does. Download it again.")},
    {ErrorCode::ImageCorrupt, W("The image is damaged"),
     W("“{image}” failed its own check at {place}. Download it again.")},
    {ErrorCode::ImageNeedsMemory, W("The image needs too much memory to unpack"),
     W("Unpacking “{image}” takes more memory than this computer can spare ({reason}). Unpack it "
       "first.")},
    {ErrorCode::ImageChanged, W("The image has changed"),
     W("“{image}” is not the same file any more as when it was chosen. Choose it again.")},
    {ErrorCode::BlockMapBad, W("The block map can't be used"),
     W("The block map of “{image}” is damaged or belongs to another image ({reason}). Get it again, or "
       "write every block.")},
    {ErrorCode::ImageTooLarge, W("The image doesn't fit"),
     W("The image needs {imageSize}, “{drive}” holds {driveSize}. Use a larger drive.")},
    {ErrorCode::ImageGrewPastDrive, W("The image doesn't fit"),
     W("Unpacked, the image is larger than “{drive}”, which filled up at {place}. Use a larger "
       "drive.")},
    {ErrorCode::DriveNotFound, W("No such drive"),
     W("There is no drive “{drive}”. Check that it is plugged in.")},
    {ErrorCode::DriveAmbiguous, W("More than one drive fits"),
     W("“{drive}” fits more than one drive. Name it by its node, as in /dev/sdb.")},
    {ErrorCode::DriveIsPartition, W("That is a partition"),
     W("“{drive}” is only a part of a drive. Images are written to whole drives: choose {reason}.")},
    {ErrorCode::DriveNotADrive, W("Not a drive"),
     W("“{drive}” is not a drive that Burin can write. Choose a USB stick or an SD card.")},
    {ErrorCode::DriveIsSystem, W("This drive runs your system"),
     W("“{drive}” is in use by this system ({reason}). Burin never writes to it. Choose another "
       "drive.")},
    {ErrorCode::DriveHoldsImage, W("The image lies on this drive"),
     W("“{drive}” holds {reason}. Copy the file to another disk, or choose another drive.")},
    {ErrorCode::DriveProtected, W("This drive is protected"),
     W("Burin does not write to “{drive}”: {reason}. Choose another drive.")},
    {ErrorCode::DriveBusy, W("The drive is in use"),
     W("“{drive}” is used by something else ({reason}). Close it or unmount the drive, then try "
       "again.")},
    {ErrorCode::DriveNoMedium, W("No card in the reader"),
     W("“{drive}” is empty. Put a card in and choose it again.")},
    {ErrorCode::DriveReadOnly, W("The drive is write-protected"),
     W("“{drive}” does not let itself be written. Check the lock switch on the card or adapter.")},
    {ErrorCode::DriveNoDirectIo, W("The drive can't be written directly"),
     W("“{drive}” refuses direct access, without which nothing could be verified. Use another "
       "port or reader.")},
    {ErrorCode::AuthDismissed, W("Permission was not given"),
     W("The password question was closed. Try again and answer it to write to “{drive}”.")},
    {ErrorCode::AuthDenied, W("Not allowed"),
     W("Your account may not write to “{drive}” ({reason}). Ask an administrator.")},
    {ErrorCode::AuthNoAgent, W("No way to ask for permission"),
     W("This session runs no authentication agent, which would ask for the password. Start one "
       "(such as "
       "polkit-kde-agent, mate-polkit or lxpolkit), or run Burin as root.")},
    {ErrorCode::ServiceMissing, W("The disk service is not running"),
     W("Burin needs udisks2 to open drives ({reason}). Install it or start it, then try again.")},
    {ErrorCode::DriveChanged, W("The drive was swapped"),
     W("The drive there now is not the “{drive}” that you chose. Choose it again.")},
    {ErrorCode::DriveGone, W("The drive was removed"),
     W("“{drive}” disappeared at {place}. Plug it in again and start over.")},
    {ErrorCode::DriveTooSlow, W("The drive was too slow for the others"),
     W("“{drive}” fell behind at {place}, and what comes through a pipe can't be read again. Save the "
       "image as a file, or write this drive alone.")},
    {ErrorCode::WriteFailed, W("Writing failed"),
     W("“{drive}” reported an error at {place} ({reason}). It may be worn out: try another port, "
       "reader or drive.")},
    {ErrorCode::FlushFailed, W("The drive didn't save everything"),
     W("“{drive}” reported an error while finishing ({reason}). Don't trust its content; try "
       "another port or drive.")},
    {ErrorCode::ReadBackFailed, W("Couldn't read the drive back"),
     W("“{drive}” reported an error at {place} while it was read ({reason}). It is probably "
       "failing: use another.")},
    {ErrorCode::VerifyMismatch, W("Verification failed"),
     W("“{drive}” returned other data than the image's, first at {place}. It may be faulty or "
       "fake: don't use it.")},
    {ErrorCode::Internal, W("Something went wrong in Burin"),
     W("Please report this with the details below ({reason}).")},
});

constexpr bool isComplete()
{
    for (std::size_t i = 0; i < kEntries.size(); ++i) {
        if (kEntries[i].code != static_cast<ErrorCode>(i)) {
            return false;
        }
    }
    return kEntries.size() == static_cast<std::size_t>(ErrorCode::Internal) + 1;
}
static_assert(isComplete(), "every code has its words, in the order of the codes");

#undef W

QString orElse(const QString& s, const QString& other)
{
    return s.isEmpty() ? other : s;
}

QString systemText(int sysErrno)
{
    return sysErrno == 0 ? QString() : QString::fromLocal8Bit(std::strerror(sysErrno));
}

using Facts = QHash<QString, QString>;

Facts factsOf(const FlashError& error, const ErrorContext& context)
{
    const QString detail = QString::fromStdString(error.detail);
    const QString unknown = Words::tr("an unknown size");
    return {
        {u"image"_s, orElse(context.image, Words::tr("the image"))},
        {u"drive"_s, orElse(context.drive, Words::tr("the drive"))},
        {u"reason"_s, orElse(detail, orElse(systemText(error.sysErrno), Words::tr("no reason was given")))},
        {u"place"_s, error.offset ? formatSize(*error.offset) : Words::tr("a place that is not known")},
        {u"imageSize"_s, context.imageSize != 0 ? formatSize(context.imageSize) : unknown},
        {u"driveSize"_s, context.driveSize != 0 ? formatSize(context.driveSize) : unknown},
    };
}

/// One pass, so that a file named "{drive}" stays what it is.
QString filled(const QString& text, const Facts& facts)
{
    QString out;
    qsizetype from = 0;
    for (qsizetype open = text.indexOf(u'{'); open >= 0; open = text.indexOf(u'{', from)) {
        const qsizetype close = text.indexOf(u'}', open);
        out += text.sliced(from, open - from) + facts.value(text.sliced(open + 1, close - open - 1));
        from = close + 1;
    }
    return out + text.sliced(from);
}

QString stateText(const FlashError& error, const ErrorContext& context)
{
    if (!context.driveTouched) {
        return Words::tr("Nothing was written.");
    }
    if (error.phase == Phase::Verifying || error.phase == Phase::Finished) {
        return Words::tr("The image was written, but the drive can't be trusted to hold it.");
    }
    return Words::tr("The drive holds only part of the image.");
}

QString detailsText(const FlashError& error)
{
    QStringList lines;
    if (error.offset) {
        lines << Words::tr("offset: %1 bytes").arg(*error.offset);
    }
    if (error.sysErrno != 0) {
        lines << Words::tr("system error: %1 (%2)")
                     .arg(QString::number(error.sysErrno), systemText(error.sysErrno));
    }
    if (!error.detail.empty()) {
        lines << QString::fromStdString(error.detail);
    }
    return lines.join(u'\n');
}

} // namespace

ErrorText errorText(const FlashError& error, const ErrorContext& context)
{
    const Entry& entry = kEntries[static_cast<std::size_t>(error.code)];
    QString title = Words::tr(entry.title);
    QString text = filled(Words::tr(entry.text), factsOf(error, context));
    if (error.code == ErrorCode::DriveGone && !error.offset) {
        text = filled(Words::tr("“{drive}” disappeared. Plug it in again and start over."),
                      factsOf(error, context));
    }
    if (error.code == ErrorCode::ImageUnreadable && error.detail == "directory") {
        title = Words::tr("That is a folder");
        text = Words::tr("“%1” is a folder. Choose the image file inside it.").arg(context.image);
    }
    if (error.code == ErrorCode::ImageCorrupt && error.detail == "block map") {
        text = Words::tr("“%1” differs at %2 from what its block map says: it is damaged, or the map is "
                         "another image's. Download both again.")
                   .arg(context.image, formatSize(error.offset.value_or(0)));
    }
    if (error.code == ErrorCode::ImageCorrupt && !context.sum.isEmpty()) {
        title = Words::tr("The image is not the published one");
        text = Words::tr("“%1” differs from %2: it is damaged or another version. Download it again.")
                   .arg(context.image, context.sum);
        if (context.driveTouched) {
            text += u' ' + Words::tr("The drive must not be used.");
        }
    }
    return {.title = title, .text = text + u' ' + stateText(error, context), .details = detailsText(error)};
}

} // namespace burin
