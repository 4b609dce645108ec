// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "filedigest.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kStep = kMiB;

Result<void> addAll(const ImageFile& file, DigestSet& digests, const std::stop_token& stop,
                    const std::function<void(Bytes)>& progress)
{
    // Only advice; a file system that has no use for it is read all the same.
    (void)::posix_fadvise(file.fd(), 0, 0, POSIX_FADV_SEQUENTIAL);
    std::vector<std::byte> buffer(kStep);
    Offset offset = 0;
    while (offset < file.size()) {
        if (stop.stop_requested()) {
            return failure(ErrorCode::ImageUnreadable, ECANCELED, offset);
        }
        const auto want = static_cast<std::size_t>(std::min<Bytes>(kStep, file.size() - offset));
        const auto piece = std::span(buffer).first(want);
        const auto got = file.readAt(offset, piece);
        if (!got) {
            auto error = got.error();
            error.offset = offset;
            return std::unexpected(std::move(error));
        }
        if (*got < want) {
            return failure(ErrorCode::ImageTruncated, 0, offset + *got);
        }
        digests.add(piece);
        offset += want;
        if (progress) {
            progress(offset);
        }
    }
    return {};
}

} // namespace

Result<std::vector<DigestResult>> digestFile(const ImageFile& file, std::span<const DigestKind> kinds,
                                             const std::stop_token& stop,
                                             const std::function<void(Bytes)>& progress)
{
    auto digests = DigestSet::create(kinds);
    if (!digests) {
        return std::unexpected(std::move(digests.error()));
    }
    if (auto done = addAll(file, *digests, stop, progress); !done) {
        return std::unexpected(std::move(done.error()));
    }
    if (auto same = file.checkUnchanged(); !same) {
        return std::unexpected(std::move(same.error()));
    }
    return digests->results();
}

FileDigester::FileDigester(std::vector<DigestKind> kinds) : m_kinds(std::move(kinds)) { }

std::optional<std::vector<DigestResult>> FileDigester::results() const
{
    const std::scoped_lock lock(m_mutex);
    return m_results;
}

void FileDigester::keep(std::optional<std::vector<DigestResult>> results)
{
    const std::scoped_lock lock(m_mutex);
    m_results = std::move(results);
}

Result<void> FileDigester::restart()
{
    auto digests = DigestSet::create(m_kinds);
    if (!digests) {
        return std::unexpected(std::move(digests.error()));
    }
    m_digests = std::move(*digests);
    keep({});
    return {};
}

Result<void> FileDigester::readAll(const ImageFile& file, const std::stop_token& stop)
{
    auto results = digestFile(file, m_kinds, stop);
    if (!results) {
        return std::unexpected(std::move(results.error()));
    }
    keep(std::move(*results));
    return {};
}

Result<void> FileDigester::finish()
{
    auto results = m_digests.results();
    if (!results) {
        return std::unexpected(std::move(results.error()));
    }
    keep(std::move(*results));
    return {};
}

DigestingSource::DigestingSource(std::unique_ptr<ImageSource> file, std::shared_ptr<FileDigester> digester)
    : SourceFilter(std::move(file)), m_digester(std::move(digester))
{
}

Result<std::size_t> DigestingSource::read(std::span<std::byte> out)
{
    auto got = inner().read(out);
    if (got && !m_ended) {
        m_digester->add(out.first(*got));
        m_ended = *got < out.size();
        if (m_ended) {
            if (auto finished = m_digester->finish(); !finished) {
                return std::unexpected(std::move(finished.error()));
            }
        }
    }
    return got;
}

} // namespace burin
