// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "androidsparse.h"

#include "diskparts.h"
#include "littleendian.h"

#include <array>

namespace burin {

namespace {

constexpr std::size_t kHeaderSize = 28;
constexpr std::size_t kPartHeaderSize = 12;
constexpr std::size_t kMostParts = 64 * kMiB / 24; // of memory
constexpr std::uint32_t kLargestBlock = 64 * kMiB; // 4096 is usual

// What the format calls chunks.
enum class Kind : std::uint16_t { Raw = 0xcac1, Fill = 0xcac2, DontCare = 0xcac3, Crc32 = 0xcac4 };

struct Part {
    Offset place = 0;        ///< of raw data, in the file
    std::uint32_t block = 0; ///< where it begins in the disk
    std::uint32_t fill = 0;  ///< the value's bytes, as in the file
    Kind kind = Kind::DontCare;
};

struct PartHeader {
    Kind kind = Kind::DontCare;
    std::uint32_t blocks = 0;
    Range data; ///< in the file
};

class AndroidSparse final : public VirtualDisk
{
public:
    explicit AndroidSparse(FileRange place) : m_place(std::move(place)) { }

    [[nodiscard]] Result<void> open();
    [[nodiscard]] Bytes size() const override { return Bytes{m_blocks} * m_block; }
    [[nodiscard]] Result<void> readAt(Offset offset, std::span<std::byte> out) override;
    [[nodiscard]] bool checked() const override
    {
        return !m_sums.all().empty() && m_sums.all().back().range.end() == size();
    }

private:
    [[nodiscard]] Result<void> readHeader();
    [[nodiscard]] Result<void> readParts();
    [[nodiscard]] Result<PartHeader> readPartHeader(Offset at) const;
    [[nodiscard]] Result<void> takePart(const PartHeader& header);
    [[nodiscard]] Result<void> takeData(const PartHeader& header, Part part);
    [[nodiscard]] Result<void> checkRest() const;
    [[nodiscard]] Result<void> readPart(const Part& part, Offset within, std::span<std::byte> out) const;

