// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "platform/driveinfo.h"

#include <QAbstractListModel>

#include <optional>
#include <vector>

namespace burin {

/// The same drive as long as it stays plugged in, whatever its row or node.
[[nodiscard]] QString driveKey(const DriveInfo& drive);

/// A drive among those that are there now: itself, or, plugged in again, the only one with its serial number,
/// model and size, and never what is in a card reader (SPEC 4.6).
[[nodiscard]] std::optional<DriveInfo> findAgain(const DriveInfo& before,
                                                 const std::vector<DriveInfo>& drives);

/// The drives as rows. A new list is taken in by inserting, moving and removing rows, so that views keep
/// their place. At most one drive is chosen; a choice is dropped when its drive goes or becomes another.
class DriveListModel : public QAbstractListModel
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(DriveListModel)

public:
    enum Role {
        SubtitleRole = Qt::UserRole + 1,
        BadgeRole,
        WritableRole, ///< can be chosen
        KeyRole,
    };

    explicit DriveListModel(QObject* parent = nullptr);

    void setDrives(const std::vector<DriveInfo>& drives);
    [[nodiscard]] const std::vector<DriveInfo>& drives() const { return m_drives; }
    [[nodiscard]] const DriveInfo& drive(int row) const { return m_drives[std::size_t(row)]; }

    /// The image's size: drives that are too small for it can't be chosen.
    void setNeeded(std::optional<Bytes> size);

    [[nodiscard]] bool isWritable(int row) const;
    [[nodiscard]] const DriveInfo* chosen() const;
    void choose(const QString& key); ///< empty: none
    void toggle(int row);

    [[nodiscard]] int rowCount(const QModelIndex& parent = {}) const override;
    [[nodiscard]] QVariant data(const QModelIndex& index, int role) const override;
    [[nodiscard]] Qt::ItemFlags flags(const QModelIndex& index) const override;

Q_SIGNALS:
    void chosenChanged();

private:
    void place(std::size_t row, const DriveInfo& drive);
    void removeGone(const std::vector<DriveInfo>& drives);
    void dropChoiceUnless(const std::optional<DriveInfo>& before);
    [[nodiscard]] int rowOf(const QString& key) const;
    [[nodiscard]] Bytes missingOn(const DriveInfo& drive) const;
    [[nodiscard]] QString subtitle(const DriveInfo& drive) const;
    [[nodiscard]] QString badge(const DriveInfo& drive) const;
    [[nodiscard]] bool hasTwin(const DriveInfo& drive) const;

    std::vector<DriveInfo> m_drives;
    std::optional<Bytes> m_needed;
    QString m_chosen;
};

} // namespace burin
