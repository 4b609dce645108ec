// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chunkcomparer.h"
#include "job.h"

namespace burin {

/// Compares the drive with the image and writes nothing.
class VerifyJob : public Job
{
public:
    using Job::Job;

    [[nodiscard]] FlashReport run();

private:
    [[nodiscard]] Result<void> compareAll();
    void compare(const ChunkView& chunk);

    ChunkComparer m_comparer{m_device, m_monitor, m_plan.chunkSize};
};

} // namespace burin
