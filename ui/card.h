// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QLabel>
#include <QVBoxLayout>
#include <QWidget>

namespace burin {

/// One of the window's bands: a rounded field with room inside.
class Card : public QWidget
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Card)

public:
    explicit Card(QWidget* parent = nullptr);
    /// Cards shrink as far as their contents can scroll, whatever the words in them would like.
    [[nodiscard]] bool hasHeightForWidth() const override { return false; }
    [[nodiscard]] QVBoxLayout& column() { return *m_column; }

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QVBoxLayout* m_column;
};

/// A label in a colour of the theme that follows changes of the palette.
class ToneLabel : public QLabel
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(ToneLabel)

public:
    enum class Tone { Plain, Muted, Good, Bad, Warning };

    explicit ToneLabel(Tone tone, double scale = 1, QFont::Weight weight = QFont::Normal,
                       QWidget* parent = nullptr);
    void setTone(Tone tone);

protected:
    void changeEvent(QEvent* event) override;

private:
    void applyTone();

    Tone m_tone;
    bool m_applying = false;
};

} // namespace burin
