// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "drivefilterproxy.h"
#include "drivelistmodel.h"

#include <QListView>

namespace burin {

/// The list in which one drive is chosen: by a click, or by Space or Enter on the current row.
class DrivePicker : public QListView
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(DrivePicker)

public:
    explicit DrivePicker(QWidget* parent = nullptr);

    [[nodiscard]] DriveListModel& drives() { return m_drives; }
    [[nodiscard]] const DriveListModel& drives() const { return m_drives; }
    [[nodiscard]] DriveFilterProxy& filter() { return m_filter; }
    /// While a job runs the list stays live, but the choice is fixed.
    void setLocked(bool locked) { m_locked = locked; }

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void mousePressEvent(QMouseEvent* event) override;
    void mouseReleaseEvent(QMouseEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusInEvent(QFocusEvent* event) override;
    void paintEvent(QPaintEvent* event) override;

private:
    void toggle(const QModelIndex& index);
    void paintEmpty();

    DriveListModel m_drives;
    DriveFilterProxy m_filter;
    QPersistentModelIndex m_pressed;
    bool m_locked = false;
};

} // namespace burin
