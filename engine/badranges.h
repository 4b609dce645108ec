// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "flashevent.h"

#include <vector>

namespace burin {

/// Adds a range to a list that is in order of offset, joined with neighbours of the same kind.
void addBadRange(std::vector<BadRange>& ranges, const BadRange& bad);

} // namespace burin
