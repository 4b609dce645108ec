// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "packedfacts.h"

#include "littleendian.h"
#include "zstdframe.h"

#include <lzma.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <string>
#include <vector>

namespace burin {

namespace {

constexpr std::chrono::seconds kZstdWalkMost{2};
constexpr Bytes kMostUnpacked = Bytes{1} << 60U; // sums of sizes stay far from overflowing

// --- xz ----------------------------------------------------------------------------------------

struct FreeIndex {
    void operator()(lzma_index* index) const noexcept { lzma_index_end(index, nullptr); }
};
using Index = std::unique_ptr<lzma_index, FreeIndex>;

class FileInfoStream
{
public:
    FileInfoStream() = default;
    FileInfoStream(const FileInfoStream&) = delete;
    FileInfoStream& operator=(const FileInfoStream&) = delete;
    ~FileInfoStream() { lzma_end(&m_stream); }
    lzma_stream* operator->() { return &m_stream; }
    lzma_stream* get() { return &m_stream; }

private:
    lzma_stream m_stream = LZMA_STREAM_INIT;
};

// Whether the end of the file holds a valid stream footer that isn't at the very end: then something was
// appended to a whole file. Else the end is missing.
bool hasFooterBeforeTheEnd(const FileRange& file)
{
    std::vector<std::byte> tail(static_cast<std::size_t>(std::min<Bytes>(file.size(), 64 * kKiB)));
    const auto got = file.readAt(file.size() - tail.size(), tail);
    for (std::size_t i = 0; got && i + LZMA_STREAM_HEADER_SIZE <= *got; ++i) {
        lzma_stream_flags flags = {};
        if (lzma_stream_footer_decode(&flags, reinterpret_cast<const std::uint8_t*>(tail.data() + i))
            == LZMA_OK) {
            return true;
        }
    }
    return false;
}

std::unexpected<FlashError> xzFailure(lzma_ret result, Bytes memory, const FileRange& file)
{
    switch (result) {
    case LZMA_MEMLIMIT_ERROR:
    case LZMA_MEM_ERROR:
        return failure(ErrorCode::ImageNeedsMemory, std::to_string(memory));
    case LZMA_OPTIONS_ERROR:
        return failure(ErrorCode::ImageUnsupported, "xz of a later version");
    default:
        return failure(hasFooterBeforeTheEnd(file) ? ErrorCode::ImageCorrupt : ErrorCode::ImageTruncated);
    }
}

Result<Index> readXzIndexes(const FileRange& file, const DecoderLimits& limits)
{
    FileInfoStream stream;
    lzma_index* index = nullptr;
    if (lzma_file_info_decoder(stream.get(), &index, limits.memory, file.size()) != LZMA_OK) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    std::vector<std::byte> buffer(16 * kKiB);
    Offset position = 0;
    for (;;) {
        if (stream->avail_in == 0) {
            const auto got = file.readAt(position, buffer);
            if (!got) {
                return std::unexpected(got.error());
            }
            position += *got;
            stream->next_in = reinterpret_cast<const std::uint8_t*>(buffer.data());
            stream->avail_in = *got;
        }
        const auto result = lzma_code(stream.get(), position == file.size() ? LZMA_FINISH : LZMA_RUN);
        if (result == LZMA_STREAM_END) {
            return Index(index);
        }
        if (result == LZMA_SEEK_NEEDED) {
            position = stream->seek_pos;
            stream->avail_in = 0;
        } else if (result != LZMA_OK) {
            return xzFailure(result, limits.memory, file);
        }
    }
}

Result<PackedFacts> xzFacts(const FileRange& file, const DecoderLimits& limits)
{
    const auto index = readXzIndexes(file, limits);
    if (!index) {
        return std::unexpected(index.error());
    }
    PackedFacts facts = {.unpackedSize = lzma_index_uncompressed_size(index->get())};
    // One bit for each kind of check that a stream uses; one that liblzma doesn't know is not verified.
    const auto kinds = lzma_index_checks(index->get());
    for (unsigned kind = 0; kind <= LZMA_CHECK_ID_MAX; ++kind) {
        if ((kinds & (1U << kind)) != 0
            && (kind == LZMA_CHECK_NONE || !lzma_check_is_supported(lzma_check(kind)))) {
            facts.checked = false;
        }
    }
    return facts;
}

// --- lzip --------------------------------------------------------------------------------------

// Each member ends with its CRC-32, its unpacked size and its own size (lzip's manual, "File format"), so the
// sizes are found from the end backwards. What doesn't fit is left to the reading.
Result<PackedFacts> lzipFacts(const FileRange& file)
{
    constexpr std::size_t kTrailer = 20;
    constexpr std::size_t kLeastMember = 36;
    constexpr int kMostMembers = 100'000;
    Bytes all = 0;
    Bytes end = file.size();
    for (int i = 0; end > 0; ++i) {
        std::array<std::byte, kTrailer> trailer = {};
        if (end < kLeastMember || i == kMostMembers) {
            return PackedFacts{};
        }
        if (const auto got = file.readExactlyAt(end - kTrailer, trailer); !got) {
            return std::unexpected(got.error());
        }
        const auto unpacked = littleEndian<std::uint64_t>(trailer, 4);
        const auto packed = littleEndian<std::uint64_t>(trailer, 12);
        if (packed < kLeastMember || packed > end || unpacked > kMostUnpacked - all) {
            return PackedFacts{};
        }
        all += unpacked;
        end -= packed;
    }
    return PackedFacts{.unpackedSize = all};
}

// --- zstd --------------------------------------------------------------------------------------

// The end of the frame at `at`. Each block begins with 3 bytes: last flag, type, size (RFC 8878, 3.1.1.2).
Result<Offset> endOfZstdFrame(const FileRange& file, Offset at, const ZstdFrame& frame, auto isOverTime)
{
    at += frame.headerSize;
    if (frame.isSkippable) {
        return at + frame.skippable;
    }
    for (bool last = false; !last;) {
        std::array<std::byte, 4> header = {};
        const auto got = file.readAt(at, std::span(header).first(3));
        if (!got) {
            return std::unexpected(got.error());
        }
        if (*got < 3) {
            return failure(ErrorCode::ImageTruncated);
        }
        const auto value = littleEndian<std::uint32_t>(header, 0);
        last = (value & 1U) != 0;
        constexpr std::uint32_t kRunLengthBlock = 1; // one byte, however long the run
        const bool isRun = ((value >> 1U) & 3U) == kRunLengthBlock;
        at += 3 + (isRun ? 1 : value >> 3U);
        if (isOverTime()) {
            return 0;
        }
    }
    return at + (frame.checksum ? 4 : 0);
}

Result<PackedFacts> zstdFacts(const FileRange& file, const std::stop_token& stop)
{
    const auto deadline = std::chrono::steady_clock::now() + kZstdWalkMost;
    const auto isOverTime = [&] {
        return stop.stop_requested() || std::chrono::steady_clock::now() > deadline;
    };
    PackedFacts facts = {.unpackedSize = 0};
    std::vector<std::byte> head(kZstdHeaderMost);
    for (Offset at = 0; at < file.size();) {
        const auto got = file.readAt(at, head);
        if (!got) {
            return std::unexpected(got.error());
        }
        const auto frame = parseZstdFrame(std::span(head).first(*got));
        if (!frame) { // padding, garbage or a cut header: reading will tell
            facts.unpackedSize.reset();
            return facts;
        }
        if (!frame->isSkippable) {
            facts.checked = facts.checked && frame->checksum;
            if (!frame->contentSize) {
                facts.unpackedSize.reset();
                return facts;
            }
            if (*frame->contentSize > kMostUnpacked - *facts.unpackedSize) {
                return failure(ErrorCode::ImageCorrupt, "absurd size");
            }
            facts.unpackedSize = *facts.unpackedSize + *frame->contentSize;
        }
        const auto end = endOfZstdFrame(file, at, *frame, isOverTime);
        if (!end) {
            return std::unexpected(end.error());
        }
        if (*end == 0) {
            facts.unpackedSize.reset();
            return facts;
        }
        at = *end;
        if (at > file.size()) {
            return failure(ErrorCode::ImageTruncated);
        }
    }
    return facts;
}

} // namespace

bool hasCheck(Format format, std::span<const std::byte> head)
{
    switch (format) {
    case Format::Xz: { // the second of two bytes of flags (xz-file-format 1.2.1, 2.1.1.2)
        constexpr std::size_t kFlagsAt = 7;
        return head.size() > kFlagsAt
            && lzma_check_is_supported(lzma_check(std::to_integer<unsigned>(head[kFlagsAt]) & 0x0fU)) != 0
            && (head[kFlagsAt] & std::byte{0x0f}) != std::byte{LZMA_CHECK_NONE};
    }
    case Format::Zstd: {
        const auto frame = parseZstdFrame(head);
        return frame && (frame->checksum || frame->isSkippable);
    }
    case Format::Lz4: { // FLG: bit 4 for checksums of blocks, bit 2 of the content (lz4_Frame_format.md)
        constexpr std::size_t kFlagsAt = 4;
        return head.size() > kFlagsAt && (head[kFlagsAt] & std::byte{0x14}) != std::byte{0};
    }
    case Format::Lzma:
        return false;
    default:
        return true;
    }
}

Result<PackedFacts> packedFacts(const FileRange& file, Format format, const DecoderLimits& limits,
                                const std::stop_token& stop)
{
    switch (format) {
    case Format::Xz:
        return xzFacts(file, limits);
    case Format::Zstd:
        return zstdFacts(file, stop);
    case Format::Lzip:
        return lzipFacts(file);
    default: {
        std::array<std::byte, 16> head = {};
        const auto got = file.readAt(0, head);
        if (!got) {
            return std::unexpected(got.error());
        }
        return PackedFacts{.checked = hasCheck(format, std::span(head).first(*got))};
    }
    }
}

} // namespace burin
