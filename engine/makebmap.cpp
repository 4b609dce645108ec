// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "makebmap.h"

#include "bmapfile.h"
#include "chunkdigest.h"
#include "imagefile.h"
#include "rangelist.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kBlock = 4096;

/// What the file's own file system stores of it.
Result<std::vector<Range>> dataOf(const ImageInfo& info)
{
    if (!info.layers.empty() || isUrl(info.path)) {
        return failure(ErrorCode::BlockMapBad, "a packed image has no holes");
    }
    const auto file = ImageFile::open(info.path);
    if (!file) {
        return std::unexpected(file.error());
    }
    if ((*file)->identity() != info.file) {
        return failure(ErrorCode::ImageChanged);
    }
    std::vector<Range> data;
    const auto size = static_cast<off_t>((*file)->size());
    for (off_t at = 0; at < size;) {
        const off_t begin = ::lseek((*file)->fd(), at, SEEK_DATA);
        if (begin < 0 && errno == ENXIO) {
            break; // only a hole is left
        }
        const off_t end = begin < 0 ? -1 : ::lseek((*file)->fd(), begin, SEEK_HOLE);
        if (end <= begin) {
            return failure(ErrorCode::ImageUnreadable, errno);
        }
        data.push_back({.offset = static_cast<Bytes>(begin), .length = static_cast<Bytes>(end - begin)});
        at = end;
    }
    return data;
}

/// Takes an image block by block, in order, and maps it.
class Mapper
{
public:
    explicit Mapper(std::vector<Range> used) : m_used(std::move(used)) { }

    [[nodiscard]] Result<void> add(std::span<const std::byte> block)
    {
        const Range range{.offset = m_map.imageSize, .length = block.size()};
        m_map.imageSize += block.size();
        if (partsWithin(m_used, range).empty() && isZero(block)) {
            endRange();
            return {};
        }
        if (!m_digest) {
            auto digest = Digest::create(DigestKind::Sha256);
            if (!digest) {
                return std::unexpected(std::move(digest.error()));
            }
            m_digest = std::move(*digest);
            m_map.ranges.push_back({.offset = range.offset, .length = 0});
        }
        m_digest->add(block);
        m_map.ranges.back().length += block.size();
        return {};
    }
    [[nodiscard]] const UsedBlocks& finish()
    {
        endRange();
        return m_map;
    }

private:
    void endRange()
    {
        if (m_digest) {
            m_map.sums.push_back(m_digest->hex());
            m_digest.reset();
        }
    }

    std::vector<Range> m_used;
    UsedBlocks m_map;
    std::optional<Digest> m_digest;
};

} // namespace

Result<std::string> makeBmap(const ImageInfo& info, BmapOrigin origin, const std::stop_token& stop)
try {
    std::vector<Range> used;
    if (origin == BmapOrigin::Holes) {
        auto data = dataOf(info);
        if (!data) {
            return std::unexpected(std::move(data.error()));
        }
        used = std::move(*data);
    } else if (info.used) {
        used = info.used->ranges;
    } else {
        return failure(ErrorCode::BlockMapBad, "no free map of a clean file system can be read");
    }
    auto source = openImage(info);
    if (!source) {
        return std::unexpected(std::move(source.error()));
    }
    Mapper mapper(std::move(used));
    std::vector<std::byte> buffer(kMiB);
    for (std::size_t got = buffer.size(); got == buffer.size();) {
        const auto read = (*source)->read(buffer);
        if (!read) {
            return std::unexpected(read.error());
        }
        got = *read;
        for (std::size_t at = 0; at < got; at += kBlock) {
            if (auto added = mapper.add(std::span(buffer).subspan(at, std::min(kBlock, got - at))); !added) {
                return std::unexpected(added.error());
            }
        }
        if (stop.stop_requested()) {
            return failure(ErrorCode::BlockMapBad, "interrupted");
        }
    }
    return bmapText(mapper.finish(), kBlock);
} catch (const std::exception& e) {
    return failure(ErrorCode::Internal, e.what());
}

} // namespace burin
