// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashevent.h"
#include "engine/imageprobe.h"

#include <QString>

namespace burin {

// Words about which blocks of an image are written.

/// Bytes that a job with this map writes; nothing where it writes everything.
[[nodiscard]] std::optional<Bytes> bytesToWrite(const std::shared_ptr<const UsedBlocks>& used);

/// Before the job: "writes 2.1 of 3.7 GB: used blocks", or "writes every block · 62 % are used".
[[nodiscard]] QString blocksText(const ImageInfo& image, bool everything);
/// Why nothing, or not more, is left out; a sentence, or nothing to say.
[[nodiscard]] QString doubtText(const ImageInfo& image);
/// Why a block map was dropped in mid-job.
[[nodiscard]] QString refutedText(const MapRefuted& refuted);
/// After it: "the rest was not written". Empty where the job was about every byte.
[[nodiscard]] QString restText(const FlashReport& report);
/// "Verified: all used blocks (3.64 of 5.87 GB; the rest was not written)"
[[nodiscard]] QString verifiedTitle(const FlashReport& report);

} // namespace burin
