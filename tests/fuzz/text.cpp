// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Text from elsewhere: sums files, pasted sums, block maps, the header of a web server's answer.
#include "engine/bmapfile.h"
#include "engine/httpanswer.h"
#include "engine/sumtext.h"

#include <cstdint>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    (void)burin::parseSums(text, {});
    (void)burin::parseSums(text, burin::DigestKind::Sha256);
    (void)burin::parsePasted(text);
    (void)burin::isClearSigned(text);
    (void)burin::parseBmap(text);
    const auto half = text.substr(0, size / 2);
    const auto rest = text.substr(size / 2);
    const burin::HttpAnswer answer = {.status = 200 + (size > 0 ? data[0] % 8 : 0),
                                      .etag = std::string(half),
                                      .lastModified = std::string(rest),
                                      .contentLength = std::string(half),
                                      .contentRange = std::string(rest),
                                      .transferEncoding = std::string(half)};
    (void)burin::validatorOf(answer);
    (void)burin::wholeBody(answer, half);
    return 0;
}
