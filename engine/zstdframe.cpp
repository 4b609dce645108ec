// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "zstdframe.h"

#include "littleendian.h"

#include <array>
#include <cstdint>

namespace burin {

namespace {

constexpr std::uint32_t kFrameMagic = 0xfd2fb528;
constexpr std::uint32_t kSkippableMagic = 0x184d2a50;

Bytes fieldOf(std::span<const std::byte> data, std::size_t offset, std::size_t length)
{
    Bytes value = 0;
    for (std::size_t i = length; i-- > 0;) {
        value = value << 8U | std::to_integer<Bytes>(data[offset + i]);
    }
    return value;
}

} // namespace

std::optional<ZstdFrame> parseZstdFrame(std::span<const std::byte> data)
{
    if (data.size() < 8) {
        return {};
    }
    const auto magic = littleEndian<std::uint32_t>(data, 0);
    if ((magic & 0xfffffff0U) == kSkippableMagic) {
        return ZstdFrame{
            .headerSize = 8, .skippable = littleEndian<std::uint32_t>(data, 4), .isSkippable = true};
    }
    if (magic != kFrameMagic) {
        return {};
    }
    static constexpr std::array<std::size_t, 4> kDictionarySizes = {0, 1, 2, 4};
    static constexpr std::array<std::size_t, 4> kContentSizes = {0, 2, 4, 8};
    const auto descriptor = std::to_integer<unsigned>(data[4]);
    const bool singleSegment = (descriptor & 0x20U) != 0;
    const std::size_t window = singleSegment ? 0 : 1;
    const std::size_t dictionary = kDictionarySizes.at(descriptor & 3U);
    std::size_t content = kContentSizes.at(descriptor >> 6U);
    if (content == 0 && singleSegment) {
        content = 1;
    }
    ZstdFrame frame = {.headerSize = 5 + window + dictionary + content, .checksum = (descriptor & 4U) != 0};
    if (data.size() < frame.headerSize) {
        return {};
    }
    if (content > 0) {
        // A size in two bytes counts from 256 on.
        frame.contentSize = fieldOf(data, 5 + window + dictionary, content) + (content == 2 ? 256U : 0U);
    }
    return frame;
}

} // namespace burin
