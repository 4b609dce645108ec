// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkdigest.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>

namespace burin {

bool isConstant(std::span<const std::byte> data)
{
    // Every byte equals its neighbour.
    return data.size() < 2 || std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0;
}

std::uint64_t digestBlock(std::span<const std::byte> block)
{
    return XXH3_64bits(block.data(), block.size());
}

ChunkDigest digestChunk(std::span<const std::byte> data, std::size_t logicalBlock)
{
    const XXH128_hash_t whole = XXH3_128bits(data.data(), data.size());
    const auto first = data.first(std::min(logicalBlock, data.size()));
    return {.whole = {whole.low64, whole.high64},
            .firstBlock = digestBlock(first),
            .firstBlockConstant = isConstant(first),
            .constant = isConstant(data),
            .length = data.size()};
}

} // namespace burin
