// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <utility>

namespace burin {

/// What went wrong, for the program to branch on. The words for people are in ui/errortext.cpp.
enum class ErrorCode {
    ImageUnreadable,
    ImageEmpty,
    ImageFormatUnknown,
    ImageUnsupported, ///< a known format that Burin does not unpack; detail names it
    ImageNoMember,    ///< a container in which nothing looks like a disk image
    ImageEncrypted,
    ImageTruncated,
    ImageCorrupt,
    ImageNeedsMemory,
    ImageChanged,
    BlockMapBad, ///< detail: what is wrong with it
    ImageTooLarge,
    ImageGrewPastDrive,
    DriveNotFound,
    DriveAmbiguous,
    DriveIsPartition, ///< detail: the disk that it belongs to
    DriveNotADrive,
    DriveIsSystem,
    DriveHoldsImage,
    DriveProtected, ///< any other reason of the guard; detail names it
    DriveBusy,
    DriveNoMedium,
    DriveReadOnly,
    DriveNoDirectIo,
    AuthDismissed,
    AuthDenied,
    AuthNoAgent,
    ServiceMissing,
    DriveChanged,
    DriveGone,
    DriveTooSlow, ///< for the others, with an image that can be read only once
    WriteFailed,
    FlushFailed,
    ReadBackFailed,
    VerifyMismatch,
    Internal,
};

/// The phases of a job, in order (SPEC 6.1).
enum class Phase { Preparing, Writing, Flushing, Verifying, Finished };

/// An error as the engine and the platform report it: no text for people. `detail` is a fact (a file, a
/// holder, a library's own words) that the text quotes.
struct FlashError {
    ErrorCode code = ErrorCode::Internal;
    Phase phase = Phase::Preparing;
    int sysErrno = 0;                      ///< errno of the failing call, 0 if there was none
    std::optional<std::uint64_t> offset{}; ///< bytes from the start of the drive or image
    std::string detail{};

    bool operator==(const FlashError&) const = default;
};

template<class T> using Result = std::expected<T, FlashError>;

/// `return failure(ErrorCode::DriveGone, errno, offset);`
[[nodiscard]] inline std::unexpected<FlashError>
failure(ErrorCode code, int sysErrno = 0, std::optional<std::uint64_t> offset = {}, std::string detail = {})
{
    return std::unexpected(FlashError{.code = code,
                                      .phase = Phase::Preparing,
                                      .sysErrno = sysErrno,
                                      .offset = offset,
                                      .detail = std::move(detail)});
}

[[nodiscard]] inline std::unexpected<FlashError> failure(ErrorCode code, std::string detail)
{
    return failure(code, 0, {}, std::move(detail));
}

} // namespace burin
