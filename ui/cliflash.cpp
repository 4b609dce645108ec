// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "blockwords.h"
#include "cli.h"
#include "clijob.h"
#include "ejectwords.h"
#include "formatting.h"
#include "platform/drivelist.h"
#include "words.h"

#include <QCommandLineParser>
#include <QFile>
#include <QTextStream>

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace burin::cli {

using namespace Qt::StringLiterals;

namespace {

struct Choice {
    FlashRequest request;
    bool json = false;
    QString driveWord; ///< as it was typed
};

ErrorContext context(const Choice& choice)
{
    ErrorContext words = errorContext(choice.request, {});
    if (choice.request.drive.path.empty()) {
        words.drive = choice.driveWord;
    }
    return words;
}

void addSharedOptions(QCommandLineParser& parser)
{
    parser.addPositionalArgument(
        u"IMAGE"_s,
        Words::tr("The image's file, packed or not; an http or https address; - for standard input."));
    parser.addPositionalArgument(
        u"DRIVE"_s, Words::tr("A drive by node (/dev/sdb), by-id link or serial number; see burin list."));
    parser.addOptions(
        {{u"json"_s, Words::tr("Print one JSON event per line on standard output.")},
         {u"loop"_s, Words::tr("DRIVE may be a loop device.")},
         {u"file"_s, Words::tr("DRIVE is a regular file that stands for a drive.")},
         {u"entry"_s, Words::tr("The file in a zip, 7z or tar that is the image."), u"NAME"_s},
         {u"sha256"_s, Words::tr("The published SHA-256 of the file or of the unpacked image."), u"HEX"_s},
         {u"sum"_s, Words::tr("The same for any of MD5, SHA-1, SHA-256, SHA-512."), u"HEX"_s},
         {u"no-sums"_s, Words::tr("Don't look at the checksum files beside the image.")},
         {u"no-sha256"_s, Words::tr("Leave out the image's SHA-256.")},
         {u"bmap"_s, Words::tr("The block map that says which blocks of the image are used."), u"FILE"_s},
         {u"no-bmap"_s, Words::tr("Don't use a block map that lies beside the image.")},
         {{u"all-blocks"_s, u"no-used-blocks"_s},
          Words::tr("Every block, used or not. The default is what a block map or the free maps of clean "
                    "file systems call used.")}});
}

/// "-" is standard input: a file that it was redirected from is an image like any other, a pipe is read once.
Result<void> openImageArgument(const QCommandLineParser& parser, const QString& word, Choice& choice)
{
    FlashRequest& request = choice.request;
    struct stat input = {};
    const bool isStandardInput = word == "-"_L1;
    const bool isStream = isStandardInput && ::fstat(STDIN_FILENO, &input) == 0 && !S_ISREG(input.st_mode)
        && !S_ISBLK(input.st_mode); // a drive is refused as an image, as by its name
    request.image.path = isStandardInput ? "/proc/self/fd/0" : toPath(word);
    if (isStream) {
        request.image.path = Words::tr("standard input").toStdString();
        auto streamed = openStream(UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)), request.image.path);
        if (!streamed) {
            return std::unexpected(streamed.error());
        }
        request.image = std::move(streamed->info);
        request.stream = std::move(streamed->source);
        return {};
    }
    auto info = probeImage(request.image.path, {}, toPath(parser.value(u"entry"_s)));
    if (!info) {
        return std::unexpected(info.error());
    }
    request.image = std::move(*info);
    return {};
}

/// With several images inside, the command line doesn't guess.
bool hasToBePicked(const QCommandLineParser& parser, const ImageInfo& image, int& status)
{
    if (image.candidates.size() < 2 || parser.isSet(u"entry"_s)) {
        return false;
    }
    printError(Words::tr("burin: there are several images inside. Say which with --entry:\n"));
    for (const auto& candidate : image.candidates) {
        printError(
            u"  %1  (%2)\n"_s.arg(QString::fromStdString(candidate.member), formatSize(candidate.size)));
    }
    printError(Words::tr("Nothing was written.\n"));
    status = static_cast<int>(ExitStatus::Refused);
    return true;
}

/// The sums to compare the image with: the one that was typed, else those beside the image.
bool takeSums(const QCommandLineParser& parser, Choice& choice, int& status)
{
    FlashRequest& request = choice.request;
    const QString typed = parser.value(u"sha256"_s) + parser.value(u"sum"_s);
    if (!typed.isEmpty()) {
        const auto sum = parsePasted(typed.toStdString());
        if (!sum || (parser.isSet(u"sha256"_s) && sum->kind != DigestKind::Sha256)) {
            status = usageError(Words::tr("'%1' is no checksum").arg(typed));
            return false;
        }
        request.plan.sums = {*sum};
    } else if (!parser.isSet(u"no-sums"_s)) {
        request.plan.sums = request.image.sums;
    }
    return true;
}

