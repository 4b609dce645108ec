// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "errortext.h"

#include "formatting.h"
#include "words.h"

#include <QHash>
#include <QStringList>

#include <cstring>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

struct Entry {
    const char* title;
    const char* text; ///< quotes facts as {image}, {drive}, {reason}, {place}, {imageSize}, {driveSize}
};

#define W(s) QT_TRANSLATE_NOOP("burin::Words", s)

// NOLINTNEXTLINE(readability-function-size): a table, as a switch so that no code can be forgotten.
Entry entryFor(ErrorCode code)
{
    switch (code) {
    case ErrorCode::ImageUnreadable:
        return {W("Can't read the image"),
                W("“{image}” could not be read: {reason}. Check that the file still exists and its disk is "
                  "connected.")};
    case ErrorCode::ImageEmpty:
        return {W("The image is empty"), W("“{image}” holds no data. Download it again.")};
    case ErrorCode::ImageFormatUnknown:
        return {W("Not a disk image"), W("“{image}” is in no format that Burin knows. Choose a disk image.")};
    case ErrorCode::ImageUnsupported:
        return {W("Burin can't unpack this format"),
                W("“{image}” is in a format that Burin does not unpack ({reason}). Convert it to a raw image "
                  "first.")};
    case ErrorCode::ImageNoMember:
        return {
            W("No disk image inside"),
            W("Nothing in “{image}” looks like a disk image. Unpack it and look for an .img or .iso file.")};
    case ErrorCode::ImageEncrypted:
        return {W("The image is encrypted"), W("“{image}” is protected by a password. Unpack it first.")};
    case ErrorCode::ImageTruncated:
        return {W("The image is incomplete"), W("“{image}” ends before its data does. Download it again.")};
    case ErrorCode::ImageCorrupt:
        return {W("The image is damaged"),
                W("“{image}” failed its own check at {place}. Download it again.")};
    case ErrorCode::ImageNeedsMemory:
        return {W("The image needs too much memory to unpack"),
                W("Unpacking “{image}” takes more memory than this computer can spare ({reason}). Unpack it "
                  "first.")};
    case ErrorCode::ImageChanged:
        return {W("The image has changed"),
                W("“{image}” is not the same file any more as when it was chosen. Choose it again.")};
    case ErrorCode::ImageTooLarge:
        return {W("The image doesn't fit"),
                W("The image needs {imageSize}, “{drive}” holds {driveSize}. Use a larger drive.")};
    case ErrorCode::ImageGrewPastDrive:
        return {W("The image doesn't fit"),
                W("Unpacked, the image is larger than “{drive}”, which filled up at {place}. Use a larger "
                  "drive.")};
    case ErrorCode::DriveNotFound:
        return {W("No such drive"), W("There is no drive “{drive}”. Check that it is plugged in.")};
    case ErrorCode::DriveAmbiguous:
        return {W("More than one drive fits"),
                W("“{drive}” fits more than one drive. Name it by its node, as in /dev/sdb.")};
    case ErrorCode::DriveIsPartition:
        return {
            W("That is a partition"),
            W("“{drive}” is only a part of a drive. Images are written to whole drives: choose {reason}.")};
    case ErrorCode::DriveNotADrive:
        return {W("Not a drive"),
                W("“{drive}” is not a drive that Burin can write. Choose a USB stick or an SD card.")};
    case ErrorCode::DriveIsSystem:
        return {W("This drive runs your system"),
                W("“{drive}” is in use by this system ({reason}). Burin never writes to it. Choose another "
                  "drive.")};
    case ErrorCode::DriveHoldsImage:
        return {W("The image lies on this drive"),
                W("“{drive}” holds {reason}. Copy the file to another disk, or choose another drive.")};
    case ErrorCode::DriveProtected:
        return {W("This drive is protected"),
                W("Burin does not write to “{drive}”: {reason}. Choose another drive.")};
    case ErrorCode::DriveBusy:
        return {W("The drive is in use"),
                W("“{drive}” is used by something else ({reason}). Close it or unmount the drive, then try "
                  "again.")};
    case ErrorCode::DriveNoMedium:
        return {W("No card in the reader"), W("“{drive}” is empty. Put a card in and choose it again.")};
    case ErrorCode::DriveReadOnly:
        return {W("The drive is write-protected"),
                W("“{drive}” does not let itself be written. Check the lock switch on the card or adapter.")};
    case ErrorCode::DriveNoDirectIo:
        return {W("The drive can't be written directly"),
                W("“{drive}” refuses direct access, without which nothing could be verified. Use another "
                  "port or reader.")};
    case ErrorCode::AuthDismissed:
        return {W("Permission was not given"),
                W("The password question was closed. Try again and answer it to write to “{drive}”.")};
    case ErrorCode::AuthDenied:
        return {W("Not allowed"),
                W("Your account may not write to “{drive}” ({reason}). Ask an administrator.")};
    case ErrorCode::AuthNoAgent:
        return {W("No way to ask for permission"),
                W("This session runs no authentication agent, which would ask for the password. Start one "
                  "(such as "
                  "polkit-kde-agent, mate-polkit or lxpolkit), or run Burin as root.")};
    case ErrorCode::ServiceMissing:
        return {W("The disk service is not running"),
                W("Burin needs udisks2 to open drives ({reason}). Install it or start it, then try again.")};
    case ErrorCode::DriveChanged:
        return {W("The drive was swapped"),
                W("The drive there now is not the “{drive}” that you chose. Choose it again.")};
    case ErrorCode::DriveGone:
        return {W("The drive was removed"),
                W("“{drive}” disappeared at {place}. Plug it in again and start over.")};
    case ErrorCode::WriteFailed:
        return {W("Writing failed"),
                W("“{drive}” reported an error at {place} ({reason}). It may be worn out: try another port, "
                  "reader or drive.")};
    case ErrorCode::FlushFailed:
        return {W("The drive didn't save everything"),
                W("“{drive}” reported an error while finishing ({reason}). Don't trust its content; try "
                  "another port or drive.")};
    case ErrorCode::ReadBackFailed:
        return {W("Couldn't read the drive back"),
                W("“{drive}” reported an error at {place} while it was read ({reason}). It is probably "
                  "failing: use another.")};
    case ErrorCode::VerifyMismatch:
        return {W("Verification failed"),
                W("“{drive}” returned other data than the image's, first at {place}. It may be faulty or "
                  "fake: don't use it.")};
    case ErrorCode::Internal:
        return {W("Something went wrong in Burin"),
                W("Please report this with the details below ({reason}).")};
    }
    return {"", ""};
}

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
    const Entry entry = entryFor(error.code);
    QString title = Words::tr(entry.title);
    QString text = filled(Words::tr(entry.text), factsOf(error, context));
    if (error.code == ErrorCode::ImageUnreadable && error.detail == "directory") {
        title = Words::tr("That is a folder");
        text = Words::tr("“%1” is a folder. Choose the image file inside it.").arg(context.image);
    }
    return {.title = title, .text = text + u' ' + stateText(error, context), .details = detailsText(error)};
}

} // namespace burin
