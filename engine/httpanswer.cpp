// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "httpanswer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

namespace burin {

namespace {

constexpr int kOk = 200;
constexpr int kPartialContent = 206;
constexpr int kRangeNotSatisfiable = 416;

std::string lowered(std::string_view text)
{
    std::string lower(text);
    std::ranges::transform(lower, lower.begin(), [](char c) {
        return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    });
    return lower;
}

/// Digits and nothing else. Qt counts in 64 bits with a sign.
std::optional<Bytes> number(std::string_view text)
{
    Bytes value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()
        || value > static_cast<Bytes>(std::numeric_limits<std::int64_t>::max())) {
        return {};
    }
    return value;
}

/// The two or three numbers of a Content-Range (RFC 9110, 14.4); `*` is nothing.
struct ContentRange {
    std::optional<Range> range;
    std::optional<Bytes> total;
};

std::optional<ContentRange> contentRange(std::string_view text)
{
    constexpr std::string_view kUnit = "bytes ";
    const auto slash = text.find('/');
    if (lowered(text.substr(0, kUnit.size())) != kUnit || slash == std::string_view::npos) {
        return {};
    }
    ContentRange parsed;
    const auto total = text.substr(slash + 1);
    if (total != "*" && !(parsed.total = number(total))) {
        return {};
    }
    const auto range = text.substr(kUnit.size(), slash - kUnit.size());
    if (range == "*") {
        return parsed;
    }
    const auto dash = range.find('-');
    if (dash == std::string_view::npos) {
        return {};
    }
    const auto first = number(range.substr(0, dash));
    const auto last = number(range.substr(dash + 1));
    if (!first || !last || *last < *first || (parsed.total && *last >= *parsed.total)) {
        return {};
    }
    parsed.range = Range{.offset = *first, .length = *last - *first + 1};
    return parsed;
}

/// A weak ETag says "means the same", not "the same bytes" (RFC 9110, 8.8.1).
bool isStrong(std::string_view etag)
{
    return etag.size() >= 2 && etag.front() == '"';
}

bool bothAndDifferent(const std::string& a, const std::string& b)
{
    return !a.empty() && !b.empty() && a != b;
}

/// An answer with 206 may leave out what the asker knows already, but never the ETag that it had
/// (RFC 9110, 15.3.7); that it is 206 then says that If-Range held.
bool provenSame(const HttpAnswer& answer, const HttpAnswer& first)
{
    if (bothAndDifferent(answer.etag, first.etag)) {
        return false;
    }
    if (isStrong(first.etag) && !answer.etag.empty()) {
        return true; // to which the date adds nothing
    }
    if (bothAndDifferent(answer.lastModified, first.lastModified) || validatorOf(first).empty()) {
        return false;
    }
    return answer.status != kOk || validatorOf(answer) == validatorOf(first);
}

/// A file that is stored compressed is often labelled with its compression, which is then the file's own;
/// what the server compressed on its way is not the file.
bool isOfTheFile(std::string_view encoding, std::string_view path)
{
    struct Suffix {
        std::string_view encoding;
        std::string_view suffix;
    };
    static constexpr std::array kSuffixes{
        Suffix{"gzip", ".gz"}, Suffix{"gzip", ".tgz"}, Suffix{"bzip2", ".bz2"}, Suffix{"bzip2", ".tbz2"},
        Suffix{"xz", ".xz"},   Suffix{"xz", ".txz"},   Suffix{"zstd", ".zst"},  Suffix{"lzma", ".lzma"},
    };
    std::string name = lowered(encoding);
    if (name.starts_with("x-")) {
        name.erase(0, 2);
    }
    const std::string file = lowered(path);
    return std::ranges::any_of(
        kSuffixes, [&](const Suffix& s) { return s.encoding == name && file.ends_with(s.suffix); });
}

Result<void> checkEncoding(const HttpAnswer& answer, std::string_view path)
{
    const auto& encoding = answer.contentEncoding;
    if (encoding.empty() || lowered(encoding) == "identity" || isOfTheFile(encoding, path)) {
        return {};
    }
    return failure(ErrorCode::ImageUnreadable, "Content-Encoding: " + encoding);
}

/// Transfer-Encoding overrides Content-Length (RFC 9112, 6.3).
Result<HttpBody> fromTheStart(const HttpAnswer& answer)
{
    HttpBody body;
    if (!answer.transferEncoding.empty()) {
        if (!isChunked(answer)) {
            return failure(ErrorCode::ImageUnreadable, "Transfer-Encoding: " + answer.transferEncoding);
        }
        body.endIsMarked = true;
    } else if (!answer.contentLength.empty()) {
        body.total = body.end = lengthOf(answer);
        if (!body.total) {
            return failure(ErrorCode::ImageUnreadable, "Content-Length: " + answer.contentLength);
        }
        body.endIsMarked = true;
    }
    return body;
}

Result<HttpBody> fromARange(const HttpAnswer& answer, Offset at)
{
    const auto range = contentRange(answer.contentRange);
    const auto unusable =
        failure(ErrorCode::ImageUnreadable, statusLine(answer) + ", Content-Range: " + answer.contentRange);
    if (!range) {
        return unusable;
    }
    HttpBody body{.begin = at, .end = at, .total = range->total, .endIsMarked = true};
    if (answer.status == kRangeNotSatisfiable) {
        // There is nothing at `at`: proof of the end if the file is as long as that.
        return !range->range && range->total ? Result<HttpBody>(body) : unusable;
    }
    if (!range->range || range->range->offset != at) {
        return unusable;
    }
    body.end = range->range->end();
    return body;
}

} // namespace