/// Which blocks of the image count (SPEC 3.6).
bool takeUsedBlocks(const QCommandLineParser& parser, Choice& choice, int& status)
{
    FlashRequest& request = choice.request;
    if (parser.isSet(u"all-blocks"_s)) {
        return true;
    }
    if (parser.isSet(u"bmap"_s)) {
        if (const auto taken = useBmap(request.image, toPath(parser.value(u"bmap"_s))); !taken) {
            status = refuse(taken.error(), context(choice), choice.json);
            return false;
        }
    } else if (parser.isSet(u"no-bmap"_s)) {
        request.image.bmap.reset();
    } else if (request.image.bmapError) {
        status = refuse(*request.image.bmapError, context(choice), choice.json);
        printError(Words::tr("burin: to go on without the block map %1, say --no-bmap or --all-blocks\n")
                       .arg(QFile::decodeName(request.image.bmapPath.c_str())));
        return false;
    }
    request.plan.used = usedBlocksOf(request.image);
    return true;
}

/// Finds out what IMAGE and DRIVE are. False: refused, with `status` to return.
bool choose(const QCommandLineParser& parser, Choice& choice, int& status)
{
    choice.json = parser.isSet(u"json"_s);
    const QStringList words = parser.positionalArguments();
    if (words.size() != 2) {
        status = usageError(words.size() > 2 ? Words::tr("one drive at a time, for now")
                                             : Words::tr("needs an image and a drive; see --help"));
        return false;
    }
    choice.driveWord = words[1];
    if (const auto opened = openImageArgument(parser, words[0], choice); !opened) {
        status = refuse(opened.error(), context(choice), choice.json);
        return false;
    }
    if (hasToBePicked(parser, choice.request.image, status)) {
        return false;
    }
    if (!takeSums(parser, choice, status) || !takeUsedBlocks(parser, choice, status)) {
        return false;
    }
    ListOptions options{.loops = parser.isSet(u"loop"_s), .files = {}};
    if (!choice.request.stream && !isUrl(choice.request.image.path)) {
        options.keptFiles = {choice.request.image.path};
    }
    std::string drive = toPath(words[1]);
    if (parser.isSet(u"file"_s)) {
        drive = std::filesystem::absolute(drive).string(); // a plain name would be a node's

        options.files = {drive};
    }
    auto drives = listDrives(options);
    if (parser.isSet(u"file"_s)) {
        // A file may be called like a node ("sdb") or lead to one: then it is none.
        std::erase_if(drives, [](const DriveInfo& listed) { return listed.bus != Bus::File; });
    }
    const auto found = findDrive(drive, drives);
    if (!found) {
        status = refuse(found.error(), context(choice), choice.json);
        return false;
    }
    choice.request.drive = *found;
    choice.request.plan.sha256 = !parser.isSet(u"no-sha256"_s);
    return true;
}

/// What stands against the write before anyone is asked.
std::optional<FlashError> objection(const FlashRequest& request)
{
    if (request.drive.access != Access::Write) {
        return protectionError(request.drive);
    }
    if (request.image.unpackedSize && *request.image.unpackedSize > request.drive.size) {
        return FlashError{.code = ErrorCode::ImageTooLarge};
    }
    return {};
}

QString ask(const QString& question)
{
    printError(question);
    QTextStream input(stdin);
    return input.readLine();
}

/// SPEC 4.5, 8: a question on a terminal, --yes, and for drives that are no sticks the name itself.
bool confirmed(const QCommandLineParser& parser, const DriveInfo& drive, int& status)
{
    const QString name = QString::fromStdString(typedName(drive));
    const QString title = u"%1 (%2)"_s.arg(driveTitle(drive), QString::fromStdString(drive.node));
    const bool terminal = ::isatty(STDIN_FILENO) == 1;
    status = static_cast<int>(ExitStatus::Refused);
    const bool named = parser.value(u"confirm-model"_s) == name;
    if (parser.isSet(u"confirm-model"_s) && !named) {
        printError(Words::tr("burin: %1 is not called '%2' but '%3'. Nothing was written.\n")
                       .arg(title, parser.value(u"confirm-model"_s), name));
        return false;
    }
    if (needsTypedName(drive)) {
        if (named) {
            return true;
        }
        if (!terminal || parser.isSet(u"yes"_s)) {
            printError(
                Words::tr("burin: %1 is large, internal or holds much data. If it is the right one, say "
                          "--confirm-model '%2'. Nothing was written.\n")
                    .arg(title, name));
            return false;
        }
        printError(Words::tr("Everything on %1 will be erased.\n").arg(title));
        if (ask(Words::tr("Type its name, %1, to go on: ").arg(name)).trimmed() == name) {
            return true;
        }
    } else {
        if (parser.isSet(u"yes"_s)) {
            return true;
        }
        if (!terminal) {
            printError(
                Words::tr(
                    "burin: there is no terminal to ask on. Say --yes to erase %1. Nothing was written.\n")
                    .arg(title));
            return false;
        }
        printError(u"%1\n  %2\n"_s.arg(title, driveSubtitle(drive)));
        const QString answer = ask(Words::tr("Erase and flash it? Type yes: ")).trimmed();
        if (answer == Words::tr("yes") || answer == "yes"_L1) {
            return true;
        }
    }
    printError(Words::tr("burin: not confirmed. Nothing was written.\n"));
    return false;
}

