// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

namespace burin {

/// Opens the window, with an image if one is named, and runs until it is closed. Needs a QApplication.
[[nodiscard]] int runWindow(const QString& image);

/// Makes the demo's files and opens the window with both chosen.
[[nodiscard]] int runDemoWindow();

} // namespace burin
