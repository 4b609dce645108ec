// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashstate.h"

#include <QString>

namespace burin {

/// "Writing 58 % · 41.2 MB/s"; the same words in the window and on the command line.
[[nodiscard]] QString progressTitle(const FlashState& state);
/// "3.40 of 5.87 GB · 1 min 2 s left · then verify, about 1 min"
[[nodiscard]] QString progressDetail(const FlashState& state);

} // namespace burin
