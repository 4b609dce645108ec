// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "archivereader.h"

#include "littleendian.h"

#include <archive.h>
#include <archive_entry.h>
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <string_view>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kBufferSize = 256 * kKiB;

FlashError errorOf(ErrorCode code, std::string detail = {})
{
    return {.code = code, .detail = std::move(detail)};
}

/// The directory of a 7z is at its end, and the first 32 bytes say where (7-Zip's 7zFormat.txt): libarchive
/// calls a file cut short damaged.
Result<void> check7zIsWhole(const FileRange& place)
{
    std::array<std::byte, 32> header = {};
    if (const auto got = place.readExactlyAt(0, header); !got) {
        return got;
    }
    const auto claimed = littleEndian<std::uint32_t>(header, 8);
    const auto start = std::span(header).subspan(12);
    if (crc32_z(0, reinterpret_cast<const Bytef*>(start.data()), start.size()) != claimed) {
        return failure(ErrorCode::ImageCorrupt, "7z header");
    }
    const auto offset = littleEndian<std::uint64_t>(header, 12);
    const auto size = littleEndian<std::uint64_t>(header, 20);
    const Bytes behind = place.size() - header.size();
    if (offset > behind || size > behind - offset) {
        return failure(ErrorCode::ImageTruncated);
    }
    return {};
}

} // namespace

void ArchiveReader::Free::operator()(struct archive* reader) const noexcept
{
    archive_read_free(reader);
}

ArchiveReader::ArchiveReader(std::unique_ptr<ImageSource> stream, FileRange place)
    : m_stream(std::move(stream)), m_place(std::move(place)), m_buffer(kBufferSize),
      m_archive(archive_read_new())
{
}

ArchiveReader::~ArchiveReader() = default;

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(std::unique_ptr<ImageSource> stream)
{
    std::unique_ptr<ArchiveReader> reader(new ArchiveReader(std::move(stream), {}));
    auto begun = reader->begin(Format::Tar);
    return begun ? Result<std::unique_ptr<ArchiveReader>>(std::move(reader)) : std::unexpected(begun.error());
}

Result<std::unique_ptr<ArchiveReader>> ArchiveReader::open(Format format, FileRange place)
{
    if (format == Format::SevenZip) {
        if (const auto whole = check7zIsWhole(place); !whole) {
            return std::unexpected(whole.error());
        }
    }
    std::unique_ptr<ArchiveReader> reader(new ArchiveReader({}, std::move(place)));
    auto begun = reader->begin(format);
    return begun ? Result<std::unique_ptr<ArchiveReader>>(std::move(reader)) : std::unexpected(begun.error());
}

Result<void> ArchiveReader::begin(Format format)
{
    auto* reader = m_archive.get();
    if (!reader) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    const int known = format == Format::SevenZip ? archive_read_support_format_7zip(reader)
                                                 : archive_read_support_format_tar(reader);
    archive_read_set_callback_data(reader, this);
    archive_read_set_read_callback(reader, &ArchiveReader::onRead);
    if (!m_stream) {
        archive_read_set_skip_callback(reader, &ArchiveReader::onSkip);
        archive_read_set_seek_callback(reader, &ArchiveReader::onSeek);
    }
    if (known != ARCHIVE_OK || archive_read_open1(reader) != ARCHIVE_OK) {
        return std::unexpected(error());
    }
    return {};
}

// Fills the buffer with what comes next; 0 at the end.
Result<std::size_t> ArchiveReader::fetch()
{
    if (m_interrupted) {
        return failure(ErrorCode::ImageUnreadable, ECANCELED);
    }
    if (m_ended) {
        return 0;
    }
    const auto got = m_stream ? m_stream->read(m_buffer) : m_place.readAt(m_at, m_buffer);
    if (!got) {
        m_failed = got.error();
        return got;
    }
    m_ended = m_stream && *got < m_buffer.size();
    m_at += *got;
    return got;
}

ssize_t ArchiveReader::onRead(struct archive* reader, void* self, const void** data)
{
    auto* that = static_cast<ArchiveReader*>(self);
    const auto got = that->fetch();
    if (!got) {
        that->m_failed = got.error();
        archive_set_error(reader, EIO, "input");
        return -1;
    }
    *data = that->m_buffer.data();
    return static_cast<ssize_t>(*got);
}

std::int64_t ArchiveReader::onSkip(struct archive* /*reader*/, void* self, std::int64_t count)
{
    auto* that = static_cast<ArchiveReader*>(self);
    const Bytes left = that->m_place.size() - std::min<Bytes>(that->m_at, that->m_place.size());
    const auto step = static_cast<std::int64_t>(std::min<Bytes>(static_cast<Bytes>(count), left));
    that->m_at += static_cast<Offset>(step);
    return step;
}

std::int64_t ArchiveReader::onSeek(struct archive* reader, void* self, std::int64_t offset, int whence)
{
    auto* that = static_cast<ArchiveReader*>(self);
    const auto size = static_cast<std::int64_t>(that->m_place.size());
    const auto base = whence == SEEK_SET ? 0
        : whence == SEEK_CUR             ? static_cast<std::int64_t>(that->m_at.load())
                                         : size;
    std::int64_t target = 0;
    if (__builtin_add_overflow(base, offset, &target) || target < 0) {
        archive_set_error(reader, EINVAL, "seek out of range");
        return ARCHIVE_FATAL;
    }
    that->m_at = static_cast<Offset>(target);
    return target;
}

