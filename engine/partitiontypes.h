// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <string_view>

namespace burin {

/// The common names of partition types, empty for others.
[[nodiscard]] std::string mbrTypeName(int type);
/// `guid` as libblkid writes it, in lower case.
[[nodiscard]] std::string gptTypeName(std::string_view guid);

} // namespace burin
