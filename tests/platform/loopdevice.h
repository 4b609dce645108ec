// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/uniquefd.h"
#include "engine/units.h"

#include <cerrno>
#include <cstring>
#include <string>

#include <fcntl.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace burin {

/// A loop device over a file of its own, freed when it goes. Others on the machine take loops too.
class LoopDevice
{
public:
    LoopDevice() = default;
    LoopDevice(const std::string& file, Bytes size, unsigned blockSize = 512, unsigned flags = 0)
    {
        const UniqueFd backing(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
        if (!backing || (size != 0 && ::ftruncate(backing.get(), static_cast<off_t>(size)) != 0)) {
            return;
        }
        const UniqueFd control(::open("/dev/loop-control", O_RDWR | O_CLOEXEC));
        constexpr int kTries = 50;
        for (int i = 0; i < kTries && control; ++i) {
            const int number = ::ioctl(control.get(), LOOP_CTL_GET_FREE);
            if (number >= 0 && attach(number, backing.get(), blockSize, flags)) {
                return;
            }
        }
    }
    LoopDevice(const LoopDevice&) = delete;
    LoopDevice& operator=(const LoopDevice&) = delete;
    ~LoopDevice() { detach(); }

    [[nodiscard]] bool isAttached() const { return m_number >= 0; }
    [[nodiscard]] std::string node() const { return "loop" + std::to_string(m_number); }
    [[nodiscard]] std::string path() const { return "/dev/" + node(); }

    /// Another file under the same node, as when somebody swaps a stick.
    bool reattach(const std::string& file)
    {
        const int number = m_number;
        detach();
        const UniqueFd backing(::open(file.c_str(), O_RDWR | O_CLOEXEC));
        return attach(number, backing.get(), 512, 0);
    }
    void detach()
    {
        if (m_number >= 0) {
            const UniqueFd fd(::open(path().c_str(), O_RDWR | O_CLOEXEC));
            ::ioctl(fd.get(), LOOP_CLR_FD);
            m_number = -1;
        }
    }

    static bool isPossible() { return ::geteuid() == 0 && ::access("/dev/loop-control", R_OK | W_OK) == 0; }

private:
    bool attach(int number, int backing, unsigned blockSize, unsigned flags)
    {
        loop_config config = {};
        config.fd = static_cast<unsigned>(backing);
        config.block_size = blockSize;
        config.info.lo_flags = flags;
        const UniqueFd fd(::open(("/dev/loop" + std::to_string(number)).c_str(), O_RDWR | O_CLOEXEC));
        if (!fd || ::ioctl(fd.get(), LOOP_CONFIGURE, &config) != 0) {
            return false; // somebody else was quicker
        }
        m_number = number;
        return true;
    }

    int m_number = -1;
};

} // namespace burin
