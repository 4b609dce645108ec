// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "virtualdisk.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

namespace burin {

// What the readers of virtual disks share. Whatever a file claims, they never add up to more than 2^64.

/// A disk that claims more is taken for damage; no drive holds it.
inline constexpr Bytes kLargestDisk = Bytes{1} << 50U;

/// `return corrupt("the qcow2's first table");`
[[nodiscard]] inline std::unexpected<FlashError> corrupt(const char* what)
{
    return failure(ErrorCode::ImageCorrupt, what);
}
[[nodiscard]] inline std::unexpected<FlashError> unsupported(const char* what)
{
    return failure(ErrorCode::ImageUnsupported, what);
}

/// ImageEmpty or ImageCorrupt if no disk has that size.
[[nodiscard]] Result<void> checkDiskSize(Bytes size);

/// Whether the `length` bytes from `offset` on lie within the first `size` bytes. Takes any numbers.
[[nodiscard]] constexpr bool liesWithin(Offset offset, Bytes length, Bytes size)
{
    return length <= size && offset <= size - length;
}

[[nodiscard]] bool beginsWith(std::span<const std::byte> data, std::string_view text);
[[nodiscard]] bool onlyZeros(std::span<const std::byte> data);
void fillZeros(std::span<std::byte> out);

/// Cuts the disk's bytes from `offset` on at each multiple of `block` and calls `part(block's number, offset
/// in the block, span)`. An error gets the part's place in the disk, if it has none.
template<class Part>
[[nodiscard]] Result<void> eachBlock(Offset offset, std::span<std::byte> out, Bytes block, Part part)
{
    while (!out.empty()) {
        const Offset within = offset % block;
        const auto size = static_cast<std::size_t>(std::min<Bytes>(block - within, out.size()));
        if (auto done = part(offset / block, within, out.first(size)); !done) {
            done.error().offset = done.error().offset.value_or(offset);
            return done;
        }
        out = out.subspan(size);
        offset += size;
    }
    return {};
}

/// Makes a disk of class `Disk` and calls its open().
template<class Disk> [[nodiscard]] Result<std::unique_ptr<VirtualDisk>> openAs(const FileRange& place)
{
    auto disk = std::make_unique<Disk>(place);
    if (const auto opened = disk->open(); !opened) {
        return std::unexpected(opened.error());
    }
    return disk;
}

/// A file's tables, read and kept one piece at a time, so that their size costs no memory.
class FilePages
{
public:
    explicit FilePages(FileRange place) : m_place(std::move(place)) { }

    /// The `size` bytes at `offset`, a multiple of `size`, which is a power of two up to 4096. They are good
    /// until the next call. ImageTruncated.
    [[nodiscard]] Result<std::span<const std::byte>> at(Offset offset, std::size_t size);

private:
    static constexpr Offset kNone = std::numeric_limits<Offset>::max();
    FileRange m_place;
    std::vector<std::byte> m_page;
    std::size_t m_filled = 0;
    Offset m_pageOffset = kNone;
};

/// Where a disk's blocks lie in its file, in units. They may lie neither beyond the end nor on each other nor
/// on the file's own tables.
class BlockPlaces
{
public:
    /// All in units: a block, the file's part for blocks, and the tables.
    BlockPlaces(std::uint64_t block, std::uint64_t end, std::vector<Range> tables = {})
        : m_block(block), m_end(end), m_tables(std::move(tables))
    {
    }

    /// ImageTruncated, ImageCorrupt. Only the first `needed` units must be there: a disk's last block may be
    /// cut short.
    [[nodiscard]] Result<void> add(std::uint64_t place, std::optional<std::uint64_t> needed = {});
    /// ImageCorrupt if two blocks overlap. Forgets the places.
    [[nodiscard]] Result<void> finish();

private:
    std::uint64_t m_block;
    std::uint64_t m_end;
    std::vector<Range> m_tables;
    std::vector<std::uint32_t> m_places;
};

/// Compares sums over stretches of a disk, where the disk is read from its beginning on.
class DiskSums
{
public:
    struct Sum {
        Range range;
        std::uint32_t crc32 = 0;
    };

    /// In the order of their ends; two with the same beginning are sums of the same run.
    void add(const Sum& sum) { m_sums.push_back(sum); }
    [[nodiscard]] const std::vector<Sum>& all() const { return m_sums; }
    /// What was read from `offset` on. `leftOut`: the disk's maker may have left it out of the sum.
    /// ImageCorrupt.
    [[nodiscard]] Result<void> take(Offset offset, std::span<const std::byte> data, bool leftOut = false);

private:
    [[nodiscard]] Result<void> endSum();
    std::vector<Sum> m_sums;
    std::size_t m_next = 0;
    Offset m_at = 0;
    std::uint32_t m_whole = 0;   ///< over all bytes
    std::uint32_t m_without = 0; ///< over those that no maker leaves out
};

} // namespace burin
