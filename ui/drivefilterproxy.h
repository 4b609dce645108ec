// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QSortFilterProxyModel>

namespace burin {

/// Which drives are shown at all.
class DriveFilterProxy : public QSortFilterProxyModel
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(DriveFilterProxy)

public:
    explicit DriveFilterProxy(QObject* parent = nullptr);

    void setShowProtected(bool show);
    void setShowInternal(bool show);
    void setShowLoops(bool show);
    [[nodiscard]] int hiddenProtected() const;

protected:
    [[nodiscard]] bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    void set(bool& option, bool value);

    bool m_protected = true;
    bool m_internal = false;
    bool m_loops = false;
};

} // namespace burin
