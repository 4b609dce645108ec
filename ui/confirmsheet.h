// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "sheet.h"

#include "engine/imageprobe.h"
#include "platform/driveinfo.h"

#include <vector>

class QCheckBox;
class QLineEdit;

namespace burin {

/// The one confirmation before a drive is written: which one, what is lost on it, and its name to type
/// where a mistake would be dear.
class ConfirmSheet : public Sheet
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(ConfirmSheet)

public:
    ConfirmSheet(const ImageInfo& image, const DriveInfo& drive, QWidget* window);

    /// Closes itself, refusing, unless the drive is there and as it was.
    void watch(const std::vector<DriveInfo>& drives);

Q_SIGNALS:
    /// Before rejected, when watch() closes the sheet.
    void driveLost();

private:
    void addLosses();
    void addConditions(const ImageInfo& image);
    void check();

    DriveInfo m_drive;
    QLineEdit* m_typed = nullptr;
    QCheckBox* m_allowShort = nullptr;
};

} // namespace burin
