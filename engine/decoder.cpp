// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "decoder.h"

#include "bzip2decoder.h"
#include "gzipdecoder.h"
#include "lz4decoder.h"
#include "xzdecoder.h"
#include "zstddecoder.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string>
#include <thread>

namespace burin {

namespace {

constexpr Bytes kLeastMemory = Bytes{64} * kMiB;

std::optional<Bytes> firstNumber(const std::string& text)
{
    const auto digit = text.find_first_of("0123456789");
    Bytes value = 0;
    if (digit == std::string::npos
        || std::from_chars(text.data() + digit, text.data() + text.size(), value).ec != std::errc()) {
        return {};
    }
    return value;
}

std::optional<Bytes> availableMemory()
{
    std::ifstream meminfo("/proc/meminfo");
    for (std::string line; std::getline(meminfo, line);) {
        if (line.starts_with("MemAvailable:")) {
            const auto kib = firstNumber(line);
            return kib ? std::optional(*kib * kKiB) : std::nullopt;
        }
    }
    return {};
}

// The lowest memory.max from our control group (v2) up to the root: systemd-run -p MemoryMax, containers.
std::optional<Bytes> controlGroupLimit()
{
    std::ifstream groups("/proc/self/cgroup");
    std::string group;
    while (std::getline(groups, group) && !group.starts_with("0::/")) { }
    if (!group.starts_with("0::/")) {
        return {};
    }
    group.erase(0, 3);
    std::optional<Bytes> lowest;
    for (; !group.empty(); group.erase(group.rfind('/'))) {
        std::ifstream file("/sys/fs/cgroup" + group + "/memory.max");
        std::string line;
        std::getline(file, line);
        if (const auto limit = firstNumber(line)) {
            lowest = std::min(lowest.value_or(*limit), *limit);
        }
    }
    return lowest;
}

} // namespace

DecoderLimits DecoderLimits::ofThisMachine(Bytes threadingMemory)
{
    Bytes memory = availableMemory().value_or(Bytes{1024} * kMiB);
    memory = std::min(memory, controlGroupLimit().value_or(memory));
    return {.memory = std::max(memory / 2, kLeastMemory),
            .threadingMemory = std::min(memory / 4, threadingMemory),
            .threads = std::max(1U, std::thread::hardware_concurrency())};
}

StreamStart matchMagic(std::span<const std::byte> in, std::span<const unsigned char> magic)
{
    const auto length = std::min(in.size(), magic.size());
    const bool same = std::equal(magic.begin(), magic.begin() + static_cast<std::ptrdiff_t>(length),
                                 in.begin(), [](unsigned char a, std::byte b) { return std::byte{a} == b; });
    if (!same) {
        return StreamStart::No;
    }
    return length == magic.size() ? StreamStart::Yes : StreamStart::Partial;
}

StreamStart matchSkippable(std::span<const std::byte> in)
{
    const auto low = in.empty() ? 0U : std::to_integer<unsigned>(in[0]) & 0x0fU;
    const std::array<unsigned char, 4> magic = {static_cast<unsigned char>(0x50U | low), 0x2a, 0x4d, 0x18};
    return matchMagic(in, magic);
}

Result<std::unique_ptr<Decoder>> makeDecoder(Format format, const DecoderLimits& limits)
{
    switch (format) {
    case Format::Gzip:
        return std::make_unique<GzipDecoder>(GzipDecoder::Framing::Gzip);
    case Format::Bzip2:
        return Bzip2Decoder::create();
    case Format::Xz:
        return XzDecoder::create(LzmaFraming::Xz, limits);
    case Format::Lzip:
        return XzDecoder::create(LzmaFraming::Lzip, limits);
    case Format::Lzma:
        return XzDecoder::create(LzmaFraming::Alone, limits);
    case Format::Zstd:
        return ZstdDecoder::create(limits);
    case Format::Lz4:
        return Lz4Decoder::create();
    default:
        return failure(ErrorCode::Internal, "no decoder");
    }
}

Result<std::unique_ptr<Decoder>> makeZipDecoder(std::uint16_t method, Bytes size, const DecoderLimits& limits)
{
    switch (method) {
    case 8:
        return std::make_unique<GzipDecoder>(GzipDecoder::Framing::Bare);
    case 9:
        return failure(ErrorCode::ImageUnsupported, "zip with deflate64");
    case 12:
        return Bzip2Decoder::create();
    case 14:
        return XzDecoder::create(LzmaFraming::ZipLzma, limits, size);
    case 93:
        return ZstdDecoder::create(limits);
    case 95:
        return XzDecoder::create(LzmaFraming::Xz, limits);
    default:
        return failure(ErrorCode::ImageUnsupported, "zip with method " + std::to_string(method));
    }
}

} // namespace burin
