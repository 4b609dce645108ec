// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Any file as an image: all that happens when it is chosen, and the beginning of what a job would read. Every
// own parser of containers, virtual disks and tables lies on this way.
#include "engine/imageprobe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace {

constexpr std::size_t kStep = 256 * burin::kKiB;
constexpr burin::Bytes kMostRead = 8 * burin::kMiB;

void readSome(burin::ImageSource& source)
{
    std::vector<std::byte> buffer(kStep);
    for (burin::Bytes done = 0; done < kMostRead; done += kStep) {
        const auto got = source.read(buffer);
        if (!got || *got < buffer.size()) {
            return;
        }
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const burin::UniqueFd file(::memfd_create("image", MFD_CLOEXEC));
    if (!file || ::write(file.get(), data, size) != static_cast<ssize_t>(size)) {
        return 0;
    }
    const auto info = burin::probeImage("/proc/self/fd/" + std::to_string(file.get()));
    if (info) {
        if (const auto source = burin::openImage(*info)) {
            readSome(**source);
        }
    }
    return 0;
}
