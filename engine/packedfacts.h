// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"
#include "filerange.h"
#include "imageprobe.h"

#include <optional>
#include <stop_token>

namespace burin {

/// What a compressed file tells about itself without being unpacked.
struct PackedFacts {
    std::optional<Bytes> unpackedSize{}; ///< exact, over all streams; nothing if only a full pass would tell
    bool checked = true;                 ///< damage to the data would be noticed
};

/// xz: from the indexes of all streams. zstd: from the headers of all frames and blocks, as long as that
/// takes no more than about two seconds. lzip: from the trailers. gzip and bzip2 don't tell: gzip's field is
/// the size of the last member modulo 4 GiB. ImageTruncated and ImageCorrupt where the walk shows it already.
[[nodiscard]] Result<PackedFacts> packedFacts(const FileRange& file, Format format,
                                              const DecoderLimits& limits, const std::stop_token& stop);

/// Whether a stream that begins with `head` says that it has a check over its data.
[[nodiscard]] bool hasCheck(Format format, std::span<const std::byte> head);

} // namespace burin
