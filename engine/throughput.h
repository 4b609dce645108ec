// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "flashevent.h"

#include <cstddef>
#include <optional>
#include <vector>

namespace burin {

/// Speed over position: bytes and seconds added up in at most kMaxBins bins of equal width. When the
/// position passes the last bin, neighbours are merged and the width doubles, so that a paint is O(bins)
/// whatever the image's size.
class SpeedCurve
{
public:
    static constexpr std::size_t kMaxBins = 512;

    struct Bin {
        double bytes = 0;
        double seconds = 0;
        [[nodiscard]] double rate() const { return seconds > 0 ? bytes / seconds : 0; }
        bool operator==(const Bin&) const = default;
    };

    /// The drive got from `from` to `to` in that time; the bins in between share it evenly.
    void add(Offset from, Offset to, double seconds);

    [[nodiscard]] const std::vector<Bin>& bins() const { return m_bins; }
    [[nodiscard]] Bytes binWidth() const { return m_width; }
    /// Bytes a second over all, 0 before anything was added.
    [[nodiscard]] double mean() const;
    bool operator==(const SpeedCurve&) const = default;

private:
    void makeRoom(Offset end);

    std::vector<Bin> m_bins;
    Bytes m_width = kMiB;
    double m_bytes = 0;
    double m_seconds = 0;
};

/// The rate of the last seconds (a window of kWindow), for "MB/s" and "time left".
class RecentRate
{
public:
    static constexpr double kWindow = 8.0; ///< seconds

    void add(Clock::time_point at, Bytes done);
    /// Bytes a second; nothing until there are two samples half a second apart.
    [[nodiscard]] std::optional<double> rate() const;
    bool operator==(const RecentRate&) const = default;

private:
    struct Sample {
        Clock::time_point at;
        Bytes done = 0;
        bool operator==(const Sample&) const = default;
    };
    std::vector<Sample> m_samples;
};

} // namespace burin
