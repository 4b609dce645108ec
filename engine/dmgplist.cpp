// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "dmgplist.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace burin {

namespace {

// What comes after the first `mark`.
std::optional<std::string_view> after(std::string_view text, std::string_view mark)
{
    const auto at = text.find(mark);
    return at == std::string_view::npos ? std::nullopt : std::optional(text.substr(at + mark.size()));
}

bool isSpace(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

std::string_view withoutSpace(std::string_view text)
{
    while (!text.empty() && isSpace(text.front())) {
        text.remove_prefix(1);
    }
    return text;
}

std::optional<std::uint32_t> sixBits(char c)
{
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const auto at = kDigits.find(c);
    return at == std::string_view::npos ? std::nullopt : std::optional(static_cast<std::uint32_t>(at));
}

std::optional<std::vector<std::byte>> fromBase64(std::string_view text)
{
    std::vector<std::byte> data;
    data.reserve(text.size() / 4 * 3);
    std::uint32_t bits = 0;
    unsigned count = 0;
    for (const char c : text) {
        if (c == '=') {
            break;
        }
        if (isSpace(c)) {
            continue;
        }
        const auto digit = sixBits(c);
        if (!digit) {
            return {};
        }
        bits = (bits << 6U | *digit) & 0xffffU;
        count += 6;
        if (count >= 8) {
            count -= 8;
            data.push_back(static_cast<std::byte>(bits >> count));
        }
    }
    return data;
}

} // namespace

// Every writer lays the list out alike, and names can't hold a "<" as it is; so no whole XML reader is
// needed: in resource-fork the array blkx has a dictionary for each table, its bytes under Data.
Result<void> eachDmgTable(std::string_view plist,
                          const std::function<Result<void>(std::span<const std::byte>)>& take)
{
    const auto bad = failure(ErrorCode::ImageCorrupt, "the DMG's property list");
    auto text = after(plist, "<key>resource-fork</key>");
    text = text ? after(*text, "<key>blkx</key>") : text;
    text = text && withoutSpace(*text).starts_with("<array>") ? text : std::nullopt;
    const auto end = text ? text->find("</array>") : std::string_view::npos;
    if (end == std::string_view::npos) {
        return bad;
    }
    text = text->substr(0, end);
    while ((text = after(*text, "<key>Data</key>"))) {
        const auto data = withoutSpace(*text);
        const auto close = data.find("</data>");
        constexpr std::string_view kOpen = "<data>";
        if (!data.starts_with(kOpen) || close == std::string_view::npos) {
            return bad;
        }
        const auto table = fromBase64(data.substr(kOpen.size(), close - kOpen.size()));
        if (!table) {
            return bad;
        }
        if (auto taken = take(*table); !taken) {
            return taken;
        }
    }
    return {};
}

} // namespace burin
