// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "blockdevice.h"
#include "filedigest.h"
#include "flashevent.h"
#include "imageprobe.h"
#include "imagesource.h"
#include "usedblocks.h"

#include <stop_token>

namespace burin {

/// What a job is asked to do, and with how much of the machine. The defaults are what the benchmark
/// found best (4 MiB writes, 4 in flight).
struct FlashPlan {
    bool verify = true;
    bool sha256 = true;
    std::size_t chunkSize = 4 * kMiB; ///< a multiple of the logical block
    unsigned depth = 4;               ///< writes or reads in flight
    unsigned buffers = 6;             ///< of chunkSize each, that go round
    /// Which bytes of the image have to be on the drive; nothing: all of them.
    std::shared_ptr<const UsedBlocks> used{};
    bool clearRest = false; ///< zeros where the image is unused; else the drive keeps there what it had
    /// Read each chunk first and write it only if it differs.
    bool onlyDifferences = false;
    /// Where the image's own table says that it ends: one that ends before is ImageTruncated. 0: as it comes.
    Bytes leastSize = 0;
    /// Published sums of the image. If none of them matches the file or the unpacked image, the job fails as
    /// ImageCorrupt. Empty if there are none, or if one was found right before: `sum` says so then.
    std::vector<KnownSum> sums{};
    std::optional<SumResult> sum{};
    std::string imagePath{};
    std::shared_ptr<FileDigester> fileDigester{};  ///< of the file that the source reads; see openImage()
    Bytes threadingMemory = kSmallThreadingMemory; ///< for unpacking in several threads, see openImage()
};

/// The digests of the image that such a job needs.
[[nodiscard]] std::vector<DigestKind> digestKinds(const FlashPlan& plan);

/// Ways in which a person ends a job, or a part of it, early.
struct FlashControl {
    std::stop_token cancel;
    std::stop_token skipVerify;
};

/// Writes the image, or its used blocks, and reads back all that was to be written. Blocks until the job has
/// ended and every thread that it started has come home, which a drive that hangs can delay. Order
/// (SPEC 6.3): clear the first and the last MiB, flush, all but the first chunk, flush, the first chunk,
/// flush, read back. Events of the job go to `observer`, but for Finished, which is the caller's: the drive
/// is closed before it is said.
[[nodiscard]] FlashReport runFlash(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                                   const Observer& observer, const FlashControl& control);

/// Compares the drive with the image and writes nothing. The verdict is Verified, Cancelled or Failed.
[[nodiscard]] FlashReport runVerify(const FlashPlan& plan, ImageSource& source, BlockDevice& device,
                                    const Observer& observer, const FlashControl& control);

} // namespace burin
