// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivelistmodel.h"

#include "errortext.h"
#include "formatting.h"

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

bool sameDevice(const DriveInfo& a, const DriveInfo& b)
{
    return a.size == b.size && a.serial == b.serial && a.model == b.model && a.devno == b.devno;
}

QString toolTip(const DriveInfo& drive)
{
    QStringList lines{QString::fromStdString(drive.path)};
    if (!drive.serial.empty()) {
        lines << DriveListModel::tr("Serial number: %1").arg(QString::fromStdString(drive.serial));
    }
    lines << DriveListModel::tr("%1 bytes").arg(qulonglong(drive.size));
    for (const DriveContent& content : drive.contents) {
        QString line = QString::fromStdString(content.node + ' ' + content.fileSystem + ' ' + content.label);
        for (const std::string& mount : content.mountPoints) {
            line += u" · "_s + QString::fromStdString(mount);
        }
        lines << line.simplified();
    }
    for (const Protection& protection : drive.protections) {
        lines << protectionText(protection);
    }
    return lines.join(u'\n').toHtmlEscaped().replace(u'\n', u"<br>"_s);
}

} // namespace

QString driveKey(const DriveInfo& drive)
{
    return drive.diskseq != 0 ? u"seq:%1"_s.arg(drive.diskseq) : QString::fromStdString(drive.path);
}

std::optional<DriveInfo> findAgain(const DriveInfo& before, const std::vector<DriveInfo>& drives)
{
    const auto same = std::ranges::find(drives, driveKey(before), driveKey);
    if (same != drives.end()) {
        return *same;
    }
    const auto hasSerial = [&](const DriveInfo& drive) { return drive.serial == before.serial; };
    const auto found = std::ranges::find_if(drives, hasSerial);
    if (before.serial.empty() || before.cardReader || found == drives.end()
        || std::ranges::count_if(drives, hasSerial) != 1 || found->cardReader || found->model != before.model
        || found->vendor != before.vendor || found->size != before.size) {
        return {};
    }
    return *found;
}

DriveListModel::DriveListModel(QObject* parent) : QAbstractListModel(parent) { }

void DriveListModel::setDrives(const std::vector<DriveInfo>& drives)
{
    const DriveInfo* chosenNow = chosen();
    const auto before = chosenNow != nullptr ? std::optional(*chosenNow) : std::nullopt;
    removeGone(drives);
    for (std::size_t row = 0; row < drives.size(); ++row) {
        place(row, drives[row]);
    }
    dropChoiceUnless(before);
}

void DriveListModel::removeGone(const std::vector<DriveInfo>& drives)
{
    for (int row = int(m_drives.size()) - 1; row >= 0; --row) {
        const QString key = driveKey(drive(row));
        if (std::ranges::none_of(drives, [&](const DriveInfo& d) { return driveKey(d) == key; })) {
            beginRemoveRows({}, row, row);
            m_drives.erase(m_drives.begin() + row);
            endRemoveRows();
        }
    }
}

void DriveListModel::place(std::size_t row, const DriveInfo& drive)
{
    const int at = rowOf(driveKey(drive));
    const int to = int(row);
    if (at < 0) {
        beginInsertRows({}, to, to);
        m_drives.insert(m_drives.begin() + to, drive);
        endInsertRows();
        return;
    }
    if (at != to) {
        beginMoveRows({}, at, at, {}, to);
        std::rotate(m_drives.begin() + to, m_drives.begin() + at, m_drives.begin() + at + 1);
        endMoveRows();
    }
    if (m_drives[row] != drive) {
        m_drives[row] = drive;
        Q_EMIT dataChanged(index(to), index(to));
    }
}

void DriveListModel::dropChoiceUnless(const std::optional<DriveInfo>& before)
{
    if (m_chosen.isEmpty()) {
        return;
    }
    const int row = rowOf(m_chosen);
    if (row < 0 || !isWritable(row) || !before || !sameDevice(*before, drive(row))) {
        choose({});
    }
}

void DriveListModel::setNeeded(std::optional<Bytes> size)
{
    if (m_needed == size) {
        return;
    }
    m_needed = size;
    if (!m_drives.empty()) {
        Q_EMIT dataChanged(index(0), index(rowCount() - 1));
    }
    const DriveInfo* drive = chosen();
    dropChoiceUnless(drive != nullptr ? std::optional(*drive) : std::nullopt);
}

