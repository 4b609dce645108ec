// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "drivelist.h"

#include <QObject>

#include <memory>
#include <vector>

namespace burin {

/// Keeps the list of drives up to date: udev's events where udevd runs, the kernel's own where it does not,
/// changes of the mount table, and a plain re-read on demand. Lives in the GUI thread; but for the first time
/// it reads beside it, since a sick drive may let a reader wait.
class DriveWatcher : public QObject
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(DriveWatcher)

public:
    explicit DriveWatcher(ListOptions options, QObject* parent = nullptr);
    ~DriveWatcher() override;

    [[nodiscard]] const std::vector<DriveInfo>& drives() const { return m_drives; }
    [[nodiscard]] const ListOptions& options() const { return m_options; }
    void setOptions(ListOptions options);
    /// Reads the list anew; drivesChanged() follows if it differs.
    void refresh();

Q_SIGNALS:
    /// Said only when something in the list differs from before.
    void drivesChanged(const std::vector<burin::DriveInfo>& drives);

private:
    void take(std::vector<DriveInfo> drives);

    struct Private;
    std::unique_ptr<Private> m_d;
    ListOptions m_options;
    std::vector<DriveInfo> m_drives;
};

} // namespace burin
