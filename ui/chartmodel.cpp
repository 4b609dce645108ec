// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chartmodel.h"

#include "engine/rangelist.h"
#include "formatting.h"
#include "words.h"

#include <QStringList>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr double kRestingPeak = 120; ///< MB/s, before there is anything to show
constexpr Bytes kRestingExtent = 5'870'000'000;
constexpr double kRoomForVerify = 1.5; ///< reads are mostly faster than writes; so the axis stays put

ChartCurve curveOf(const PassState& pass)
{
    ChartCurve curve;
    curve.binWidth = std::max<Bytes>(pass.curve.binWidth(), 1);
    curve.reached = pass.position();
    curve.mean = pass.curve.mean();
    curve.rates.reserve(pass.curve.bins().size());
    for (const SpeedCurve::Bin& bin : pass.curve.bins()) {
        // Nothing was to be done there: the curve goes on as it was.
        curve.rates.push_back(bin.bytes > 0 || curve.rates.empty() ? bin.rate() : curve.rates.back());
    }
    return curve;
}

Bytes extentOf(const std::optional<FlashState>& state, const std::optional<ImageInfo>& image)
{
    if (state) {
        const FlashReport* report = state->report ? &*state->report : nullptr;
        if (report != nullptr && report->imageSize) {
            return *report->imageSize;
        }
    }
    if (image && image->unpackedSize) {
        return *image->unpackedSize;
    }
    if (state) {
        const PassState& pass = state->write.total ? state->write : state->verify;
        if (pass.total) {
            return pass.ranges ? std::max(pass.ranges->back().end(), *pass.total) : *pass.total;
        }
    }
    if (!state) {
        return image ? Bytes(double(image->file.size) * 3) : kRestingExtent;
    }
    // The size shows only at the end: guess from the file's part read, in coarse steps so that the axis
    // rests.
    const auto done = double(std::max(state->write.done, state->verify.done));
    const double part = state->sourceSize > 0 ? double(state->sourceConsumed) / double(state->sourceSize) : 0;
    const double guess = part > 0.01 ? std::max(done / part, done) : std::max(done * 2, 1e9);
    const double step = std::pow(10.0, std::floor(std::log10(guess))) / 2;
    return Bytes(std::ceil(guess / step) * step);
}

Axis ratesOf(const ChartModel& model, bool verifyToCome)
{
    const double write = model.write.peak() / 1e6;
    const double verify = model.verify.peak() / 1e6;
    if (write <= 0 && verify <= 0) {
        return rateAxis(kRestingPeak);
    }
    return rateAxis(std::max(verifyToCome ? write * kRoomForVerify : write, verify));
}

} // namespace

std::optional<double> ChartCurve::rateAt(Offset position) const
{
    const auto bin = std::size_t(position / binWidth);
    if (position >= reached || bin >= rates.size()) {
        return {};
    }
    return rates[bin];
}

double ChartCurve::peak() const
{
    return rates.empty() ? 0 : *std::ranges::max_element(rates);
}

std::vector<CellState> ChartModel::cells(int count) const
{
    std::vector<CellState> states(std::size_t(std::max(count, 0)), CellState::Waiting);
    if (states.empty() || extent == 0) {
        return states;
    }
    const double width = double(extent) / count;
    for (std::size_t i = 0; i < states.size(); ++i) {
        const double middle = (double(i) + 0.5) * width;
        states[i] = middle < double(verified) ? CellState::Verified
            : middle < double(written)        ? CellState::Written
                                              : CellState::Waiting;
        if (isUnused({.offset = Offset(double(i) * width), .length = std::max<Bytes>(Bytes(width), 1)})) {
            states[i] = CellState::Unused;
        }
    }
    for (const Range& range : bad) {
        const auto first = std::min(std::size_t(double(range.offset) / width), states.size() - 1);
        const auto last =
            std::clamp(std::size_t(std::ceil(double(range.end()) / width)), first + 1, states.size());
        std::fill(states.begin() + std::ptrdiff_t(first), states.begin() + std::ptrdiff_t(last),
                  CellState::Different);
    }
    return states;
}

bool ChartModel::isUnused(Range range) const
{
    return ranges && partsWithin(*ranges, range).empty();
}

QString ChartModel::partitionAt(Offset position) const
{
    for (const ImagePartition& partition : partitions) {
        if (position >= partition.range.offset && position < partition.range.end()) {
            const std::string& name = !partition.label.empty() ? partition.label
                : !partition.name.empty()                      ? partition.name
                : !partition.fileSystem.empty()                ? partition.fileSystem
                                                               : partition.type;
            return QString::fromStdString(name);
        }
    }
    return {};
}

ChartModel chartModel(const std::optional<FlashState>& state, const std::optional<ImageInfo>& image)
{
    ChartModel model;
    model.extent = extentOf(state, image);
    if (image) {
        model.partitions = image->partitions;
    }
    if (state) {
        model.write = curveOf(state->write);
        model.verify = curveOf(state->verify);
        model.written = state->write.position();
        model.verified = state->verify.position();
        model.ranges = state->write.ranges ? state->write.ranges : state->verify.ranges;
        for (const BadRange& bad : state->badRanges) {
            model.bad.push_back(bad.range);
        }
    }
    model.rates = ratesOf(model, state && state->willVerify && state->phase != Phase::Finished);
    return model;
}

QString chartDescription(const ChartModel& model)
{
    QStringList parts;
    if (!model.write.isEmpty()) {
        parts << Words::tr("%1 written, %2 on average")
                     .arg(formatSizeOf(model.written, model.extent), formatRate(model.write.mean));
    }
    if (!model.verify.isEmpty()) {
        parts << Words::tr("%1 read back, %2 on average")
                     .arg(formatSizeOf(model.verified, model.extent), formatRate(model.verify.mean));
    }
    if (!model.bad.empty()) {
        parts << Words::tr("%1 places differ, the first at %2")
                     .arg(QString::number(model.bad.size()), formatSize(model.bad.front().offset));
    }
    return parts.isEmpty() ? Words::tr("Nothing written yet") : parts.join(u"; "_s);
}

} // namespace burin
