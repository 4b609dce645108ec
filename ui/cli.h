// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/error.h"
#include "errortext.h"
#include "report.h"

#include <QString>
#include <QStringList>

class QCommandLineParser;

namespace burin {

/// The arguments, without loss: bytes that are no UTF-8 are kept as lone surrogates, which cli::toPath()
/// turns back, so that any file name works whatever the locale.
[[nodiscard]] QStringList commandLineArguments(int argc, char** argv);

/// Whether the first argument is a command of the command line; else burin opens its window.
[[nodiscard]] bool isCommand(const QString& word);

/// Runs `burin COMMAND ARGUMENTS...` (SPEC 8) under a QCoreApplication, which it does not need to be
/// running, and returns the exit status. `arguments` begins with the program's name.
[[nodiscard]] int runCommand(const QStringList& arguments);

namespace cli {

// What the commands share.

/// Parses; on --help or an error prints and fills `status`, and the command returns it.
[[nodiscard]] bool parse(QCommandLineParser& parser, const QStringList& arguments, int& status);
void printOut(const QString& text);
void printError(const QString& text);
/// Prints an error in words (as JSON too where asked) and returns the exit status for it.
int refuse(const FlashError& error, const ErrorContext& context, bool json,
           ExitStatus status = ExitStatus::Refused);
int usageError(const QString& text);
/// The bytes of a path that commandLineArguments() gave; file:// URLs too.
[[nodiscard]] std::string toPath(const QString& argument);

int runList(const QStringList& arguments);
int runInfo(const QStringList& arguments);
int runFlash(const QStringList& arguments);
int runVerify(const QStringList& arguments);
int runDemo(const QStringList& arguments);

} // namespace cli

} // namespace burin
