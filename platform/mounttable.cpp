// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "mounttable.h"

#include "sysfile.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace burin {

namespace {

bool isOctal(char c)
{
    return c >= '0' && c <= '7';
}

std::optional<MountEntry> parseLine(std::string_view line)
{
    // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
    const auto words = splitWords(line, " ");
    const auto dash = std::ranges::find(words, std::string_view("-"));
    if (words.size() < 6 || dash == words.end() || std::distance(words.begin(), dash) < 6) {
        return {};
    }
    const auto tail = std::vector(std::next(dash), words.end());
    const auto devno = parseDevnoText(words[2]);
    std::uint64_t id = 0;
    const auto number = std::from_chars(words[0].data(), words[0].data() + words[0].size(), id);
    if (!devno || tail.empty() || number.ec != std::errc()) {
        return {};
    }
    const auto word = [&tail](std::size_t i) {
        return i < tail.size() ? decodeOctal(tail[i]) : std::string();
    };
    // The source may be empty (`mount -t tmpfs ""`), which leaves two words after the dash.
    const bool noSource = tail.size() == 2;
    return MountEntry{.devno = *devno,
                      .root = decodeOctal(words[3]),
                      .mountPoint = decodeOctal(words[4]),
                      .options = decodeOctal(words[5]),
                      .fileSystem = word(0),
                      .source = noSource ? std::string() : word(1),
                      .superOptions = noSource ? word(1) : word(2),
                      .id = id};
}

} // namespace

MountTable parseMountInfo(std::string_view text)
{
    MountTable table;
    for (const auto line : splitLines(text)) {
        if (auto entry = parseLine(line)) {
            table.entries.push_back(std::move(*entry));
        } else {
            ++table.unreadable;
        }
    }
    return table;
}

std::string decodeOctal(std::string_view text)
{
    std::string out;
    out.reserve(text.size());
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\\' && i + 3 < text.size() && isOctal(text[i + 1]) && isOctal(text[i + 2])
            && isOctal(text[i + 3])) {
            const int value = (text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0');
            out += static_cast<char>(value);
            i += 3;
        } else {
            out += text[i];
        }
    }
    return out;
}

bool isWithin(std::string_view path, std::string_view folder)
{
    if (folder == "/") {
        return path.starts_with('/');
    }
    return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

bool isRemovableFolder(std::string_view mountPoint)
{
    constexpr std::array folders{"/media", "/run/media", "/mnt"};
    return std::ranges::any_of(folders, [&](const char* folder) { return isWithin(mountPoint, folder); });
}

std::vector<const MountEntry*> mountsHolding(const MountTable& table, std::string_view path)
{
    std::vector<const MountEntry*> best;
    for (const auto& entry : table.entries) {
        if (!isWithin(path, entry.mountPoint)) {
            continue;
        }
        const auto length = best.empty() ? 0 : best.front()->mountPoint.size();
        if (entry.mountPoint.size() > length) {
            best.clear();
        }
        if (entry.mountPoint.size() >= length) {
            best.push_back(&entry);
        }
    }
    return best;
}

std::vector<std::string_view> splitWords(std::string_view line, std::string_view separators)
{
    std::vector<std::string_view> words;
    while (true) {
        const auto begin = line.find_first_not_of(separators);
        if (begin == std::string_view::npos) {
            return words;
        }
        line.remove_prefix(begin);
        const auto end = std::min(line.find_first_of(separators), line.size());
        words.push_back(line.substr(0, end));
        line.remove_prefix(end);
    }
}

std::vector<std::string_view> splitLines(std::string_view text)
{
    return splitWords(text, "\n");
}

} // namespace burin
