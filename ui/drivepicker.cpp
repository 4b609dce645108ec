// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivepicker.h"

#include "drivedelegate.h"
#include "theme.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>

using namespace Qt::StringLiterals;

namespace burin {

DrivePicker::DrivePicker(QWidget* parent) : QListView(parent)
{
    setObjectName(u"drivePicker"_s);
    setAccessibleName(tr("Drives"));
    m_filter.setSourceModel(&m_drives);
    setModel(&m_filter);
    setItemDelegate(new DriveDelegate(this));
    setFrameShape(QFrame::NoFrame);
    setSelectionMode(NoSelection);
    setEditTriggers(NoEditTriggers);
    setVerticalScrollMode(ScrollPerPixel);
    setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    setMouseTracking(true);
    setUniformItemSizes(true);
    viewport()->setAutoFillBackground(false);
    setAutoFillBackground(false);
}

QSize DrivePicker::sizeHint() const
{
    constexpr int kRowsInSight = 3;
    QStyleOptionViewItem option;
    initViewItemOption(&option);
    return {fontMetrics().height() * 25, itemDelegate()->sizeHint(option, {}).height() * kRowsInSight};
}

QSize DrivePicker::minimumSizeHint() const
{
    return {fontMetrics().height() * 12, fontMetrics().height() * 4};
}

void DrivePicker::toggle(const QModelIndex& index)
{
    if (m_locked || !index.isValid() || !index.data(DriveListModel::WritableRole).toBool()) {
        return;
    }
    m_drives.toggle(m_filter.mapToSource(index).row());
}

void DrivePicker::mousePressEvent(QMouseEvent* event)
{
    QListView::mousePressEvent(event);
    m_pressed = event->button() == Qt::LeftButton ? indexAt(event->position().toPoint()) : QModelIndex();
}

void DrivePicker::mouseReleaseEvent(QMouseEvent* event)
{
    QListView::mouseReleaseEvent(event);
    const QModelIndex released = indexAt(event->position().toPoint());
    // The list may have moved under the pointer: only a press and release on one drive count.
    if (event->button() == Qt::LeftButton && m_pressed.isValid() && m_pressed == released) {
        toggle(released);
    }
    m_pressed = QModelIndex();
}

void DrivePicker::keyPressEvent(QKeyEvent* event)
{
    switch (event->key()) {
    case Qt::Key_Space:
    case Qt::Key_Return:
    case Qt::Key_Enter:
    case Qt::Key_Select:
        if (!event->isAutoRepeat()) {
            toggle(currentIndex());
        }
        event->accept();
        return;
    default:
        QListView::keyPressEvent(event);
    }
}

void DrivePicker::focusInEvent(QFocusEvent* event)
{
    QListView::focusInEvent(event);
    if (!currentIndex().isValid() && m_filter.rowCount() > 0) {
        setCurrentIndex(m_filter.index(0, 0));
    }
}

void DrivePicker::paintEvent(QPaintEvent* event)
{
    QListView::paintEvent(event);
    if (m_filter.rowCount() == 0) {
        paintEmpty();
    }
}

void DrivePicker::paintEmpty()
{
    const Theme& colours = theme(palette());
    const int hidden = m_filter.hiddenProtected();
    const QString hint =
        hidden > 0 ? tr("Hidden, since protected: %1").arg(hidden) : tr("It appears here by itself");
    QPainter painter(viewport());
    const QRect area = viewport()->rect();
    const int line = fontMetrics().height();
    painter.setFont(scaledFont(font(), 1.13, QFont::DemiBold));
    painter.setPen(colours.text);
    painter.drawText(area.adjusted(8, 0, -8, -line), int(Qt::AlignCenter) | int(Qt::TextWordWrap),
                     tr("Plug in a USB stick or an SD card"));
    painter.setFont(font());
    painter.setPen(colours.muted);
    painter.drawText(area.adjusted(8, line * 2, -8, 0), int(Qt::AlignCenter) | int(Qt::TextWordWrap), hint);
}

} // namespace burin
