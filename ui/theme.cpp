// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "theme.h"

namespace burin {

namespace {

const Theme& lightTheme()
{
    static const Theme light{
        .window = QColor(0xf4f3f1),
        .card = QColor(0xffffff),
        .border = QColor(0xd9d6d0),
        .text = QColor(0x1c1d1f),
        .muted = QColor(0x676c74),
        .accent = QColor(0xb3541e),
        .onAccent = QColor(0xffffff),
        .selection = QColor(0xf9f1ed),
        .well = QColor(0xf4f3f1),
        .disabled = QColor(0xd9d6d0),
        .grid = QColor(0xdcdbd9),
        .write = QColor(0xb3541e),
        .verify = QColor(0x1f7a8c),
        .writtenCell = QColor(0xd19a78),
        .verifiedCell = QColor(0x5f9e62),
        .badCell = QColor(0xc0302b),
        .good = QColor(0x2e7d32),
        .bad = QColor(0xc0302b),
        .warning = QColor(0x8a5a00),
    };
    return light;
}

const Theme& darkTheme()
{
    static const Theme dark{
        .window = QColor(0x1f2124),
        .card = QColor(0x2a2d31),
        .border = QColor(0x3b3f45),
        .text = QColor(0xf0f0ef),
        .muted = QColor(0xa0a4aa),
        .accent = QColor(0xb9561f),
        .onAccent = QColor(0xffffff),
        .selection = QColor(0x42342d),
        .well = QColor(0x1f2124),
        .disabled = QColor(0x3b3f45),
        .grid = QColor(0x3b3f45),
        .write = QColor(0xd0682f),
        .verify = QColor(0x2f93a6),
        .writtenCell = QColor(0x7d421f),
        .verifiedCell = QColor(0x2f7a38),
        .badCell = QColor(0xe5534b),
        .good = QColor(0x6cbf72),
        .bad = QColor(0xf0716a),
        .warning = QColor(0xe0a94a),
    };
    return dark;
}

} // namespace

const Theme& theme(const QPalette& palette)
{
    return palette.color(QPalette::Window).lightness() < 128 ? darkTheme() : lightTheme();
}

QPalette themePalette(Qt::ColorScheme scheme)
{
    const Theme& colours = scheme == Qt::ColorScheme::Dark ? darkTheme() : lightTheme();
    QPalette palette(colours.card, colours.window);
    palette.setColor(QPalette::WindowText, colours.text);
    palette.setColor(QPalette::Base, colours.card);
    palette.setColor(QPalette::AlternateBase, colours.window);
    palette.setColor(QPalette::Text, colours.text);
    palette.setColor(QPalette::Button, colours.card);
    palette.setColor(QPalette::ButtonText, colours.text);
    palette.setColor(QPalette::BrightText, colours.onAccent);
    palette.setColor(QPalette::ToolTipBase, colours.card);
    palette.setColor(QPalette::ToolTipText, colours.text);
    palette.setColor(QPalette::PlaceholderText, colours.muted);
    palette.setColor(QPalette::Highlight, colours.accent);
    palette.setColor(QPalette::HighlightedText, colours.onAccent);
    palette.setColor(QPalette::Accent, colours.accent);
    palette.setColor(QPalette::Link, colours.accent);
    for (const auto role : {QPalette::WindowText, QPalette::Text, QPalette::ButtonText}) {
        palette.setColor(QPalette::Disabled, role, colours.muted);
    }
    return palette;
}

QFont scaledFont(const QFont& font, double factor, QFont::Weight weight)
{
    QFont scaled = font;
    if (font.pointSizeF() > 0) {
        scaled.setPointSizeF(font.pointSizeF() * factor);
    } else {
        scaled.setPixelSize(qMax(1, qRound(font.pixelSize() * factor)));
    }
    scaled.setWeight(weight);
    return scaled;
}

} // namespace burin