bool DriveListModel::isWritable(int row) const
{
    const DriveInfo& d = drive(row);
    return d.access == Access::Write && d.hasMedium() && missingOn(d) == 0;
}

const DriveInfo* DriveListModel::chosen() const
{
    const int row = m_chosen.isEmpty() ? -1 : rowOf(m_chosen);
    return row < 0 ? nullptr : &drive(row);
}

void DriveListModel::choose(const QString& key)
{
    const int row = key.isEmpty() ? -1 : rowOf(key);
    const QString next = row >= 0 && isWritable(row) ? key : QString();
    if (next == m_chosen) {
        return;
    }
    m_chosen = next;
    if (!m_drives.empty()) {
        Q_EMIT dataChanged(index(0), index(rowCount() - 1), {Qt::CheckStateRole});
    }
    Q_EMIT chosenChanged();
}

void DriveListModel::toggle(int row)
{
    const QString key = driveKey(drive(row));
    choose(key == m_chosen ? QString() : key);
}

int DriveListModel::rowOf(const QString& key) const
{
    const auto found = std::ranges::find_if(m_drives, [&](const DriveInfo& d) { return driveKey(d) == key; });
    return found == m_drives.end() ? -1 : int(found - m_drives.begin());
}

Bytes DriveListModel::missingOn(const DriveInfo& drive) const
{
    return m_needed && *m_needed > drive.size ? *m_needed - drive.size : 0;
}

bool DriveListModel::hasTwin(const DriveInfo& drive) const
{
    const QString title = driveTitle(drive);
    return std::ranges::count_if(m_drives, [&](const DriveInfo& d) { return driveTitle(d) == title; }) > 1;
}

QString DriveListModel::subtitle(const DriveInfo& drive) const
{
    if (drive.access == Access::Write && missingOn(drive) != 0) {
        return tr("%1 · too small by %2: the image needs %3")
            .arg(QString::fromStdString(drive.node), formatSize(missingOn(drive)),
                 formatSize(m_needed.value_or(0)));
    }
    const QString text = driveSubtitle(drive);
    return hasTwin(drive) && !drive.serial.empty()
        ? tr("%1 · serial %2").arg(text, QString::fromStdString(drive.serial))
        : text;
}

QString DriveListModel::badge(const DriveInfo& drive) const
{
    if (drive.access != Access::Write) {
        return drive.protections.empty() ? tr("protected") : protectionBadge(drive.protections.front());
    }
    return missingOn(drive) != 0 ? tr("too small") : QString();
}

int DriveListModel::rowCount(const QModelIndex& parent) const
{
    return parent.isValid() ? 0 : int(m_drives.size());
}

QVariant DriveListModel::data(const QModelIndex& index, int role) const
{
    if (!checkIndex(index, CheckIndexOption::IndexIsValid | CheckIndexOption::ParentIsInvalid)) {
        return {};
    }
    const DriveInfo& d = drive(index.row());
    const bool isChosen = !m_chosen.isEmpty() && driveKey(d) == m_chosen;
    switch (role) {
    case Qt::DisplayRole:
        return driveTitle(d);
    case Qt::ToolTipRole:
        return toolTip(d);
    case Qt::CheckStateRole:
        return isWritable(index.row()) ? QVariant(isChosen ? Qt::Checked : Qt::Unchecked) : QVariant();
    case Qt::AccessibleTextRole: {
        QStringList parts{driveTitle(d), subtitle(d), badge(d), isChosen ? tr("chosen") : QString()};
        parts.removeAll(QString());
        return parts.join(u", "_s);
    }
    case SubtitleRole:
        return subtitle(d);
    case BadgeRole:
        return badge(d);
    case WritableRole:
        return isWritable(index.row());
    case KeyRole:
        return driveKey(d);
    default:
        return {};
    }
}

Qt::ItemFlags DriveListModel::flags(const QModelIndex& index) const
{
    if (!index.isValid()) {
        return Qt::NoItemFlags;
    }
    // Protected rows stay enabled for the keyboard and for screen readers, which tell why they are refused.
    Qt::ItemFlags flags = Qt::ItemIsEnabled | Qt::ItemNeverHasChildren;
    if (isWritable(index.row())) {
        flags |= Qt::ItemIsUserCheckable | Qt::ItemIsSelectable;
    }
    return flags;
}

} // namespace burin
