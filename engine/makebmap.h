// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imageprobe.h"

#include <stop_token>
#include <string>

namespace burin {

/// Where the map's maker knows from what is used.
enum class BmapOrigin {
    FreeMaps, ///< of the clean file systems in the image
    Holes,    ///< of the image's file: right only if nobody has copied or unpacked it since it was made
};

/// The text of a block map of an image. Left out is only what is unused by its origin and zero in the image,
/// so that whoever writes by it may rely on either. Reads all of the image. BlockMapBad (detail) where the
/// origin says nothing; the image's own errors.
[[nodiscard]] Result<std::string> makeBmap(const ImageInfo& info, BmapOrigin origin,
                                           const std::stop_token& stop);

} // namespace burin
