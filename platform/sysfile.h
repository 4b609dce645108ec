// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// The whole of a small file of sysfs, procfs or /etc. Nothing, and errno, if it can't be read.
[[nodiscard]] std::optional<std::string> readWhole(const std::string& path);

/// The first line without the newline and trailing blanks; empty if there is none.
[[nodiscard]] std::string readAttribute(const std::string& path);

[[nodiscard]] std::uint64_t readNumber(const std::string& path, std::uint64_t otherwise = 0);

/// The names in a folder, sorted, without . and .. (symlinks too). Nothing if it can't be read.
[[nodiscard]] std::optional<std::vector<std::string>> readFolder(const std::string& path);

[[nodiscard]] bool exists(const std::string& path);

[[nodiscard]] std::string_view baseName(std::string_view path);

/// realpath(3); empty if something on the way is missing.
[[nodiscard]] std::string resolvedPath(const std::string& path);

/// "8:3" -> dev_t; nothing for anything else.
[[nodiscard]] std::optional<std::uint64_t> parseDevnoText(std::string_view text);

} // namespace burin
