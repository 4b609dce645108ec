// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chartscale.h"
#include "engine/flashstate.h"
#include "engine/imageprobe.h"

#include <QString>

#include <memory>
#include <optional>
#include <vector>

namespace burin {

struct ChartCurve {
    std::vector<double> rates; ///< bytes a second, one per bin
    Bytes binWidth = 1;
    Bytes reached = 0;
    double mean = 0;

    [[nodiscard]] bool isEmpty() const { return rates.empty() || reached == 0; }
    [[nodiscard]] std::optional<double> rateAt(Offset position) const;
    [[nodiscard]] double peak() const;
};

enum class CellState { Waiting, Unused, Written, Verified, Different };

/// All that the chart paints. A value, made by chartModel().
struct ChartModel {
    Bytes extent = 0; ///< where the position axis ends
    Axis rates;       ///< in MB/s
    ChartCurve write;
    ChartCurve verify;
    Bytes written = 0;
    Bytes verified = 0;
    std::vector<Range> bad;
    std::vector<ImagePartition> partitions;
    /// Where the job writes; nothing: everywhere. What lies between is unused.
    std::shared_ptr<const std::vector<Range>> ranges;

    /// The strip below the chart in `count` equal cells: O(count + bad ranges).
    [[nodiscard]] std::vector<CellState> cells(int count) const;
    [[nodiscard]] bool isUnused(Range range) const;
    [[nodiscard]] QString partitionAt(Offset position) const;
};

/// What the chart shows of a job, or before one.
[[nodiscard]] ChartModel chartModel(const std::optional<FlashState>& state,
                                    const std::optional<ImageInfo>& image);

/// The chart in words, for those who don't see it.
[[nodiscard]] QString chartDescription(const ChartModel& model);

} // namespace burin
