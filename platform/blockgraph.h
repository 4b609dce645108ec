// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "systemsnapshot.h"

namespace burin {

/// Fills snapshot.nodes, .links and .graphRead from /sys/block and /dev.
void readBlockGraph(SystemSnapshot& snapshot, const SnapshotSources& sources);

} // namespace burin
