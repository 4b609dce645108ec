// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imagefile.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace burin {

namespace {

std::int64_t nanoseconds(const timespec& t)
{
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

FileIdentity identityOf(const struct stat& st)
{
    return {.device = st.st_dev,
            .inode = st.st_ino,
            .size = static_cast<Bytes>(st.st_size),
            .modifiedNs = nanoseconds(st.st_mtim),
            .changedNs = nanoseconds(st.st_ctim)};
}

Result<void> checkKind(const struct stat& st)
{
    if (S_ISREG(st.st_mode)) {
        return {};
    }
    if (S_ISDIR(st.st_mode)) {
        return failure(ErrorCode::ImageUnreadable, EISDIR, {}, "directory");
    }
    return failure(ErrorCode::ImageUnreadable, S_ISBLK(st.st_mode) ? "block device" : "special file");
}

} // namespace

ImageFile::ImageFile(UniqueFd fd, const FileIdentity& identity)
    : m_fd(std::move(fd)), m_identity(identity) { }

Result<std::shared_ptr<const ImageFile>> ImageFile::open(const std::string& path)
{
    // O_NONBLOCK: opening a fifo that nobody writes to would wait for ever. It means nothing for a file.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd) {
        return failure(ErrorCode::ImageUnreadable, errno);
    }
    struct stat st = {};
    if (::fstat(fd.get(), &st) != 0) {
        return failure(ErrorCode::ImageUnreadable, errno);
    }
    if (const auto kind = checkKind(st); !kind) {
        return std::unexpected(kind.error());
    }
    if (st.st_size == 0) {
        return failure(ErrorCode::ImageEmpty);
    }
    return std::shared_ptr<const ImageFile>(new ImageFile(std::move(fd), identityOf(st)));
}

Result<std::size_t> ImageFile::readAt(Offset offset, std::span<std::byte> out) const
{
    std::size_t filled = 0;
    while (filled < out.size()) {
        const auto at = static_cast<off_t>(offset + filled);
        const ssize_t n = ::pread(m_fd.get(), out.data() + filled, out.size() - filled, at);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return failure(ErrorCode::ImageUnreadable, errno);
        }
        if (n == 0) {
            break;
        }
        filled += static_cast<std::size_t>(n);
    }
    return filled;
}

Result<void> ImageFile::checkUnchanged() const
{
    struct stat st = {};
    if (::fstat(m_fd.get(), &st) != 0) {
        return failure(ErrorCode::ImageUnreadable, errno);
    }
    if (identityOf(st) != m_identity) {
        return failure(ErrorCode::ImageChanged);
    }
    return {};
}

} // namespace burin
