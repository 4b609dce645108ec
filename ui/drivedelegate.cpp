// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivedelegate.h"

#include "burinstyle.h"
#include "drivelistmodel.h"
#include "theme.h"

#include <QPainter>
#include <QPainterPath>

namespace burin {

namespace {

constexpr double kPadding = 12; ///< left of the box and between box and words

QFont titleFont(const QFont& font)
{
    return scaledFont(font, 1.06, QFont::DemiBold);
}
QFont subtitleFont(const QFont& font)
{
    return scaledFont(font, 0.93);
}

void drawLock(QPainter& painter, const QRectF& box, const QColor& colour)
{
    painter.save();
    painter.setRenderHint(QPainter::Antialiasing);
    const double w = box.width();
    const QRectF body(box.left() + w * 0.04, box.top() + box.height() * 0.44, w * 0.92, box.height() * 0.56);
    QPainterPath shackle;
    const QRectF arc(box.left() + w * 0.22, box.top() + box.height() * 0.06, w * 0.56, w * 0.62);
    shackle.moveTo(arc.left(), body.top() + 1);
    shackle.lineTo(arc.left(), arc.center().y());
    shackle.arcTo(arc, 180, -180);
    shackle.lineTo(arc.right(), body.top() + 1);
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, w * 0.13));
    painter.drawPath(shackle);
    painter.setPen(Qt::NoPen);
    painter.setBrush(colour);
    painter.drawRoundedRect(body, 2, 2);
    painter.restore();
}

void drawLine(QPainter& painter, const QRectF& rect, const QFont& font, const QColor& colour,
              const QString& text, Qt::Alignment side = Qt::AlignLeft)
{
    painter.setFont(font);
    painter.setPen(colour);
    painter.drawText(rect, int(side | Qt::AlignVCenter) | int(Qt::TextSingleLine),
                     QFontMetricsF(font).elidedText(text, Qt::ElideRight, rect.width()));
}

} // namespace

void DriveDelegate::paint(QPainter* painter, const QStyleOptionViewItem& option,
                          const QModelIndex& index) const
{
    const Theme& colours = theme(option.palette);
    const bool writable = index.data(DriveListModel::WritableRole).toBool();
    const bool chosen = index.data(Qt::CheckStateRole).toInt() == Qt::Checked;
    const QRectF row = QRectF(option.rect).adjusted(2, 2, -2, -2);
    painter->save();
    painter->setRenderHint(QPainter::Antialiasing);
    if (chosen || (writable && option.state.testFlag(QStyle::State_MouseOver))) {
        QColor fill = colours.selection;
        fill.setAlphaF(chosen ? 1.0F : 0.5F);
        painter->setPen(Qt::NoPen);
        painter->setBrush(fill);
        painter->drawRoundedRect(row, 6, 6);
    }
    const QFont head = titleFont(option.font);
    const QFont sub = subtitleFont(option.font);
    const double side = std::round(QFontMetricsF(option.font).height() * 1.05);
    QRectF box(row.left() + kPadding, 0, side, side);
    box.moveTop(std::round(row.center().y() - side / 2));
    if (writable) {
        drawCheckBox(*painter, box, chosen, option.state.testFlag(QStyle::State_Enabled), colours);
    } else {
        drawLock(*painter, box.adjusted(0, -side * 0.12, 0, side * 0.12), colours.muted);
    }
    QRectF words(box.right() + kPadding + 2, 0, row.right() - box.right() - 2 * kPadding, 0);
    const QString badge = index.data(DriveListModel::BadgeRole).toString();
    if (!badge.isEmpty()) {
        const QFont badgeFont = scaledFont(option.font, 0.93, QFont::Medium);
        const double width = QFontMetricsF(badgeFont).horizontalAdvance(badge) + 4;
        const QRectF place(words.right() - width, row.top(), width, row.height());
        drawLine(*painter, place, badgeFont, colours.muted, badge, Qt::AlignRight);
        words.setRight(place.left() - kPadding);
    }
    const double first = QFontMetricsF(head).height();
    const double second = QFontMetricsF(sub).height();
    words.setTop(row.center().y() - (first + second + 1) / 2);
    words.setHeight(first);
    drawLine(*painter, words, head, writable ? colours.text : colours.muted, index.data().toString());
    words.moveTop(words.bottom() + 1);
    words.setHeight(second);
    drawLine(*painter, words, sub, colours.muted, index.data(DriveListModel::SubtitleRole).toString());
    if (option.state.testFlag(QStyle::State_HasFocus)
        && option.state.testFlag(QStyle::State_KeyboardFocusChange)) {
        drawFocusRing(*painter, row.adjusted(1, 1, -1, -1), 6, colours);
    }
    painter->restore();
}

QSize DriveDelegate::sizeHint(const QStyleOptionViewItem& option, const QModelIndex& /*index*/) const
{
    const double lines =
        QFontMetricsF(titleFont(option.font)).height() + QFontMetricsF(subtitleFont(option.font)).height();
    return {200, int(std::ceil(lines)) + 22};
}

} // namespace burin
