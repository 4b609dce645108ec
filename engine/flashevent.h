// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imagesums.h"
#include "units.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace burin {

using Clock = std::chrono::steady_clock;

/// How a job ended (SPEC 6.1).
enum class Verdict {
    Verified,           ///< all that `coverage` names was read back from the drive and equals the image
    WrittenNotVerified, ///< flushed, and the verify was switched off or skipped
    Cancelled,
    Failed,
};

/// What of the image has to be on the drive.
enum class Coverage { EveryByte, UsedBlocks };

/// A block map that the image gives the lie: from then on everything is written.
struct MapRefuted {
    enum class Reason {
        NotZero,   ///< a block that the map leaves out isn't zero
        OtherSize, ///< the image ends elsewhere than the map
    };
    Reason reason = Reason::NotZero;
    Offset offset = 0;            ///< where that was seen
    std::optional<Bytes> total{}; ///< bytes that the pass goes through now, where known

    bool operator==(const MapRefuted&) const = default;
};

/// A stretch in which the drive gave back something else than the image, or nothing.
struct BadRange {
    Range range{}; ///< bytes of the image
    bool unreadable = false;
    int sysErrno = 0;       ///< of the failed read
    bool sameAgain = false; ///< a second read gave the same wrong bytes

    bool operator==(const BadRange&) const = default;
};

/// The drive gives back data that belong elsewhere, or a constant beyond some point: it is smaller than it
/// says.
struct Counterfeit {
    Bytes likelySize = 0;
    bool wraps = false; ///< addresses wrap round; else what lies beyond is lost

    bool operator==(const Counterfeit&) const = default;
};

/// What a job did, whatever way it ended.
struct FlashReport {
    Verdict verdict = Verdict::Failed;
    std::optional<FlashError> error{}; ///< exactly when the verdict is Failed
    Phase endedIn = Phase::Preparing;
    std::optional<Bytes> imageSize{}; ///< unpacked, once the end was seen
    Bytes driveSize = 0;
    std::uint32_t logicalBlock = 0;
    Bytes chunkSize = 0;
    Bytes bytesWritten = 0; ///< of the image, acknowledged by the drive
    Bytes bytesVerified = 0;
    Coverage coverage = Coverage::EveryByte;
    Bytes bytesSkipped = 0;   ///< of the image, unused: left on the drive as it was
    Bytes bytesCleared = 0;   ///< of the image, unused: zeros on the drive
    Bytes bytesUnchanged = 0; ///< of the image, were there already
    std::size_t chunksVerified = 0;
    std::optional<MapRefuted> refuted{}; ///< why everything was written after all
    bool driveTouched = false;           ///< false: not one byte of the drive was changed
    std::vector<BadRange> badRanges{};   ///< in order of offset
    std::optional<Counterfeit> counterfeit{};
    std::string sha256{};           ///< of the unpacked image, hex; empty if switched off or not reached
    std::optional<SumResult> sum{}; ///< what a published checksum said of the image
    unsigned retries = 0;
    std::chrono::nanoseconds writeTime{};
    std::chrono::nanoseconds flushTime{};
    std::chrono::nanoseconds verifyTime{};
};

/// A phase begins. `total`: bytes that it will go through, where known.
struct PhaseStarted {
    Phase phase = Phase::Preparing;
    std::optional<Bytes> total{};
    /// Where in the image these are, in order; nothing: from its beginning to its end.
    std::shared_ptr<const std::vector<Range>> ranges{};
};

/// Progress within the phase: bytes that the drive has acknowledged (write) or given back (verify).
struct Advanced {
    Bytes done = 0;
    Bytes sourceConsumed = 0; ///< of sourceSize: the measure where `total` is not known
    Bytes sourceSize = 0;
};

/// A range came back different or not at all.
struct RangeDiffered {
    BadRange bad;
};

/// A write failed in passing and is tried again.
struct Retrying {
    Offset offset = 0;
    int sysErrno = 0;
};

/// Nothing has moved for 10 s: `drive` says who keeps us waiting, the drive or the image's file. The job goes
/// on.
struct Stalled {
    Clock::time_point since;
    bool drive = true;
};

/// It moves again.
struct Resumed {
};

struct Finished {
    FlashReport report;
};

struct FlashEvent {
    Clock::time_point at;
    std::variant<PhaseStarted, Advanced, MapRefuted, RangeDiffered, Retrying, Stalled, Resumed, Finished>
        what;
};

/// Called in the thread that runs the job, never in two threads at once.
using Observer = std::function<void(const FlashEvent&)>;

} // namespace burin
