// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <string>
#include <string_view>

namespace burin {

// Letter case of ASCII only, whatever the locale: for suffixes, digits and key words.

[[nodiscard]] constexpr char lowerCase(char c)
{
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
[[nodiscard]] constexpr char upperCase(char c)
{
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
}

[[nodiscard]] inline std::string lowerCase(std::string_view text)
{
    std::string lower(text);
    std::ranges::transform(text, lower.begin(), [](char c) { return lowerCase(c); });
    return lower;
}
[[nodiscard]] inline std::string upperCase(std::string_view text)
{
    std::string upper(text);
    std::ranges::transform(text, upper.begin(), [](char c) { return upperCase(c); });
    return upper;
}

[[nodiscard]] inline bool equalNoCase(std::string_view a, std::string_view b)
{
    return std::ranges::equal(
        a, b, {}, [](char c) { return lowerCase(c); }, [](char c) { return lowerCase(c); });
}
[[nodiscard]] inline bool startsWithNoCase(std::string_view text, std::string_view start)
{
    return text.size() >= start.size() && equalNoCase(text.substr(0, start.size()), start);
}
[[nodiscard]] inline bool endsWithNoCase(std::string_view text, std::string_view end)
{
    return text.size() >= end.size() && equalNoCase(text.substr(text.size() - end.size()), end);
}

} // namespace burin
