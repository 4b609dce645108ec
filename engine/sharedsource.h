// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "imagesource.h"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace burin {

/// How one image is read for several targets.
struct Sharing {
    /// Opens the image once more, for a target that was set aside; empty where it can be read only once.
    std::function<Result<std::unique_ptr<ImageSource>>()> reopen{};
    std::vector<DigestKind> digests{}; ///< taken once for all
    std::size_t blockSize = 4 * kMiB;
    unsigned blocks = 6; ///< of blockSize each, in the ring that all read from
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
};

/// Reads the image once, in a thread of its own that ends with the last of the sources returned, and gives
/// each of `count` targets a source with all of it. A source from which nobody reads while another waits for
/// more is set aside after 5 s in sum (time in which nobody waits counts against it): so a drive that stalls
/// or that is less than half as fast as the others delays them by seconds. Its source goes on when the
/// shared read has ended, from where it was, with a reader of its own; DriveTooSlow where there is none.
/// Errors: Internal for a digest that OpenSSL doesn't offer.
[[nodiscard]] Result<std::vector<std::unique_ptr<ImageSource>>>
shareSource(std::shared_ptr<ImageSource> image, std::size_t count, Sharing sharing);

} // namespace burin