bool acceptable(const QCommandLineParser& parser, const ImageInfo& image)
{
    for (const auto warning : image.warnings) {
        printError(Words::tr("burin: note: %1\n").arg(warningText(warning)));
    }
    if (std::ranges::contains(image.warnings, ImageWarning::ShorterThanItsTable)
        && !parser.isSet(u"allow-short"_s)) {
        printError(
            Words::tr("burin: the image is probably incomplete. Download it again, or say --allow-short. "
                      "Nothing was written.\n"));
        return false;
    }
    return true;
}

} // namespace

int runFlash(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(Words::tr(
        "Writes the image to the drive, reads it back and says whether all of it arrived.\n"
        "Everything on the drive is erased. Exit status: 0 verified (or written, with --no-verify), 1 "
        "usage,\n"
        "2 refused before anything was written, 3 failed while writing, 4 the drive differs, 5 cancelled."));
    addSharedOptions(parser);
    parser.addOptions(
        {{u"yes"_s, Words::tr("Don't ask before erasing. Not enough for large or internal drives.")},
         {u"confirm-model"_s,
          Words::tr("The model name of a large or internal drive, in place of a question."), u"NAME"_s},
         {u"no-verify"_s, Words::tr("Don't read the drive back.")},
         {u"allow-short"_s, Words::tr("Write an image that seems to be cut short.")},
         {u"only-differences"_s,
          Words::tr("Read each part of the drive first, and write it only if it differs.")},
         {u"clear-rest"_s, Words::tr("Write zeros where the image uses nothing.")},
         {u"eject"_s, Words::tr("Eject the drive afterwards, if all is well.")}});
    int status = 0;
    Choice choice;
    if (!parse(parser, arguments, status) || !choose(parser, choice, status)) {
        return status;
    }
    if (const auto error = objection(choice.request)) {
        return refuse(*error, context(choice), choice.json);
    }
    if (!acceptable(parser, choice.request.image)) {
        return static_cast<int>(ExitStatus::Refused);
    }
    if (!confirmed(parser, choice.request.drive, status)) {
        return status;
    }
    choice.request.plan.verify = !parser.isSet(u"no-verify"_s);
    choice.request.plan.onlyDifferences = parser.isSet(u"only-differences"_s);
    choice.request.plan.clearRest = parser.isSet(u"clear-rest"_s);
    choice.request.plan.leastSize = parser.isSet(u"allow-short"_s) ? 0 : choice.request.image.claimedEnd;
    printError(u"burin: %1\n"_s.arg(blocksText(choice.request.image, !choice.request.plan.used)));
    const FlashReport report = CliJob(choice.json).run(choice.request);
    if (parser.isSet(u"eject"_s) && exitStatus(report) == ExitStatus::Good) {
        printError(ejectSentence(choice.request.drive, ejectDrive(choice.request.drive, {})) + u'\n');
    }
    return static_cast<int>(exitStatus(report));
}

int runVerify(const QStringList& arguments)
{
    QCommandLineParser parser;
    parser.setApplicationDescription(Words::tr(
        "Compares the drive with the image and writes nothing.\n"
        "Exit status: 0 equal, 1 usage, 2 refused, 4 the drive differs or can't be read, 5 cancelled."));
    addSharedOptions(parser);
    int status = 0;
    Choice choice;
    if (!parse(parser, arguments, status) || !choose(parser, choice, status)) {
        return status;
    }
    choice.request.verifyOnly = true;
    if (choice.request.drive.access == Access::None) {
        return refuse(protectionError(choice.request.drive), context(choice), choice.json);
    }
    if (!choice.request.drive.mountPoints.empty()) {
        printError(Words::tr("burin: note: the drive is in use (mounted at %1), so the result may change "
                             "while it is read\n")
                       .arg(QString::fromStdString(choice.request.drive.mountPoints.front())));
    }
    return static_cast<int>(exitStatus(CliJob(choice.json).run(choice.request)));
}

} // namespace burin::cli
