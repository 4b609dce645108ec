// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "throughput.h"

#include <algorithm>

namespace burin {

namespace {

constexpr double kShortestSpan = 0.5; // seconds; shorter ones give rates that jump

double secondsBetween(Clock::time_point from, Clock::time_point to)
{
    return std::chrono::duration<double>(to - from).count();
}

} // namespace

void SpeedCurve::makeRoom(Offset end)
{
    while (end > m_width * kMaxBins) {
        for (std::size_t i = 0; i < m_bins.size(); i += 2) {
            Bin merged = m_bins[i];
            if (i + 1 < m_bins.size()) {
                merged.bytes += m_bins[i + 1].bytes;
                merged.seconds += m_bins[i + 1].seconds;
            }
            m_bins[i / 2] = merged;
        }
        m_bins.resize((m_bins.size() + 1) / 2);
        m_width *= 2;
    }
    const auto needed = static_cast<std::size_t>((end + m_width - 1) / m_width);
    if (m_bins.size() < needed) {
        m_bins.resize(needed);
    }
}

void SpeedCurve::add(Offset from, Offset to, double seconds)
{
    if (to <= from) {
        return;
    }
    makeRoom(to);
    const auto length = static_cast<double>(to - from);
    for (auto i = static_cast<std::size_t>(from / m_width); i * m_width < to; ++i) {
        const Offset begin = std::max<Offset>(from, i * m_width);
        const Offset end = std::min<Offset>(to, (i + 1) * m_width);
        const auto part = static_cast<double>(end - begin);
        m_bins[i].bytes += part;
        m_bins[i].seconds += seconds * part / length;
    }
    m_bytes += length;
    m_seconds += seconds;
}

double SpeedCurve::mean() const
{
    return m_seconds > 0 ? m_bytes / m_seconds : 0;
}

void RecentRate::add(Clock::time_point at, Bytes done)
{
    m_samples.push_back({at, done});
    // One sample older than the window stays, so that the window is always spanned.
    const auto firstInside = std::ranges::find_if(
        m_samples, [at](const Sample& s) { return secondsBetween(s.at, at) <= kWindow; });
    if (firstInside - m_samples.begin() > 1) {
        m_samples.erase(m_samples.begin(), firstInside - 1);
    }
}

std::optional<double> RecentRate::rate() const
{
    if (m_samples.size() < 2) {
        return {};
    }
    const double span = secondsBetween(m_samples.front().at, m_samples.back().at);
    if (span < kShortestSpan) {
        return {};
    }
    return static_cast<double>(m_samples.back().done - m_samples.front().done) / span;
}

} // namespace burin
