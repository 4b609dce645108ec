// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <stop_token>
#include <utility>

namespace burin {

/// A queue between threads. What is in flight is bounded by the number of buffers that go round, not here.
template<class T> class ClosableQueue
{
public:
    void push(T item)
    {
        const std::scoped_lock lock(m_mutex);
        m_items.push_back(std::move(item));
        m_wake.notify_one();
    }

    /// No more will come: pop() gives what is there and then nothing.
    void close()
    {
        const std::scoped_lock lock(m_mutex);
        m_closed = true;
        m_wake.notify_all();
    }

    /// Waits for the next item; nothing at the end or when asked to stop.
    [[nodiscard]] std::optional<T> pop(const std::stop_token& stop)
    {
        std::unique_lock lock(m_mutex);
        (void)m_wake.wait(lock, stop, [this] { return m_closed || !m_items.empty(); });
        if (stop.stop_requested() || m_items.empty()) {
            return {};
        }
        T item = std::move(m_items.front());
        m_items.pop_front();
        return item;
    }

private:
    std::mutex m_mutex;
    std::condition_variable_any m_wake;
    std::deque<T> m_items;
    bool m_closed = false;
};

} // namespace burin
