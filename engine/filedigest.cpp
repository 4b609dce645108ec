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

Result<std::vector<Digest>> startAll(std::span<const DigestKind> kinds)
{
    std::vector<Digest> digests;
    digests.reserve(kinds.size());
    for (const auto kind : kinds) {
        auto digest = Digest::create(kind);
        if (!digest) {
            return std::unexpected(std::move(digest.error()));
        }
        digests.push_back(std::move(*digest));
    }
    return digests;
}

Result<void> addAll(const ImageFile& file, std::span<Digest> digests, const std::stop_token& stop,
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
        for (auto& digest : digests) {
            digest.add(piece);
        }
        offset += want;
        if (progress) {
            progress(offset);
        }
    }
    return {};
}

} // namespace

Result<std::vector<std::string>> digestFile(const ImageFile& file, std::span<const DigestKind> kinds,
                                            const std::stop_token& stop,
                                            const std::function<void(Bytes)>& progress)
{
    auto digests = startAll(kinds);
    if (!digests) {
        return std::unexpected(std::move(digests.error()));
    }
    if (auto done = addAll(file, *digests, stop, progress); !done) {
        return std::unexpected(std::move(done.error()));
    }
    if (auto same = file.checkUnchanged(); !same) {
        return std::unexpected(std::move(same.error()));
    }
    std::vector<std::string> sums;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        sums.push_back((*digests)[i].hex());
        if (sums.back().empty()) {
            return failure(ErrorCode::Internal, std::string(nameOf(kinds[i])));
        }
    }
    return sums;
}

} // namespace burin
