// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "card.h"

#include "theme.h"

#include <QApplication>
#include <QEvent>
#include <QPainter>

namespace burin {

Card::Card(QWidget* parent) : QWidget(parent), m_column(new QVBoxLayout(this))
{
    m_column->setContentsMargins(18, 14, 18, 14);
    m_column->setSpacing(6);
}

void Card::paintEvent(QPaintEvent* /*event*/)
{
    const Theme& colours = theme(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.border, 1));
    painter.setBrush(colours.card);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 8, 8);
}

ToneLabel::ToneLabel(Tone tone, double scale, QFont::Weight weight, QWidget* parent)
    : QLabel(parent), m_tone(tone)
{
    setTextFormat(Qt::PlainText);
    setFont(scaledFont(font(), scale, weight));
    applyTone();
}

void ToneLabel::setTone(Tone tone)
{
    m_tone = tone;
    applyTone();
}

void ToneLabel::changeEvent(QEvent* event)
{
    QLabel::changeEvent(event);
    if (event->type() == QEvent::PaletteChange && !m_applying) {
        applyTone();
    }
}

void ToneLabel::applyTone()
{
    const QPalette desktop = QApplication::palette();
    const Theme& colours = theme(desktop);
    QColor colour = colours.text;
    switch (m_tone) {
    case Tone::Plain:
        break;
    case Tone::Muted:
        colour = colours.muted;
        break;
    case Tone::Good:
        colour = colours.good;
        break;
    case Tone::Bad:
        colour = colours.bad;
        break;
    case Tone::Warning:
        colour = colours.warning;
        break;
    }
    m_applying = true;
    QPalette own;
    own.setColor(QPalette::WindowText, colour);
    setPalette(own);
    m_applying = false;
}

} // namespace burin
