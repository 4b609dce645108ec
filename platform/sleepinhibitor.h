// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/uniquefd.h"

#include <string>

namespace burin {

/// Keeps the machine from suspending, idling and shutting down while it lives, if logind is there; else it
/// does nothing, silently: a job must not fail for want of it. `reason` is what the desktop shows. Waits up
/// to 2 s.
class SleepInhibitor
{
public:
    explicit SleepInhibitor(const std::string& reason);

    [[nodiscard]] bool isActive() const { return static_cast<bool>(m_fd); }
    void release() { m_fd.reset(); }

private:
    UniqueFd m_fd; ///< logind's lock: it ends when the last descriptor is closed
};

} // namespace burin
