// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/flashjob.h"
#include "tests/support/fakes.h"

namespace burin::test {

inline constexpr std::size_t kChunk = 64 * kKiB;

/// What a job has said.
struct Run {
    FlashReport report;
    std::vector<decltype(FlashEvent::what)> events;

    template<class T> [[nodiscard]] std::vector<T> all() const
    {
        std::vector<T> found;
        for (const auto& event : events) {
            if (const auto* what = std::get_if<T>(&event)) {
                found.push_back(*what);
            }
        }
        return found;
    }
    [[nodiscard]] std::vector<Phase> phases() const
    {
        std::vector<Phase> found;
        for (const auto& started : all<PhaseStarted>()) {
            found.push_back(started.phase);
        }
        return found;
    }
};

struct Setup {
    FlashPlan plan{.chunkSize = kChunk, .depth = 3, .buffers = 5};
    std::stop_source cancel;
    std::stop_source skipVerify;
    std::function<void(const FlashEvent&)> onEvent;

    Run flash(ImageSource& source, BlockDevice& device, decltype(runFlash)* job = runFlash)
    {
        Run run;
        run.report = job(plan, source, device,
                         [&](const FlashEvent& event) {
                             run.events.push_back(event.what);
                             if (onEvent) {
                                 onEvent(event);
                             }
                         },
                         {.cancel = cancel.get_token(), .skipVerify = skipVerify.get_token()});
        return run;
    }
};

} // namespace burin::test
