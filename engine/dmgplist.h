// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"

#include <cstddef>
#include <functional>
#include <span>
#include <string_view>

namespace burin {

/// Hands over, one by one, the block tables ("blkx") in the property list of a DMG, until `take` fails.
/// ImageCorrupt.
[[nodiscard]] Result<void> eachDmgTable(std::string_view plist,
                                        const std::function<Result<void>(std::span<const std::byte>)>& take);

} // namespace burin
