// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "uniquefd.h"
#include "units.h"

#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace burin {

/// Bytes from one thread that must not wait, since it runs an event loop, to another that may. Bounded.
class BytePipe
{
public:
    explicit BytePipe(std::size_t capacity);

    /// Becomes readable when there is room again after room() gave none, and when the reader stops. -1 if
    /// the system has no descriptors left.
    [[nodiscard]] int wakeFd() const noexcept { return m_wake.get(); }

    // In the writer's thread.
    /// Takes what made wakeFd() readable.
    void clearWake();
    /// A free stretch, which is the writer's until it says how much of it was filled.
    [[nodiscard]] std::span<std::byte> room();
    void filled(std::size_t count);
    /// Nothing follows what was written, which is still read. Once.
    void finish(Result<void> outcome);
    /// The reader wants no more.
    [[nodiscard]] bool stopped() const;

    // In the reader's thread.
    /// Waits until `out` is full or the writer has finished; returns the bytes filled.
    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);

    /// Ends a read() that waits and all later ones with ECANCELED. From any thread.
    void stop() noexcept;

private:
    [[nodiscard]] Result<std::span<const std::byte>> waitForBytes();
    void taken(std::size_t count);
    void wakeWriter() noexcept;

    std::vector<std::byte> m_bytes; ///< a ring: m_count from m_first on are the reader's
    UniqueFd m_wake;
    mutable std::mutex m_mutex;
    std::condition_variable m_changed;
    std::size_t m_first = 0;
    std::size_t m_count = 0;
    bool m_writerWaits = false;
    bool m_stopped = false;
    std::optional<Result<void>> m_outcome;
};

} // namespace burin
