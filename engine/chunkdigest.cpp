// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chunkdigest.h"

#include <xxhash.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace burin {

namespace {

/// XXH3 over data that come piece by piece.
class RunningDigest
{
public:
    RunningDigest() : m_state(XXH3_createState())
    {
        if (!m_state || XXH3_128bits_reset(m_state.get()) != XXH_OK) {
            throw std::bad_alloc();
        }
    }

    void add(std::span<const std::byte> data)
    {
        (void)XXH3_128bits_update(m_state.get(), data.data(), data.size());
    }
    void addZeros(Bytes count)
    {
        static constexpr std::array<std::byte, 16 * kKiB> kZeros{};
        for (; count > 0; count -= std::min<Bytes>(count, kZeros.size())) {
            add(std::span(kZeros).first(static_cast<std::size_t>(std::min<Bytes>(count, kZeros.size()))));
        }
    }
    [[nodiscard]] XXH128_hash_t result() const { return XXH3_128bits_digest(m_state.get()); }

private:
    struct Free {
        void operator()(XXH3_state_t* state) const noexcept { (void)XXH3_freeState(state); }
    };
    std::unique_ptr<XXH3_state_t, Free> m_state;
};

} // namespace

bool isConstant(std::span<const std::byte> data)
{
    // Every byte equals its neighbour.
    return data.size() < 2 || std::memcmp(data.data(), data.data() + 1, data.size() - 1) == 0;
}

bool isZero(std::span<const std::byte> data)
{
    return data.empty() || (data.front() == std::byte{0} && isConstant(data));
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

ChunkDigest digestParts(std::span<const std::byte> data, Offset offset, std::span<const Range> parts,
                        std::size_t logicalBlock)
{
    if (parts.empty()) {
        return {};
    }
    const auto within = [&](const Range& part) {
        return data.subspan(static_cast<std::size_t>(part.offset - offset),
                            static_cast<std::size_t>(part.length));
    };
    if (parts.front().length == data.size()) {
        return digestChunk(data, logicalBlock);
    }
    RunningDigest running;
    Offset position = offset;
    bool constant = true;
    for (const auto& part : parts) {
        const auto bytes = within(part);
        running.addZeros(part.offset - position);
        running.add(bytes);
        position = part.end();
        constant = constant && isConstant(bytes) && bytes.front() == within(parts.front()).front();
    }
    running.addZeros(offset + data.size() - position);
    const XXH128_hash_t whole = running.result();
    const auto first =
        within(parts.front())
            .first(static_cast<std::size_t>(std::min<Bytes>(logicalBlock, parts.front().length)));
    return {.whole = {whole.low64, whole.high64},
            .firstBlock = digestBlock(first),
            .firstBlockAt = static_cast<std::size_t>(parts.front().offset - offset),
            .firstBlockConstant = isConstant(first),
            .constant = constant,
            .length = data.size()};
}

} // namespace burin
