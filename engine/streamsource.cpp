// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "streamsource.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace burin {

StreamSource::StreamSource(UniqueFd fd, UniqueFd wake) : m_fd(std::move(fd)), m_wake(std::move(wake)) { }

Result<std::unique_ptr<StreamSource>> StreamSource::create(UniqueFd fd)
{
    UniqueFd wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (!fd || !wake) {
        return failure(ErrorCode::ImageUnreadable, errno);
    }
    return std::unique_ptr<StreamSource>(new StreamSource(std::move(fd), std::move(wake)));
}

Result<std::size_t> StreamSource::read(std::span<std::byte> out)
{
    std::size_t filled = 0;
    while (filled < out.size()) {
        std::array<pollfd, 2> waits = {pollfd{.fd = m_fd.get(), .events = POLLIN, .revents = 0},
                                       pollfd{.fd = m_wake.get(), .events = POLLIN, .revents = 0}};
        if (::poll(waits.data(), waits.size(), -1) < 0) {
            if (errno == EINTR) {
                continue;
            }
            return failure(ErrorCode::ImageUnreadable, errno, m_done);
        }
        if (waits[1].revents != 0) {
            return failure(ErrorCode::ImageUnreadable, ECANCELED, m_done);
        }
        const ssize_t n = ::read(m_fd.get(), out.data() + filled, out.size() - filled);
        if (n < 0 && (errno == EINTR || errno == EAGAIN)) {
            continue;
        }
        if (n < 0) {
            return failure(ErrorCode::ImageUnreadable, errno, m_done);
        }
        if (n == 0) {
            break;
        }
        filled += static_cast<std::size_t>(n);
        m_done += static_cast<Bytes>(n);
    }
    return filled;
}

void StreamSource::interrupt() noexcept
{
    (void)::eventfd_write(m_wake.get(), 1); // fails only if it is set already
}

} // namespace burin