// What libarchive found, of which it tells the kind only in words.
FlashError ArchiveReader::error()
{
    if (m_failed) {
        return *m_failed;
    }
    const char* said = archive_error_string(m_archive.get());
    const std::string words = said ? said : "";
    if (archive_errno(m_archive.get()) == ENOMEM) {
        return errorOf(ErrorCode::ImageNeedsMemory);
    }
    if (words.contains("runcated")) {
        return errorOf(ErrorCode::ImageTruncated, words);
    }
    if (words.contains("ncrypted") || words.contains("Crypto")) {
        return errorOf(ErrorCode::ImageEncrypted);
    }
    if (words.contains("nsupported") || words.contains("not supported")) {
        return errorOf(ErrorCode::ImageUnsupported, "an archive of this kind (" + words + ")");
    }
    return errorOf(ErrorCode::ImageCorrupt, words);
}

Result<std::optional<ArchiveReader::Entry>> ArchiveReader::next()
{
    struct archive_entry* entry = nullptr;
    // A warning is about a name or an attribute that can't be told in this locale.
    const int result = archive_read_next_header(m_archive.get(), &entry);
    if (result == ARCHIVE_EOF) {
        return std::nullopt;
    }
    if (result != ARCHIVE_OK && result != ARCHIVE_WARN) {
        return std::unexpected(error());
    }
    const char* path = archive_entry_pathname_utf8(entry);
    if (!path) {
        path = archive_entry_pathname(entry);
    }
    const auto size = archive_entry_size(entry);
    Entry found = {.path = path ? path : "",
                   .size = size > 0 ? static_cast<Bytes>(size) : 0,
                   .isFile = archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry),
                   .encrypted = archive_entry_is_data_encrypted(entry) == 1};
    m_entrySize = found.size;
    m_hasHoles = archive_entry_sparse_count(entry) > 0;
    m_position = 0;
    m_block = {};
    m_blockAt = 0;
    m_dataEnded = false;
    return found;
}

Result<void> ArchiveReader::nextBlock()
{
    const void* data = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    const int result = archive_read_data_block(m_archive.get(), &data, &size, &offset);
    m_dataEnded = result == ARCHIVE_EOF;
    if (!m_dataEnded && result != ARCHIVE_OK) { // a wrong checksum is only a "warning"
        return std::unexpected(error());
    }
    m_block =
        m_dataEnded ? std::span<const std::byte>() : std::span(static_cast<const std::byte*>(data), size);
    m_blockAt = m_dataEnded ? m_entrySize : static_cast<Offset>(offset);
    const bool fits =
        m_blockAt >= m_position && m_blockAt <= m_entrySize && m_block.size() <= m_entrySize - m_blockAt;
    if (!fits || (m_blockAt > m_position && !m_hasHoles)) {
        return failure(ErrorCode::ImageCorrupt, "length");
    }
    return {};
}

Result<std::size_t> ArchiveReader::read(std::span<std::byte> out)
{
    std::size_t filled = 0;
    while (filled < out.size()) {
        if (m_block.empty() && !m_dataEnded) {
            if (const auto next = nextBlock(); !next) {
                return std::unexpected(next.error());
            }
        }
        const auto room = out.subspan(filled);
        const auto hole = static_cast<std::size_t>(std::min<Bytes>(room.size(), m_blockAt - m_position));
        std::ranges::fill(room.first(hole), std::byte{0});
        const auto piece = std::min(room.size() - hole, m_block.size());
        std::ranges::copy(m_block.first(piece), room.begin() + static_cast<std::ptrdiff_t>(hole));
        m_block = m_block.subspan(piece);
        m_blockAt += piece;
        m_position += hole + piece;
        filled += hole + piece;
        if (m_dataEnded && m_position == m_entrySize) {
            break;
        }
    }
    return filled;
}

Result<void> ArchiveReader::finish()
{
    while (m_stream && !m_ended) {
        if (const auto got = fetch(); !got) {
            return std::unexpected(got.error());
        }
    }
    return checkUnchanged();
}

Bytes ArchiveReader::consumed() const noexcept
{
    return m_stream ? m_stream->consumed() : std::min<Bytes>(m_at, m_place.size());
}

Bytes ArchiveReader::fileSize() const noexcept
{
    return m_stream ? m_stream->fileSize() : m_place.size();
}

Result<void> ArchiveReader::checkUnchanged() const
{
    return m_stream ? m_stream->checkUnchanged() : m_place.file->checkUnchanged();
}

void ArchiveReader::interrupt() noexcept
{
    m_interrupted = true;
    if (m_stream) {
        m_stream->interrupt();
    }
}

ArchiveMemberSource::ArchiveMemberSource(std::unique_ptr<ArchiveReader> reader, Bytes size)
    : m_reader(std::move(reader)), m_size(size)
{
}

Result<std::size_t> ArchiveMemberSource::read(std::span<std::byte> out)
{
    if (m_failed) {
        return std::unexpected(*m_failed);
    }
    auto got = m_finished ? Result<std::size_t>(0) : m_reader->read(out);
    if (got && *got < out.size() && !m_finished) {
        m_finished = true;
        if (const auto ended = m_reader->finish(); !ended) {
            got = std::unexpected(ended.error());
        }
    }
    if (!got) {
        const auto unchanged = m_reader->checkUnchanged();
        FlashError error = unchanged ? got.error() : unchanged.error();
        error.offset = m_done;
        m_failed = error; // what failed once is never taken for an end later
        return std::unexpected(error);
    }
    m_done += *got;
    return got;
}

} // namespace burin
