// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sumtext.h"

#include "asciitext.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace burin {

namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
// RFC 9580, 7.1
constexpr std::string_view kSignedBegins = "-----BEGIN PGP SIGNED MESSAGE-----";
constexpr std::string_view kSignatureBegins = "-----BEGIN PGP SIGNATURE-----";

std::string_view trimmedLeft(std::string_view text)
{
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    return text;
}

std::string_view trimmedRight(std::string_view text)
{
    return text.substr(0, text.find_last_not_of(kBlanks) + 1);
}

std::string_view trimmed(std::string_view text)
{
    return trimmedLeft(trimmedRight(text));
}

bool takePrefix(std::string_view& text, std::string_view prefix)
{
    if (!equalNoCase(text.substr(0, prefix.size()), prefix)) {
        return false;
    }
    text.remove_prefix(prefix.size());
    return true;
}

/// Takes the kind's name off the beginning. What follows is the caller's to judge: SHA512/256 is no SHA-512.
std::optional<DigestKind> takeKind(std::string_view& text)
{
    using Name = std::pair<std::string_view, DigestKind>;
    static constexpr std::array kNames{
        Name{"MD5", DigestKind::Md5},         Name{"SHA1", DigestKind::Sha1},
        Name{"SHA-1", DigestKind::Sha1},      Name{"SHA256", DigestKind::Sha256},
        Name{"SHA-256", DigestKind::Sha256},  Name{"SHA2-256", DigestKind::Sha256},
        Name{"SHA512", DigestKind::Sha512},   Name{"SHA-512", DigestKind::Sha512},
        Name{"SHA2-512", DigestKind::Sha512},
    };
    for (const auto& [name, kind] : kNames) {
        if (takePrefix(text, name)) {
            return kind;
        }
    }
    return {};
}

bool isHex(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

std::optional<KnownSum> sumOf(std::string_view digits)
{
    using enum DigestKind;
    if (!std::ranges::all_of(digits, isHex)) {
        return {};
    }
    for (const auto kind : {Md5, Sha1, Sha256, Sha512}) {
        if (digits.size() == hexLength(kind)) {
            return KnownSum{.kind = kind, .hex = lowerCase(digits)};
        }
    }
    return {};
}

/// A name as coreutils escape it (sha256sum(1): backslash, newline and carriage return).
std::optional<std::string> unescaped(std::string_view text)
{
    std::string name;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] != '\\') {
            name += text[i];
            continue;
        }
        const char code = ++i < text.size() ? text[i] : '\0';
        if (code != '\\' && code != 'n' && code != 'r') {
            return {};
        }
        name += code == 'n' ? '\n' : code == 'r' ? '\r' : '\\';
    }
    return name;
}

/// Gives the sum its name. A sum of standard input has none.
std::optional<KnownSum> named(KnownSum sum, std::string_view name, bool escaped, std::string_view noName)
{
    auto plain = escaped ? unescaped(name) : std::string(name);
    if (!plain || plain->contains('\0')) {
        return {};
    }
    if (*plain != noName && !trimmed(*plain).empty()) {
        sum.fileName = std::move(*plain);
    }
    return sum;
}

/// "HEX  name", "HEX *name", "\HEX  escaped name"; with one space as `sha256 -r` of FreeBSD writes it.
std::optional<KnownSum> parseGnu(std::string_view line)
{
    line = trimmedLeft(line);
    const bool escaped = takePrefix(line, "\\");
    const auto end = line.find_first_of(" \t");
    auto sum = sumOf(line.substr(0, end));
    if (!sum || end == std::string_view::npos) {
        return {};
    }
    auto name = line.substr(end + 1);
    if (name.starts_with(' ') || name.starts_with('*')) {
        name.remove_prefix(1);
    }
    return named(std::move(*sum), name, escaped, "-");
}

/// "SHA256 (name) = HEX", and as OpenSSL writes it: "SHA2-256(name)= HEX".
std::optional<KnownSum> parseBsd(std::string_view line)
{
    line = trimmedLeft(line);
    const bool escaped = takePrefix(line, "\\");
    const auto kind = takeKind(line);
    const auto equals = line.rfind('=');
    if (!kind || equals == std::string_view::npos) {
        return {};
    }
    const auto name = trimmed(line.substr(0, equals));
    auto sum = sumOf(trimmed(line.substr(equals + 1)));
    if (!sum || sum->kind != *kind || name.size() < 2 || !name.starts_with('(') || !name.ends_with(')')) {
        return {};
    }
    return named(std::move(*sum), name.substr(1, name.size() - 2), escaped, "stdin");
}

