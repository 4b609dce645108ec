// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ejectwords.h"

#include "words.h"

namespace burin {

QString ejectSentence(const DriveInfo& drive, const EjectOutcome& outcome)
{
    const QString name = QString::fromStdString(driveName(drive));
    switch (outcome.result) {
    case EjectResult::SafeToRemove:
        return Words::tr("%1 is safe to remove").arg(name);
    case EjectResult::NothingToEject:
        return Words::tr("%1 is complete; there is nothing to eject").arg(name);
    case EjectResult::Failed:
        return Words::
            tr("%1 was not ejected: %2. Its content is not affected; eject it by hand before you pull it out")
                .arg(name, QString::fromStdString(outcome.detail));
    }
    return {};
}

} // namespace burin
