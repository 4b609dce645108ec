// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "digest.h"
#include "imagefile.h"
#include "sourcefilter.h"

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

namespace burin {

/// The digests of a file as it lies on the disk, in the order of `kinds`, from one read.
/// `progress` is told the bytes read so far, in this thread. Errors: ImageTruncated if the file became
/// shorter, ImageChanged if it is another than when it was opened, ImageUnreadable, with ECANCELED when
/// `stop` was requested; Internal for a kind that OpenSSL doesn't offer.
[[nodiscard]] Result<std::vector<DigestResult>> digestFile(const ImageFile& file,
                                                           std::span<const DigestKind> kinds,
                                                           const std::stop_token& stop,
                                                           const std::function<void(Bytes)>& progress = {});

/// Takes the digests of a file while a job reads it, so that it isn't read twice.
class FileDigester
{
public:
    explicit FileDigester(std::vector<DigestKind> kinds);

    /// Set once the whole file has passed. From any thread.
    [[nodiscard]] std::optional<std::vector<DigestResult>> results() const;

    /// From the beginning again.
    [[nodiscard]] Result<void> restart();
    void add(std::span<const std::byte> data) { m_digests.add(data); }
    [[nodiscard]] Result<void> finish();
    /// Reads the file now: for containers, which a job doesn't read from the beginning to the end.
    [[nodiscard]] Result<void> readAll(const ImageFile& file, const std::stop_token& stop);

private:
    void keep(std::optional<std::vector<DigestResult>> results);

    std::vector<DigestKind> m_kinds;
    DigestSet m_digests;
    mutable std::mutex m_mutex;
    std::optional<std::vector<DigestResult>> m_results;
};

/// Shows a digester all that is read of a file.
class DigestingSource final : public SourceFilter
{
public:
    DigestingSource(std::unique_ptr<ImageSource> file, std::shared_ptr<FileDigester> digester);

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;

private:
    std::shared_ptr<FileDigester> m_digester;
    bool m_ended = false;
};

} // namespace burin
