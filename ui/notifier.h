// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QString;

namespace burin {

/// Asks the desktop to show a notification. Nothing happens where there is none that could.
void notifyDesktop(const QString& title, const QString& text);

} // namespace burin
