// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"
#include "imageprobe.h"
#include "imagesketch.h"

#include <optional>
#include <stop_token>

namespace burin {

/// Fills in what is in the image: table, partitions, file systems, labels, and the warnings that follow from
/// them. `stored` is where the image lies bare in a file; nothing for a compressed one, which is then
/// unpacked as far as `budget` allows to see the beginnings of its partitions. Damage met on the way is an
/// error.
[[nodiscard]] Result<void> readLayout(ImageInfo& info, const std::optional<FileRange>& stored,
                                      ImageSketch& sketch, const SketchBudget& budget,
                                      const std::stop_token& stop);

} // namespace burin
