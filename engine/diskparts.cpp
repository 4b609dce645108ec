// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "diskparts.h"

#include <zlib.h>

#include <cstring>

namespace burin {

namespace {

constexpr std::size_t kPage = 64 * kKiB;
// 16 MiB of places: a disk of 256 GiB in blocks of 64 KiB. Overlaps beyond go unnoticed.
constexpr std::size_t kMostPlaces = 4 * kMiB;

} // namespace

Result<void> checkDiskSize(Bytes size)
{
    if (size == 0) {
        return failure(ErrorCode::ImageEmpty);
    }
    if (size > kLargestDisk) {
        return failure(ErrorCode::ImageCorrupt, "a disk of " + std::to_string(size) + " bytes");
    }
    return {};
}

bool beginsWith(std::span<const std::byte> data, std::string_view text)
{
    return data.size() >= text.size() && std::memcmp(data.data(), text.data(), text.size()) == 0;
}

bool onlyZeros(std::span<const std::byte> data)
{
    return std::ranges::all_of(data, [](std::byte b) { return b == std::byte{0}; });
}

void fillZeros(std::span<std::byte> out)
{
    std::ranges::fill(out, std::byte{0});
}

Result<std::span<const std::byte>> FilePages::at(Offset offset, std::size_t size)
{
    const Offset page = alignDown(offset, kPage);
    if (page != m_pageOffset) {
        m_pageOffset = kNone;
        m_page.resize(kPage);
        const auto got = m_place.readAt(page, m_page);
        if (!got) {
            return std::unexpected(got.error());
        }
        m_filled = *got;
        m_pageOffset = page;
    }
    const auto within = static_cast<std::size_t>(offset - page);
    if (!liesWithin(within, size, m_filled)) {
        return failure(ErrorCode::ImageTruncated);
    }
    return std::span<const std::byte>(m_page).subspan(within, size);
}

Result<void> BlockPlaces::add(std::uint64_t place, std::optional<std::uint64_t> needed)
{
    if (!liesWithin(place, needed.value_or(m_block), m_end)) {
        return failure(ErrorCode::ImageTruncated, "a block beyond the file's end");
    }
    for (const Range& table : m_tables) {
        if (place < table.end() && table.offset < place + m_block) {
            return failure(ErrorCode::ImageCorrupt, "a block on the file's tables");
        }
    }
    if (m_places.size() < kMostPlaces && place <= std::numeric_limits<std::uint32_t>::max()) {
        m_places.push_back(static_cast<std::uint32_t>(place));
    }
    return {};
}

Result<void> BlockPlaces::finish()
{
    auto places = std::exchange(m_places, {});
    std::ranges::sort(places);
    const auto close = [this](std::uint32_t a, std::uint32_t b) { return b - a < m_block; };
    if (std::ranges::adjacent_find(places, close) != places.end()) {
        return failure(ErrorCode::ImageCorrupt, "two blocks in one place");
    }
    return {};
}

Result<void> DiskSums::take(Offset offset, std::span<const std::byte> data, bool leftOut)
{
    if (offset == 0) {
        m_next = 0;
        m_at = 0;
    }
    if (offset != m_at) {
        return {}; // somebody looks around; sums need every byte
    }
    while (m_next < m_sums.size()) {
        const Range& range = m_sums[m_next].range;
        const Bytes before = m_at < range.offset ? range.offset - m_at : 0;
        const auto skipped = static_cast<std::size_t>(std::min<Bytes>(before, data.size()));
        data = data.subspan(skipped);
        m_at += skipped;
        if (data.empty()) {
            break;
        }
        if (m_at == range.offset) {
            m_whole = 0;
            m_without = 0;
        }
        const auto taken =
            data.first(static_cast<std::size_t>(std::min<Bytes>(range.end() - m_at, data.size())));
        const auto* bytes = reinterpret_cast<const Bytef*>(taken.data());
        m_whole = static_cast<std::uint32_t>(::crc32_z(m_whole, bytes, taken.size()));
        if (!leftOut) {
            m_without = static_cast<std::uint32_t>(::crc32_z(m_without, bytes, taken.size()));
        }
        data = data.subspan(taken.size());
        m_at += taken.size();
        if (const auto right = endSum(); !right) {
            return right;
        }
    }
    m_at += data.size();
    return {};
}

// Compares all sums that end here.
Result<void> DiskSums::endSum()
{
    for (; m_next < m_sums.size() && m_sums[m_next].range.end() == m_at; ++m_next) {
        const Sum& sum = m_sums[m_next];
        if (sum.crc32 != m_whole && sum.crc32 != m_without) {
            return failure(ErrorCode::ImageCorrupt, 0, sum.range.offset, "CRC32");
        }
    }
    return {};
}

} // namespace burin
