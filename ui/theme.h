// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QColor>
#include <QFont>
#include <QPalette>

namespace burin {

/// The colours that a palette has no role for. Which set holds follows from the palette alone, so a widget
/// repaints right whenever its palette changes.
struct Theme {
    QColor window;
    QColor card;
    QColor border;
    QColor text;
    QColor muted;
    QColor accent;
    QColor onAccent;
    QColor selection;
    QColor well; ///< empty tracks: the chunk map, the partition bar
    QColor disabled;
    QColor grid;
    QColor write;
    QColor verify;
    QColor writtenCell;
    QColor verifiedCell;
    QColor badCell;
    QColor good;
    QColor bad;
    QColor warning;
};

[[nodiscard]] const Theme& theme(const QPalette& palette);
[[nodiscard]] QPalette themePalette(Qt::ColorScheme scheme);

/// Sizes are relative to the font that the desktop gives.
[[nodiscard]] QFont scaledFont(const QFont& font, double factor, QFont::Weight weight = QFont::Normal);

} // namespace burin
