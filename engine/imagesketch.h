// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "peeksource.h"
#include "uniquefd.h"
#include "units.h"

#include <chrono>
#include <cstddef>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

namespace burin {

/// How far an image may be unpacked only to look at it.
struct SketchBudget {
    Bytes unpacked = Bytes{1536} * kMiB;
    std::chrono::milliseconds time{4000};
};

/// Those parts of an unpacked image that a look needs, in a sparse file in memory: zeros elsewhere. It is
/// what libblkid reads, so a compressed image is probed without being unpacked to a disk.
class ImageSketch
{
public:
    static constexpr std::size_t kHead = 4 * kMiB;

    /// Reads the first kHead bytes of `source`, which must outlive it. One that can't be had again is only
    /// peeked at, and nothing behind the head is seen.
    [[nodiscard]] static Result<ImageSketch> create(PeekSource& source, bool mayReadOn);

    [[nodiscard]] std::span<const std::byte> head() const { return m_head; }
    [[nodiscard]] int fd() const noexcept { return m_memory.get(); }
    /// The exact size, if the image ended within what was read.
    [[nodiscard]] std::optional<Bytes> end() const { return m_end; }

    /// Reads on to `range`, which lies behind all earlier ones, and keeps it; returns the bytes kept. Less, 0
    /// included, where the image ends, the budget is used up or `stop` is asked for.
    [[nodiscard]] Result<std::vector<std::byte>> keep(Range range, const SketchBudget& budget,
                                                      const std::stop_token& stop);

private:
    explicit ImageSketch(UniqueFd memory);
    [[nodiscard]] Result<std::size_t> readOn(std::span<std::byte> out);
    [[nodiscard]] Result<void> store(Offset offset, std::span<const std::byte> data);

    PeekSource* m_source = nullptr; ///< to read on from
    UniqueFd m_memory;
    std::vector<std::byte> m_head;
    Offset m_position = 0;
    std::optional<Bytes> m_end;
    std::chrono::steady_clock::time_point m_began = std::chrono::steady_clock::now();
};

} // namespace burin
