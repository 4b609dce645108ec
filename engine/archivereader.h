// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "filerange.h"
#include "imageprobe.h"
#include "imagesource.h"

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

struct archive;

namespace burin {

/// Goes through a tar or 7z archive by libarchive, which streams what KArchive can't: K7Zip unpacks a member
/// into memory, KTar knows neither sparse members nor sizes of 8 GiB and more (KArchive 6.13). One thread,
/// but for interrupt() and consumed().
class ArchiveReader
{
public:
    struct Entry {
        std::string path; ///< the bytes that stand there, or their UTF-8
        Bytes size = 0;
        bool isFile = false;
        bool encrypted = false;
    };

    /// A tar that comes out of another source, from its beginning.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveReader>> open(std::unique_ptr<ImageSource> stream);
    /// A tar or 7z that lies open in a file; what isn't wanted is passed over.
    [[nodiscard]] static Result<std::unique_ptr<ArchiveReader>> open(Format format, FileRange place);
    ~ArchiveReader();
    ArchiveReader(const ArchiveReader&) = delete;
    ArchiveReader& operator=(const ArchiveReader&) = delete;

    /// The next entry, nothing at the end. ImageTruncated, ImageCorrupt, ImageEncrypted, ImageUnsupported,
    /// and the stream's own errors.
    [[nodiscard]] Result<std::optional<Entry>> next();
    /// Fills `out` with the entry's data, holes as zeros, unless they end; returns the bytes filled. The
    /// checks that the format has are done when the end is met.
    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out);
    /// Reads the stream to its end, so that its own checks are done for everything that came out of it, and
    /// looks whether the file is the same.
    [[nodiscard]] Result<void> finish();

    [[nodiscard]] Bytes consumed() const noexcept;
    [[nodiscard]] Bytes fileSize() const noexcept;
    [[nodiscard]] Result<void> checkUnchanged() const;
    void interrupt() noexcept;

private:
    ArchiveReader(std::unique_ptr<ImageSource> stream, FileRange place);
    [[nodiscard]] Result<void> begin(Format format);
    [[nodiscard]] Result<std::size_t> fetch();
    /// Sets m_block to the entry's next one; what lies before it is a hole.
    [[nodiscard]] Result<void> nextBlock();
    [[nodiscard]] FlashError error();

    static ssize_t onRead(struct archive* reader, void* self, const void** data);
    static std::int64_t onSkip(struct archive* reader, void* self, std::int64_t count);
    static std::int64_t onSeek(struct archive* reader, void* self, std::int64_t offset, int whence);

    struct Free {
        void operator()(struct archive* reader) const noexcept;
    };

    std::unique_ptr<ImageSource> m_stream; ///< or, where there is none:
    FileRange m_place;
    std::atomic<Offset> m_at = 0; ///< in m_place
    std::vector<std::byte> m_buffer;
    std::optional<FlashError> m_failed; ///< of the input
    std::atomic<bool> m_interrupted = false;
    bool m_ended = false; ///< the stream
    std::unique_ptr<struct archive, Free> m_archive;

    Bytes m_entrySize = 0;
    bool m_hasHoles = false;
    Offset m_position = 0; ///< in the entry
    std::span<const std::byte> m_block;
    Offset m_blockAt = 0;
    bool m_dataEnded = false;
};

/// One file of an archive.
class ArchiveMemberSource final : public ImageSource
{
public:
    /// `reader` has come to the entry.
    ArchiveMemberSource(std::unique_ptr<ArchiveReader> reader, Bytes size);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_size; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_reader->consumed(); }
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_reader->fileSize(); }
    [[nodiscard]] Result<void> checkUnchanged() const override { return m_reader->checkUnchanged(); }
    void interrupt() noexcept override { m_reader->interrupt(); }

private:
    std::unique_ptr<ArchiveReader> m_reader;
    Bytes m_size;
    Bytes m_done = 0;
    bool m_finished = false;
    std::optional<FlashError> m_failed;
};

} // namespace burin
