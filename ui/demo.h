// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <expected>
#include <functional>

namespace burin {

/// The files of `burin demo`, real ones: a packed image and a sparse file that stands for a drive.
struct Demo {
    QString folder;
    QString image;
    QString drive;
};

/// Makes them in the user's cache folder; a drive left by an earlier demo is emptied. Blocks for some
/// seconds and says each step. The error is a sentence.
[[nodiscard]] std::expected<Demo, QString> makeDemo(const std::function<void(const QString&)>& say);

/// Where the files are and how to throw them away.
[[nodiscard]] QString demoFarewell(const Demo& demo);

} // namespace burin
