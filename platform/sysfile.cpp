// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sysfile.h"

#include "engine/uniquefd.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

namespace burin {

std::optional<std::string> readWhole(const std::string& path)
{
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        return {};
    }
    std::string text;
    std::array<char, 4096> part{};
    while (true) {
        const auto n = ::read(fd.get(), part.data(), part.size());
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return {};
        }
        if (n == 0) {
            return text;
        }
        text.append(part.data(), static_cast<std::size_t>(n));
    }
}

std::string readAttribute(const std::string& path)
{
    auto text = readWhole(path).value_or(std::string());
    text.resize(std::min(text.find('\n'), text.size()));
    while (!text.empty() && text.back() == ' ') {
        text.pop_back();
    }
    return text;
}

std::uint64_t readNumber(const std::string& path, std::uint64_t otherwise)
{
    const auto text = readAttribute(path);
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    return parsed.ec == std::errc() && parsed.ptr == text.data() + text.size() ? value : otherwise;
}

std::optional<std::vector<std::string>> readFolder(const std::string& path)
{
    struct Close {
        void operator()(DIR* folder) const { ::closedir(folder); }
    };
    const std::unique_ptr<DIR, Close> folder(::opendir(path.c_str()));
    if (!folder) {
        return {};
    }
    std::vector<std::string> names;
    while (const auto* entry = ::readdir(folder.get())) {
        const std::string_view name(static_cast<const char*>(entry->d_name));
        if (name != "." && name != "..") {
            names.emplace_back(name);
        }
    }
    std::ranges::sort(names);
    return names;
}

bool exists(const std::string& path)
{
    return ::access(path.c_str(), F_OK) == 0;
}

std::string_view baseName(std::string_view path)
{
    return path.substr(path.rfind('/') + 1);
}

std::string resolvedPath(const std::string& path)
{
    std::array<char, PATH_MAX> resolved{};
    return ::realpath(path.c_str(), resolved.data()) == nullptr ? std::string()
                                                                : std::string(resolved.data());
}

std::optional<std::uint64_t> parseDevnoText(std::string_view text)
{
    unsigned major = 0;
    unsigned minor = 0;
    const auto* end = text.data() + text.size();
    const auto first = std::from_chars(text.data(), end, major);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ':') {
        return {};
    }
    const auto second = std::from_chars(first.ptr + 1, end, minor);
    if (second.ec != std::errc() || second.ptr != end) {
        return {};
    }
    return makedev(major, minor);
}

} // namespace burin