/// Digits alone, grouped in any way, perhaps after "SHA-256 =", "sha256:" or "SHA256 checksum:".
std::optional<KnownSum> parseBare(std::string_view text)
{
    text = trimmed(text);
    const auto kind = takeKind(text);
    if (kind) {
        text = trimmedLeft(text);
        (void)(takePrefix(text, "sum") || takePrefix(text, "checksum") || takePrefix(text, "hash"));
        text = trimmedLeft(text);
        (void)(takePrefix(text, ":") || takePrefix(text, "="));
    }
    std::string digits;
    std::ranges::copy_if(text, std::back_inserter(digits),
                         [](char c) { return c != ':' && !kBlanks.contains(c); });
    auto sum = sumOf(digits);
    return !sum || (kind && sum->kind != *kind) ? std::nullopt : sum;
}

/// The name in the line that certutil of Windows writes above the digits: "SHA256 hash of disk.img:", with
/// "file" before the name in Windows 7. Translated lines don't count, so the sum has no name then.
std::optional<std::string> certutilName(std::string_view line)
{
    line = trimmed(line);
    if (!takeKind(line) || !takePrefix(line, " hash of ") || !line.ends_with(':')) {
        return {};
    }
    line.remove_suffix(1);
    (void)takePrefix(line, "file ");
    return std::string(line);
}

class SumsReader
{
public:
    explicit SumsReader(std::optional<DigestKind> kindByName) : m_kindByName(kindByName) { }

    void take(std::string_view line);
    [[nodiscard]] std::vector<KnownSum> sums() &&;

private:
    enum class Part { Plain, SignedText, AfterSignedText };

    void takeSum(std::string_view line);
    void keep(KnownSum sum);

    std::optional<DigestKind> m_kindByName;
    Part m_part = Part::Plain;
    std::string m_nameAbove;
    std::vector<KnownSum> m_named;
    std::vector<KnownSum> m_nameless;
};

void SumsReader::take(std::string_view line)
{
    if (line.size() > kMaxSumsLine) {
        m_nameAbove.clear();
        return;
    }
    const auto mark = trimmedRight(line);
    if (mark == kSignedBegins) {
        if (m_part == Part::Plain) { // what came before is not signed
            m_named.clear();
            m_nameless.clear();
        }
        m_part = Part::SignedText;
        return;
    }
    if (mark == kSignatureBegins) {
        m_part = Part::AfterSignedText;
    }
    if (m_part == Part::AfterSignedText) {
        return;
    }
    if (m_part == Part::SignedText && line.starts_with("- ")) {
        line.remove_prefix(2); // RFC 9580, 7.2: dash-escaped
    }
    takeSum(line);
}

void SumsReader::takeSum(std::string_view line)
{
    auto above = std::exchange(m_nameAbove, {});
    if (auto sum = parseBsd(line)) {
        keep(std::move(*sum)); // names its kind itself
        return;
    }
    auto sum = parseGnu(line);
    if (!sum) {
        sum = parseBare(line);
        if (sum) {
            sum->fileName = std::move(above);
        }
    }
    if (!sum) {
        m_nameAbove = certutilName(line).value_or(std::string());
    } else if (!m_kindByName || sum->kind == *m_kindByName) {
        keep(std::move(*sum));
    }
}

void SumsReader::keep(KnownSum sum)
{
    (sum.fileName.empty() ? m_nameless : m_named).push_back(std::move(sum));
}

std::vector<KnownSum> SumsReader::sums() &&
{
    if (!m_named.empty()) {
        return std::move(m_named);
    }
    // One of each kind, if all of that kind say the same.
    std::vector<KnownSum> only;
    using enum DigestKind;
    for (const auto kind : {Md5, Sha1, Sha256, Sha512}) {
        const auto first = std::ranges::find(m_nameless, kind, &KnownSum::kind);
        const auto same = [&](const KnownSum& sum) { return sum.kind != kind || sum.hex == first->hex; };
        if (first != m_nameless.end() && std::ranges::all_of(m_nameless, same)) {
            only.push_back(*first);
        }
    }
    return only;
}

} // namespace

std::vector<KnownSum> parseSums(std::string_view text, std::optional<DigestKind> kindByName)
{
    if (text.size() > kMaxSumsFile) {
        return {};
    }
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    SumsReader reader(kindByName);
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size());
        auto line = text.substr(0, end);
        if (line.ends_with('\r')) {
            line.remove_suffix(1);
        }
        reader.take(line);
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return std::move(reader).sums();
}

std::optional<KnownSum> parsePasted(std::string_view text)
{
    if (text.starts_with(kByteOrderMark)) {
        text.remove_prefix(kByteOrderMark.size());
    }
    text = trimmed(text);
    if (text.size() > kMaxSumsLine) {
        return {};
    }
    // Before the notations with a name: half of a SHA-256 that was wrapped looks like an MD5.
    if (auto sum = parseBare(text)) {
        return sum;
    }
    if (text.find_first_of("\r\n") != std::string_view::npos) {
        return {};
    }
    auto sum = parseBsd(text);
    return sum ? sum : parseGnu(text);
}

bool isClearSigned(std::string_view text)
{
    return text.size() <= kMaxSumsFile
        && (text.starts_with(kSignedBegins) || text.contains('\n' + std::string(kSignedBegins)));
}

} // namespace burin
