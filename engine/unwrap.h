// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "decoder.h"
#include "filedigest.h"
#include "filerange.h"
#include "imageprobe.h"
#include "peeksource.h"

#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

namespace burin {

/// The bytes of an image behind all that it is packed in.
struct UnwrappedImage {
    std::unique_ptr<PeekSource> source;
    std::vector<ImageLayer> layers;         ///< outermost first
    std::vector<ImageCandidate> candidates; ///< of the first container
    std::optional<FileRange> open{};        ///< where the image lies bare in a file
    bool checked = false;                   ///< every byte of it is under some layer's check
};

struct UnwrapOptions {
    /// Which member of each container, from outside in; an empty one, or none, is the largest.
    std::vector<std::string> members{};
    bool list = true; ///< fill in UnwrappedImage::candidates also where `members` names one
    DecoderLimits limits;
    std::shared_ptr<FileDigester> digester{}; ///< is shown the bytes of the file as they are read
    bool judgedBySum = false;                 ///< data after the end are passed over, as a sum is to decide
    std::stop_token stop{};
};

/// Where the packed bytes come from: a file, or a pipe or URL that can be read only once and in order.
using ImageRoot = std::variant<FileRange, std::unique_ptr<ImageSource>>;

/// Takes off layer after layer, each found by its content, until a bare image is left: a .tar.xz, a zip that
/// holds an .img.xz. What needs reading here and there (zip, 7z, most virtual disks) must lie open in a file;
/// inside a stream it is ImageUnsupported (detail: "qcow2 inside gzip"). What Burin knows but doesn't unpack
/// is ImageUnsupported too. Errors: all of probeImage()'s.
[[nodiscard]] Result<UnwrappedImage> unwrapImage(ImageRoot root, const UnwrapOptions& options);

} // namespace burin
