// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivefilterproxy.h"

#include "drivelistmodel.h"

namespace burin {

namespace {

/// A locked card or an empty reader is in people's hands: hiding it would only puzzle them.
bool isMendable(const DriveInfo& drive)
{
    if (!drive.external || drive.protections.empty()) {
        return false;
    }
    const ProtectionKind kind = drive.protections.front().kind;
    return kind == ProtectionKind::WriteProtected || kind == ProtectionKind::NoMedium;
}

bool isProtected(const DriveInfo& drive)
{
    return drive.access != Access::Write && !isMendable(drive);
}

} // namespace

DriveFilterProxy::DriveFilterProxy(QObject* parent) : QSortFilterProxyModel(parent) { }

void DriveFilterProxy::set(bool& option, bool value)
{
    if (option != value) {
        option = value;
        invalidateFilter();
    }
}

void DriveFilterProxy::setShowProtected(bool show)
{
    set(m_protected, show);
}
void DriveFilterProxy::setShowInternal(bool show)
{
    set(m_internal, show);
}
void DriveFilterProxy::setShowLoops(bool show)
{
    set(m_loops, show);
}

int DriveFilterProxy::hiddenProtected() const
{
    const auto* model = qobject_cast<const DriveListModel*>(sourceModel());
    if (model == nullptr || m_protected) {
        return 0;
    }
    return int(std::ranges::count_if(model->drives(), isProtected));
}

bool DriveFilterProxy::filterAcceptsRow(int row, const QModelIndex& parent) const
{
    const auto* model = qobject_cast<const DriveListModel*>(sourceModel());
    if (model == nullptr || parent.isValid()) {
        return false;
    }
    const DriveInfo& drive = model->drive(row);
    if (drive.bus == Bus::Loop) {
        return m_loops;
    }
    if (isProtected(drive)) {
        return m_protected;
    }
    return drive.external || drive.bus == Bus::File || m_internal;
}

} // namespace burin
