// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "bytepipe.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace burin {

BytePipe::BytePipe(std::size_t capacity) : m_bytes(capacity), m_wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK))
{
}

void BytePipe::clearWake()
{
    eventfd_t count = 0;
    (void)::eventfd_read(m_wake.get(), &count);
}

std::span<std::byte> BytePipe::room()
{
    const std::scoped_lock lock(m_mutex);
    const auto next = (m_first + m_count) % m_bytes.size();
    const auto free = m_bytes.size() - m_count;
    m_writerWaits = free == 0;
    return std::span(m_bytes).subspan(next, std::min(free, m_bytes.size() - next));
}

void BytePipe::filled(std::size_t count)
{
    const std::scoped_lock lock(m_mutex);
    m_count += count;
    m_changed.notify_one();
}

void BytePipe::finish(Result<void> outcome)
{
    const std::scoped_lock lock(m_mutex);
    m_outcome = std::move(outcome);
    m_changed.notify_one();
}

bool BytePipe::stopped() const
{
    const std::scoped_lock lock(m_mutex);
    return m_stopped;
}

Result<std::size_t> BytePipe::read(std::span<std::byte> out)
{
    std::size_t filled = 0;
    while (filled < out.size()) {
        const auto bytes = waitForBytes();
        if (!bytes) {
            return std::unexpected(bytes.error());
        }
        if (bytes->empty()) {
            break;
        }
        const auto count = std::min(bytes->size(), out.size() - filled);
        std::copy_n(bytes->begin(), count, out.begin() + static_cast<std::ptrdiff_t>(filled));
        filled += count;
        taken(count);
    }
    return filled;
}

/// A stretch of what was written, which stays the reader's until taken(); nothing at the end.
Result<std::span<const std::byte>> BytePipe::waitForBytes()
{
    std::unique_lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_stopped || m_count > 0 || m_outcome; });
    if (m_stopped) {
        return failure(ErrorCode::ImageUnreadable, ECANCELED);
    }
    if (m_count == 0 && !*m_outcome) {
        return std::unexpected(m_outcome->error());
    }
    return std::span<const std::byte>(m_bytes).subspan(m_first, std::min(m_count, m_bytes.size() - m_first));
}

void BytePipe::taken(std::size_t count)
{
    const std::scoped_lock lock(m_mutex);
    m_first = (m_first + count) % m_bytes.size();
    m_count -= count;
    // Not for every byte: the writer is to fill a good stretch each time that it is woken.
    if (m_writerWaits && m_count <= m_bytes.size() / 2) {
        m_writerWaits = false;
        wakeWriter();
    }
}

void BytePipe::stop() noexcept
{
    const std::scoped_lock lock(m_mutex);
    m_stopped = true;
    m_changed.notify_all();
    wakeWriter();
}

void BytePipe::wakeWriter() noexcept
{
    // It fails only if the counter is near 2^64 and then the writer is awake already.
    (void)::eventfd_write(m_wake.get(), 1);
}

} // namespace burin
