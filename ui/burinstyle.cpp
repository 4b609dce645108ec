// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "burinstyle.h"

#include "theme.h"

#include <QGuiApplication>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QStyleHints>
#include <QStyleOptionButton>

namespace burin {

namespace {

constexpr double kButtonRadius = 6;

bool isPrimary(const QWidget* widget)
{
    return widget != nullptr && widget->property("primary").toBool();
}

void drawButton(const QStyleOption& option, QPainter& painter, const QWidget* widget)
{
    const Theme& colours = theme(option.palette);
    const bool enabled = option.state.testFlag(QStyle::State_Enabled);
    const bool pressed = option.state.testFlag(QStyle::State_Sunken);
    const bool hovered = enabled && option.state.testFlag(QStyle::State_MouseOver);
    QColor fill = colours.card;
    QColor line = colours.border;
    if (isPrimary(widget)) {
        fill = enabled ? colours.accent : colours.disabled;
        line = fill;
    }
    if (pressed) {
        fill = fill.darker(112);
    } else if (hovered) {
        fill = isPrimary(widget)     ? fill.lighter(112)
            : fill.lightness() < 128 ? fill.lighter(125)
                                     : colours.window;
    }
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(line, 1));
    painter.setBrush(fill);
    const QRectF rect = QRectF(option.rect).adjusted(2.5, 2.5, -2.5, -2.5);
    painter.drawRoundedRect(rect, kButtonRadius, kButtonRadius);
    painter.restore();
    if (option.state.testFlag(QStyle::State_HasFocus)) {
        drawFocusRing(painter, rect, kButtonRadius, colours);
    }
}

void drawButtonLabel(const QStyleOptionButton& option, QPainter& painter, const QWidget* widget)
{
    const Theme& colours = theme(option.palette);
    const bool enabled = option.state.testFlag(QStyle::State_Enabled);
    QColor text = enabled ? colours.text : colours.muted;
    painter.save();
    if (isPrimary(widget)) {
        text = enabled ? colours.onAccent : colours.muted;
        painter.setFont(scaledFont(painter.font(), 1, QFont::DemiBold));
    } else {
        painter.setFont(scaledFont(painter.font(), 1, QFont::Medium));
    }
    painter.setPen(text);
    const bool underline =
        widget == nullptr || widget->style()->styleHint(QStyle::SH_UnderlineShortcut, &option, widget);
    const int flags = int(Qt::AlignCenter) | int(underline ? Qt::TextShowMnemonic : Qt::TextHideMnemonic);
    painter.drawText(option.rect, flags, option.text);
    painter.restore();
}

} // namespace

BurinStyle::BurinStyle() : QProxyStyle(QStringLiteral("fusion")) { }

void BurinStyle::polish(QPalette& palette)
{
    auto scheme = QGuiApplication::styleHints()->colorScheme();
    if (scheme == Qt::ColorScheme::Unknown) {
        const bool dark = palette.color(QPalette::Window).lightness() < 128;
        scheme = dark ? Qt::ColorScheme::Dark : Qt::ColorScheme::Light;
    }
    palette = themePalette(scheme);
}

void drawCheckBox(QPainter& painter, const QRectF& box, bool checked, bool enabled, const Theme& colours)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const QColor fill = checked ? (enabled ? colours.accent : colours.muted) : colours.card;
    painter.setPen(QPen(checked ? fill : colours.muted, 1));
    painter.setBrush(fill);
    painter.setOpacity(enabled ? 1 : 0.6);
    painter.drawRoundedRect(box.adjusted(0.5, 0.5, -0.5, -0.5), 3.5, 3.5);
    if (checked) {
        QPainterPath tick;
        tick.moveTo(box.left() + box.width() * 0.27, box.top() + box.height() * 0.53);
        tick.lineTo(box.left() + box.width() * 0.44, box.top() + box.height() * 0.69);
        tick.lineTo(box.left() + box.width() * 0.74, box.top() + box.height() * 0.34);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colours.onAccent, box.width() / 8.5, Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPath(tick);
    }
    painter.restore();
}

void drawFocusRing(QPainter& painter, const QRectF& around, double radius, const Theme& colours)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colours.accent, 1.5));
    painter.drawRoundedRect(around.adjusted(-1.75, -1.75, 1.75, 1.75), radius + 1.75, radius + 1.75);
    painter.restore();
}

void BurinStyle::drawPrimitive(PrimitiveElement element, const QStyleOption* option, QPainter* painter,
                               const QWidget* widget) const
{
    if (element == PE_IndicatorCheckBox) {
        drawCheckBox(*painter, option->rect, option->state.testFlag(State_On),
                     option->state.testFlag(State_Enabled), theme(option->palette));
    } else if (element == PE_FrameFocusRect) {
        drawFocusRing(*painter, QRectF(option->rect).adjusted(2, 2, -2, -2), 4, theme(option->palette));
    } else {
        QProxyStyle::drawPrimitive(element, option, painter, widget);
    }
}

void BurinStyle::drawControl(ControlElement element, const QStyleOption* option, QPainter* painter,
                             const QWidget* widget) const
{
    if (element == CE_PushButtonBevel) {
        drawButton(*option, *painter, widget);
        return;
    }
    if (const auto* button = qstyleoption_cast<const QStyleOptionButton*>(option);
        element == CE_PushButton && button != nullptr) {
        drawButton(*option, *painter, widget);
        drawButtonLabel(*button, *painter, widget);
        return;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

int BurinStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
        return widget != nullptr ? qRound(widget->fontMetrics().height() * 1.05) : 17;
    case PM_CheckBoxLabelSpacing:
        return 8;
    case PM_MenuBarItemSpacing:
        return 4;
    case PM_MenuBarHMargin:
        return 8;
    case PM_MenuBarVMargin:
        return 2;
    default:
        return QProxyStyle::pixelMetric(metric, option, widget);
    }
}

QSize BurinStyle::sizeFromContents(ContentsType type, const QStyleOption* option, const QSize& size,
                                   const QWidget* widget) const
{
    if (type == CT_PushButton && widget != nullptr) {
        const QFontMetrics metrics(scaledFont(widget->font(), 1, QFont::DemiBold));
        const auto* button = qobject_cast<const QPushButton*>(widget);
        const int text =
            button != nullptr ? metrics.size(Qt::TextShowMnemonic, button->text()).width() : size.width();
        const bool small = widget->property("small").toBool();
        return {text + metrics.height() * (small ? 2 : 3),
                qRound(metrics.height() * (small ? 1.75 : 2.2)) + 4};
    }
    if (type == CT_MenuBarItem) {
        return QProxyStyle::sizeFromContents(type, option, size, widget) + QSize(4, 6);
    }
    return QProxyStyle::sizeFromContents(type, option, size, widget);
}

} // namespace burin