std::string statusLine(const HttpAnswer& answer)
{
    const auto code = std::to_string(answer.status);
    return answer.reason.empty() ? code : code + ' ' + answer.reason;
}

bool isRedirect(int status)
{
    return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool isPassing(int status)
{
    return status >= 500 || status == 408 || status == 425 || status == 429;
}

bool isChunked(const HttpAnswer& answer)
{
    return lowered(answer.transferEncoding) == "chunked";
}

std::optional<Bytes> lengthOf(const HttpAnswer& answer)
{
    return number(answer.contentLength);
}

std::string validatorOf(const HttpAnswer& answer)
{
    return isStrong(answer.etag) ? answer.etag : answer.lastModified;
}

Result<HttpBody> wholeBody(const HttpAnswer& answer, std::string_view path)
{
    if (answer.status != kOk) {
        return failure(ErrorCode::ImageUnreadable, statusLine(answer));
    }
    if (const auto encoding = checkEncoding(answer, path); !encoding) {
        return std::unexpected(encoding.error());
    }
    return fromTheStart(answer);
}

Result<HttpBody> restBody(const HttpAnswer& answer, std::string_view path, const HttpAnswer& first,
                          std::optional<Bytes> total, Offset at)
{
    const int status = answer.status;
    const bool ofARange = status == kPartialContent || status == kRangeNotSatisfiable;
    if (status != kOk && (at == 0 || !ofARange)) {
        return failure(ErrorCode::ImageUnreadable, statusLine(answer));
    }
    // With nothing delivered yet nothing can be mixed up; what was told of the file must still hold.
    const bool same = at == 0 ? validatorOf(answer) == validatorOf(first) : provenSame(answer, first);
    if (!same) {
        return failure(ErrorCode::ImageChanged,
                       validatorOf(first).empty() ? "no ETag, no Last-Modified" : "");
    }
    const auto body = status == kOk ? wholeBody(answer, path) : fromARange(answer, at);
    if (!body) {
        return body;
    }
    if ((total && body->total && *body->total != *total) || (!total && body->total && *body->total < at)) {
        return failure(ErrorCode::ImageChanged, "size");
    }
    if (status == kRangeNotSatisfiable && *body->total != at) {
        return failure(ErrorCode::ImageUnreadable, statusLine(answer));
    }
    if (status == kPartialContent) {
        if (const auto encoding = checkEncoding(answer, path); !encoding) {
            return std::unexpected(encoding.error());
        }
    }
    return body;
}

} // namespace burin
