// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "units.h"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace burin {

/// Which content a URL delivered, as far as the server tells.
struct HttpIdentity {
    std::optional<Bytes> size{};
    std::string validator{}; ///< strong ETag, else Last-Modified, else empty

    bool operator==(const HttpIdentity&) const = default;
};

/// How long a server is waited for, and how often it is asked again once data came.
struct HttpPatience {
    std::chrono::milliseconds idle{30'000};    ///< without a byte
    int tries = 8;                             ///< in a row without a new byte
    std::chrono::milliseconds firstDelay{200}; ///< before the first of them; doubles
    std::chrono::milliseconds longestDelay{10'000};
};

/// What is known once the first answer's header is there.
struct HttpOpened {
    HttpIdentity identity{};
    bool endIsMarked = false;
};

/// The header of a final answer: what matters of it, as it was sent.
struct HttpAnswer {
    int status = 0;
    std::string reason{};
    std::string etag{};
    std::string lastModified{};
    std::string location{};
    std::string contentLength{};
    std::string contentRange{};
    std::string contentEncoding{};
    std::string transferEncoding{};
};

/// Where the body of an answer lies in the file.
struct HttpBody {
    Offset begin = 0;
    std::optional<Offset> end{};  ///< where the body ends, if the header tells
    std::optional<Bytes> total{}; ///< the file's size, if the header tells
    bool endIsMarked = false;     ///< by a length or by chunks: a connection cut short is noticed
};

/// "404 Not Found"
[[nodiscard]] std::string statusLine(const HttpAnswer& answer);
[[nodiscard]] bool isRedirect(int status);
/// The server may answer otherwise in a while.
[[nodiscard]] bool isPassing(int status);
[[nodiscard]] bool isChunked(const HttpAnswer& answer);
/// Of the body, if it is told and makes sense.
[[nodiscard]] std::optional<Bytes> lengthOf(const HttpAnswer& answer);
/// What If-Range is sent with; empty if the answer has nothing that a later one can be held against.
[[nodiscard]] std::string validatorOf(const HttpAnswer& answer);

/// The answer to a request for the whole file, whose URL has this path. ImageUnreadable with the reason.
[[nodiscard]] Result<HttpBody> wholeBody(const HttpAnswer& answer, std::string_view path);
/// The answer to a request for what follows `at`, after a first answer and a size, if known. ImageChanged
/// unless it is proven to be the same content; ImageUnreadable if it is not what was asked for. The body may
/// begin before `at`.
[[nodiscard]] Result<HttpBody> restBody(const HttpAnswer& answer, std::string_view path,
                                        const HttpAnswer& first, std::optional<Bytes> total, Offset at);

} // namespace burin
