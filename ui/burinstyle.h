// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QProxyStyle>
#include <QRectF>

namespace burin {

struct Theme;

/// Fusion with rounded buttons, check boxes in the accent colour and a plain menu bar. A button with the
/// property "primary" is the one to press.
class BurinStyle : public QProxyStyle
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(BurinStyle)

public:
    BurinStyle();

    /// Whatever palette the desktop gives, Burin wears its own in the desktop's colour scheme.
    void polish(QPalette& palette) override;
    void polish(QApplication* application) override;
    using QProxyStyle::polish;
    void drawComplexControl(ComplexControl control, const QStyleOptionComplex* option, QPainter* painter,
                            const QWidget* widget) const override;
    QRect subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                         const QWidget* widget) const override;
    int styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                  QStyleHintReturn* data) const override;
    void drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                       const QWidget* widget) const override;
    void drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                     const QWidget* widget) const override;
    int pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const override;
    QSize sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                           const QWidget* widget) const override;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    bool m_showMnemonics = false; ///< while Alt is held
};

void drawCheckBox(QPainter& painter, const QRectF& box, bool checked, bool enabled, const Theme& colours);
void drawFocusRing(QPainter& painter, const QRectF& around, double radius, const Theme& colours);

} // namespace burin
