// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "cli.h"

#include "words.h"

#include <QCommandLineParser>
#include <QCoreApplication>
#include <QJsonDocument>
#include <QUrl>

#include <array>
#include <cstdio>

namespace burin {

using namespace Qt::StringLiterals;

namespace {

struct Command {
    QLatin1StringView name;
    int (*run)(const QStringList&) = nullptr;
};

constexpr std::array kCommands{Command{"list"_L1, cli::runList}, Command{"info"_L1, cli::runInfo},
                               Command{"flash"_L1, cli::runFlash}, Command{"verify"_L1, cli::runVerify},
                               Command{"demo"_L1, cli::runDemo}};

QString usage()
{
    return Words::tr("Usage: burin [IMAGE]                 opens the window\n"
                     "       burin list                    the drives, and why some are protected\n"
                     "       burin info IMAGE              what an image is\n"
                     "       burin flash IMAGE DRIVE       writes the image and proves that it arrived\n"
                     "       burin verify IMAGE DRIVE      compares the drive with the image\n"
                     "       burin demo                    writes and verifies a virtual drive\n"
                     "       burin COMMAND --help          the options of a command\n"
                     "       burin --version\n");
}

// U+DC80 to U+DCFF stand for single bytes; in well-formed text they never follow anything but a high
// surrogate.
constexpr char16_t kLoneSurrogate = 0xDC00;

bool hasLoneSurrogates(const QString& text)
{
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i].isLowSurrogate() && (i == 0 || !text[i - 1].isHighSurrogate())) {
            return true;
        }
    }
    return false;
}

void print(std::FILE* stream, const QString& text)
{
    const QByteArray bytes = text.toLocal8Bit();
    (void)std::fwrite(bytes.constData(), 1, static_cast<std::size_t>(bytes.size()), stream);
    (void)std::fflush(stream);
}

} // namespace

QStringList commandLineArguments(int argc, char** argv)
{
    QStringList arguments;
    for (int i = 0; i < argc; ++i) {
        const QByteArrayView bytes(argv[i]);
        QString argument;
        if (bytes.isValidUtf8()) {
            argument = QString::fromUtf8(bytes);
        } else {
            for (const char byte : bytes) {
                const auto code = static_cast<unsigned char>(byte);
                argument += QChar(static_cast<char16_t>(code < 0x80 ? code : kLoneSurrogate + code));
            }
        }
        arguments += argument;
    }
    return arguments;
}

bool isCommand(const QString& word)
{
    return word == "--help"_L1 || word == "-h"_L1 || word == "--version"_L1 || word == "help"_L1
        || std::ranges::any_of(kCommands, [&](const Command& command) { return command.name == word; });
}

int runCommand(const QStringList& arguments)
{
    const QString word = arguments.value(1);
    if (word == "--version"_L1) {
        cli::printOut(u"burin " BURIN_VERSION "\n"_s);
        return 0;
    }
    for (const Command& command : kCommands) {
        if (command.name == word) {
            return command.run(arguments);
        }
    }
    cli::printOut(usage());
    return 0;
}

namespace cli {

bool parse(QCommandLineParser& parser, const QStringList& arguments, int& status)
{
    // Not addHelpOption(): it would offer the options of Qt too.
    const QCommandLineOption help({u"h"_s, u"help"_s}, Words::tr("Print this help."));
    parser.addOption(help);
    // The command's name stands where the parser expects the program's.
    if (!parser.parse(QStringList(u"burin "_s + arguments.value(1)) + arguments.mid(2))) {
        status = usageError(parser.errorText());
        return false;
    }
    if (parser.isSet(help)) {
        const QString program = QCoreApplication::arguments().value(0);
        printOut(parser.helpText().replace(program, u"burin "_s + arguments.value(1)));
        status = 0;
        return false;
    }
    return true;
}

void printOut(const QString& text)
{
    print(stdout, text);
}

void printError(const QString& text)
{
    print(stderr, text);
}

int refuse(const FlashError& error, const ErrorContext& context, bool json, ExitStatus status)
{
    const ErrorText words = errorText(error, context);
    printError(u"burin: %1: %2\n"_s.arg(words.title, words.text));
    if (!words.details.isEmpty()) {
        printError(u"burin: %1\n"_s.arg(words.details));
    }
    if (json) {
        const QJsonObject event{{u"event"_s, u"finished"_s},
                                {u"verdict"_s, verdictWord(Verdict::Failed)},
                                {u"drive_touched"_s, false},
                                {u"error"_s, errorToJson(error, context)}};
        printOut(QString::fromUtf8(QJsonDocument(event).toJson(QJsonDocument::Compact)) + u'\n');
    }
    return static_cast<int>(status);
}

int usageError(const QString& text)
{
    printError(u"burin: %1\n"_s.arg(text));
    return static_cast<int>(ExitStatus::Usage);
}

std::string toPath(const QString& argument)
{
    if (hasLoneSurrogates(argument)) {
        std::string path;
        for (const QChar character : argument) {
            path += static_cast<char>(character.unicode() & 0xFFU);
        }
        return path;
    }
    if (argument.startsWith("file://"_L1)) {
        return QUrl(argument).toLocalFile().toStdString();
    }
    return argument.toStdString();
}

} // namespace cli

} // namespace burin
