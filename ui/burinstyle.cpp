// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "burinstyle.h"

#include "theme.h"

#include <QApplication>
#include <QKeyEvent>
#include <QPainter>
#include <QPainterPath>
#include <QPushButton>
#include <QStyleHints>
#include <QStyleOptionButton>

#include <algorithm>

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
    const QRectF rect = QRectF(option.rect).adjusted(0.5, 0.5, -0.5, -0.5);
    const bool focused = option.state.testFlag(QStyle::State_HasFocus)
        && option.state.testFlag(QStyle::State_KeyboardFocusChange);
    painter.drawRoundedRect(rect, kButtonRadius, kButtonRadius);
    if (focused) {
        // Within the button's own field, so that neighbours stay in line.
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(isPrimary(widget) ? colours.onAccent : colours.accent, 2));
        const double inset = isPrimary(widget) ? 3 : 0.5;
        painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), kButtonRadius - 1,
                                kButtonRadius - 1);
    }
    painter.restore();
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

void drawMenuBar(const QStyleOption& option, QPainter& painter, const QStyle& style, const QWidget* widget)
{
    const Theme& colours = theme(option.palette);
    painter.fillRect(option.rect, colours.card);
    const auto* item = qstyleoption_cast<const QStyleOptionMenuItem*>(&option);
    if (item != nullptr && !item->text.isEmpty()) {
        if (option.state.testFlag(QStyle::State_Selected)) {
            painter.save();
            painter.setRenderHint(QPainter::Antialiasing);
            painter.setPen(Qt::NoPen);
            painter.setBrush(colours.selection);
            painter.drawRoundedRect(QRectF(option.rect).adjusted(1, 3, -1, -3), 4, 4);
            painter.restore();
        }
        const bool underline = style.styleHint(QStyle::SH_UnderlineShortcut, &option, widget) != 0;
        const int flags = int(Qt::AlignCenter) | int(underline ? Qt::TextShowMnemonic : Qt::TextHideMnemonic);
        painter.setPen(option.state.testFlag(QStyle::State_Enabled) ? colours.text : colours.muted);
        painter.drawText(option.rect, flags, item->text);
    }
    if (widget != nullptr) {
        painter.fillRect(QRect(option.rect.left(), widget->height() - 1, option.rect.width(), 1),
                         colours.border);
    }
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

void BurinStyle::polish(QApplication* application)
{
    QProxyStyle::polish(application);
    application->installEventFilter(this);
}

bool BurinStyle::eventFilter(QObject* watched, QEvent* event)
{
    const QEvent::Type type = event->type();
    if (type == QEvent::KeyPress || type == QEvent::KeyRelease || type == QEvent::WindowDeactivate) {
        const bool show = type == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->key() == Qt::Key_Alt;
        const bool alt =
            type == QEvent::KeyPress && static_cast<QKeyEvent*>(event)->modifiers().testFlag(Qt::AltModifier);
        if (m_showMnemonics != (show || alt)) {
            m_showMnemonics = show || alt;
            for (QWidget* widget : QApplication::allWidgets()) {
                widget->update();
            }
        }
    }
    return QProxyStyle::eventFilter(watched, event);
}

int BurinStyle::styleHint(StyleHint hint, const QStyleOption* option, const QWidget* widget,
                          QStyleHintReturn* data) const
{
    return hint == SH_UnderlineShortcut ? int(m_showMnemonics)
                                        : QProxyStyle::styleHint(hint, option, widget, data);
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
    if (const auto* box = qstyleoption_cast<const QStyleOptionButton*>(option); element == CE_CheckBoxLabel
        && box != nullptr && widget != nullptr && widget->property("quiet").toBool()) {
        QStyleOptionButton quiet = *box;
        quiet.palette.setColor(QPalette::WindowText, theme(box->palette).muted);
        QProxyStyle::drawControl(element, &quiet, painter, widget);
        return;
    }
    if (element == CE_MenuBarEmptyArea || element == CE_MenuBarItem) {
        drawMenuBar(*option, *painter, *this, widget);
        return;
    }
    QProxyStyle::drawControl(element, option, painter, widget);
}

QRect BurinStyle::subControlRect(ComplexControl control, const QStyleOptionComplex* option, SubControl part,
                                 const QWidget* widget) const
{
    const auto* bar = qstyleoption_cast<const QStyleOptionSlider*>(option);
    if (control != CC_ScrollBar || bar == nullptr) {
        return QProxyStyle::subControlRect(control, option, part, widget);
    }
    if (part == SC_ScrollBarAddLine || part == SC_ScrollBarSubLine) {
        return {};
    }
    const bool lying = bar->orientation == Qt::Horizontal;
    const int length = lying ? bar->rect.width() : bar->rect.height();
    const int range = bar->maximum - bar->minimum + bar->pageStep;
    const int slider = range > 0
        ? std::clamp(int(qint64(length) * bar->pageStep / range), std::min(24, length), length)
        : length;
    const int at = sliderPositionFromValue(bar->minimum, bar->maximum, bar->sliderPosition, length - slider,
                                           bar->upsideDown);
    int from = 0;
    int to = length;
    if (part == SC_ScrollBarSlider) {
        from = at;
        to = at + slider;
    } else if (part == SC_ScrollBarSubPage) {
        to = at;
    } else if (part == SC_ScrollBarAddPage) {
        from = at + slider;
    }
    return lying ? QRect(from, 0, to - from, bar->rect.height())
                 : QRect(0, from, bar->rect.width(), to - from);
}

void BurinStyle::drawComplexControl(ComplexControl control, const QStyleOptionComplex* option,
                                    QPainter* painter, const QWidget* widget) const
{
    if (control != CC_ScrollBar) {
        QProxyStyle::drawComplexControl(control, option, painter, widget);
        return;
    }
    QColor colour = theme(option->palette).muted;
    colour.setAlphaF(option->state.testFlag(State_MouseOver) ? 0.7F : 0.4F);
    const QRectF slider =
        QRectF(subControlRect(control, option, SC_ScrollBarSlider, widget)).adjusted(2, 2, -2, -2);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    painter->setPen(Qt::NoPen);
    painter->setBrush(colour);
    const double radius = std::min(slider.width(), slider.height()) / 2;
    painter->drawRoundedRect(slider, radius, radius);
    painter->restore();
}

int BurinStyle::pixelMetric(PixelMetric metric, const QStyleOption* option, const QWidget* widget) const
{
    switch (metric) {
    case PM_IndicatorWidth:
    case PM_IndicatorHeight:
        return widget != nullptr ? qRound(widget->fontMetrics().height() * 1.05) : 17;
    case PM_ScrollBarExtent:
        return 11;
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
        return {text + metrics.height() * (small ? 2 : 3), qRound(metrics.height() * (small ? 1.75 : 2.25))};
    }
    if (type == CT_MenuBarItem) {
        return QProxyStyle::sizeFromContents(type, option, size, widget) + QSize(4, 6);
    }
    return QProxyStyle::sizeFromContents(type, option, size, widget);
}

} // namespace burin