    FileRange m_place;
    Bytes m_headerSize = 0;
    Bytes m_partHeaderSize = 0;
    Bytes m_block = 0;
    std::uint32_t m_blocks = 0;
    std::uint32_t m_partCount = 0;
    std::uint32_t m_seen = 0; ///< blocks of the parts so far
    Offset m_at = 0;          ///< the next part's header
    std::vector<Part> m_parts;
    DiskSums m_sums;
};

Result<void> AndroidSparse::open()
{
    for (const auto step : {&AndroidSparse::readHeader, &AndroidSparse::readParts}) {
        if (auto done = (this->*step)(); !done) {
            return done;
        }
    }
    return checkRest();
}

// The header's own CRC field is of no use: libsparse writes 0 and reads nothing.
Result<void> AndroidSparse::readHeader()
{
    std::array<std::byte, kHeaderSize> raw = {};
    if (auto got = m_place.readExactlyAt(0, raw); !got) {
        return got;
    }
    if (littleEndian<std::uint32_t>(raw, 0) != 0xed26ff3a) {
        return corrupt("Android sparse image without its mark");
    }
    if (littleEndian<std::uint16_t>(raw, 4) != 1) {
        return unsupported("Android sparse image of an unknown version");
    }
    m_headerSize = littleEndian<std::uint16_t>(raw, 8);
    m_partHeaderSize = littleEndian<std::uint16_t>(raw, 10);
    m_block = littleEndian<std::uint32_t>(raw, 12);
    m_blocks = littleEndian<std::uint32_t>(raw, 16);
    m_partCount = littleEndian<std::uint32_t>(raw, 20);
    if (m_headerSize < kHeaderSize || m_partHeaderSize < kPartHeaderSize || m_block == 0 || m_block % 4 != 0
        || m_block > kLargestBlock) {
        return corrupt("the header of the Android sparse image");
    }
    if (m_partCount > m_place.size() / m_partHeaderSize) {
        return failure(ErrorCode::ImageTruncated);
    }
    return checkDiskSize(size());
}

Result<void> AndroidSparse::readParts()
{
    m_at = m_headerSize;
    for (std::uint32_t i = 0; i < m_partCount; ++i) {
        const auto header = readPartHeader(m_at);
        if (!header) {
            return std::unexpected(header.error());
        }
        if (auto taken = takePart(*header); !taken) {
            taken.error().offset = m_seen * m_block;
            return taken;
        }
    }
    return m_seen == m_blocks ? Result<void>() : corrupt("the parts don't make up the disk");
}

Result<PartHeader> AndroidSparse::readPartHeader(Offset at) const
{
    std::array<std::byte, kPartHeaderSize> raw = {};
    if (const auto got = m_place.readExactlyAt(at, raw); !got) {
        return std::unexpected(got.error());
    }
    const Bytes total = littleEndian<std::uint32_t>(raw, 8);
    if (total < m_partHeaderSize) {
        return corrupt("a part's header");
    }
    return PartHeader{.kind = Kind{littleEndian<std::uint16_t>(raw, 0)},
                      .blocks = littleEndian<std::uint32_t>(raw, 4),
                      .data = {.offset = at + m_partHeaderSize, .length = total - m_partHeaderSize}};
}

Result<void> AndroidSparse::takePart(const PartHeader& header)
{
    if (m_parts.size() + m_sums.all().size() >= kMostParts) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    if (header.blocks > m_blocks - m_seen) {
        return corrupt("the parts are longer than the disk");
    }
    if (!liesWithin(header.data.offset, header.data.length, m_place.size())) {
        return failure(ErrorCode::ImageTruncated);
    }
    auto taken =
        takeData(header, {.place = header.data.offset, .block = m_seen, .fill = 0, .kind = header.kind});
    m_seen += header.blocks;
    m_at = header.data.end();
    return taken;
}

Result<void> AndroidSparse::takeData(const PartHeader& header, Part part)
{
    std::array<std::byte, 4> word = {};
    const bool hasWord = header.kind == Kind::Fill || header.kind == Kind::Crc32;
    if (!hasWord && header.kind != Kind::Raw && header.kind != Kind::DontCare) {
        return unsupported("Android sparse image with an unknown part");
    }
    const Bytes raw = header.kind == Kind::Raw ? header.blocks * m_block : 0;
    if (header.data.length != (hasWord ? word.size() : raw)) {
        return corrupt("a part's length");
    }
    if (hasWord) {
        if (auto got = m_place.readExactlyAt(header.data.offset, word); !got) {
            return got;
        }
    }
    const auto value = littleEndian<std::uint32_t>(word, 0);
    if (header.kind == Kind::Crc32) {
        m_sums.add({.range = {.offset = 0, .length = m_seen * m_block}, .crc32 = value});
        return header.blocks == 0 ? Result<void>() : corrupt("a checksum's length");
    }
    part.fill = value;
    if (header.blocks > 0) {
        m_parts.push_back(part);
    }
    return {};
}

// Nothing but padding may follow the last part.
Result<void> AndroidSparse::checkRest() const
{
    std::vector<std::byte> buffer(64 * kKiB);
    for (Offset at = m_at; at < m_place.size(); at += buffer.size()) {
        const auto got = m_place.readAt(at, buffer);
        if (!got) {
            return std::unexpected(got.error());
        }
        if (!onlyZeros(std::span(buffer).first(*got))) {
            return corrupt("data after the last part");
        }
    }
    return {};
}

Result<void> AndroidSparse::readAt(Offset offset, std::span<std::byte> out)
{
    while (!out.empty()) {
        const auto after = std::ranges::upper_bound(m_parts, offset / m_block, {}, &Part::block);
        const Part& part = *std::prev(after); // the first begins at 0
        const Offset end = after == m_parts.end() ? size() : after->block * m_block;
        const auto piece = out.first(static_cast<std::size_t>(std::min<Bytes>(end - offset, out.size())));
        auto done = readPart(part, offset - part.block * m_block, piece);
        if (done) {
            done = m_sums.take(offset, piece);
        }
        if (!done) {
            done.error().offset = done.error().offset.value_or(offset);
            return done;
        }
        out = out.subspan(piece.size());
        offset += piece.size();
    }
    return {};
}

Result<void> AndroidSparse::readPart(const Part& part, Offset within, std::span<std::byte> out) const
{
    if (part.kind == Kind::Raw) {
        return m_place.readExactlyAt(part.place + within, out);
    }
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = static_cast<std::byte>(part.fill >> (8 * ((within + i) % 4)));
    }
    return {};
}

} // namespace

Result<std::unique_ptr<VirtualDisk>> openAndroidSparse(const FileRange& place)
{
    return openAs<AndroidSparse>(place);
}

} // namespace burin
