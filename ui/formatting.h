// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/imageprobe.h"
#include "engine/imagesums.h"
#include "engine/units.h"
#include "platform/driveinfo.h"

#include <QString>

#include <chrono>
#include <optional>

namespace burin {

/// Sizes are decimal, as printed on drives, with three digits: "5.87 GB", "32 GB", "512 MB", "1 byte".
[[nodiscard]] QString formatSize(Bytes bytes);
/// "3.40 of 5.87 GB": both in the unit of the whole.
[[nodiscard]] QString formatSizeOf(Bytes done, Bytes total);
/// "41.2 MB/s"
[[nodiscard]] QString formatRate(double bytesPerSecond);
/// "1 min 2 s", "2 h 5 min", "38 s"
[[nodiscard]] QString formatDuration(std::chrono::seconds duration);
/// "0.4 s", "38 s", "1 min 2 s": how long something took that is over
[[nodiscard]] QString formatTimeTaken(std::chrono::nanoseconds time);
/// "1 min": a guess, not told to the second
[[nodiscard]] QString formatRoughly(std::chrono::seconds duration);
/// "58 %"; never 100 before the end
[[nodiscard]] QString formatPercent(double fraction);

/// "SanDisk Ultra Fit · 32 GB"
[[nodiscard]] QString driveTitle(const DriveInfo& drive);
/// "SanDisk Ultra Fit (sdb)", or the node alone where the drive tells no name
[[nodiscard]] QString driveNameAndNode(const DriveInfo& drive);
/// "sdb · USB 3 (5 Gb/s) · holds: BOOT, DATA (mounted)"
[[nodiscard]] QString driveSubtitle(const DriveInfo& drive);
/// "5.87 GB image · 1.21 GB xz · MBR"
[[nodiscard]] QString imageSummary(const ImageInfo& image);
/// "SHA-256 in SHA256SUMS", "the pasted SHA-256".
[[nodiscard]] QString sumName(const KnownSum& sum);
/// What a published sum said: "SHA-256 matches SHA256SUMS".
[[nodiscard]] QString sumText(const SumResult& result);
/// Whether damage to the file would be noticed by its format.
[[nodiscard]] QString checkText(const ImageInfo& image);

} // namespace burin
