// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "imagefile.h"

#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace burin {

/// The digests of a file as it lies on the disk, in the order of `kinds`, lower-case hex, from one read.
/// `progress` is told the bytes read so far, in this thread. Errors: ImageTruncated if the file became
/// shorter, ImageChanged if it is another than when it was opened, ImageUnreadable, with ECANCELED when
/// `stop` was requested; Internal for a kind that OpenSSL doesn't offer.
[[nodiscard]] Result<std::vector<std::string>> digestFile(const ImageFile& file,
                                                          std::span<const DigestKind> kinds,
                                                          const std::stop_token& stop,
                                                          const std::function<void(Bytes)>& progress = {});

} // namespace burin
