// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imagesums.h"

#include "asciitext.h"
#include "uniquefd.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <set>
#include <utility>

namespace burin {

namespace {

// A download folder may hold 100 000 files. Sums files behind these are still found by their exact names.
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kMostSumsFiles = 64;
constexpr std::size_t kMostSums = 256; // no honest folder has so many for one image

constexpr std::array<std::string_view, 9> kPackedSuffixes{".xz",   ".gz",  ".bz2", ".zst", ".zstd",
                                                          ".lzma", ".lz4", ".zip", ".tar"};
constexpr std::array<std::string_view, 12> kImageSuffixes{
    ".img", ".iso", ".raw", ".bin", ".dd", ".wic", ".image", ".usb", ".vhd", ".vhdx", ".qcow2", ".vmdk"};
constexpr std::array<std::string_view, 5> kSignatureSuffixes{".asc", ".sig", ".gpg", ".sign", ".minisig"};

struct KindOfName {
    std::string_view name;
    std::optional<DigestKind> kind;
};
constexpr std::array kOwnSuffixes{
    KindOfName{".sha256", DigestKind::Sha256}, KindOfName{".sha256sum", DigestKind::Sha256},
    KindOfName{".sha512", DigestKind::Sha512}, KindOfName{".sha512sum", DigestKind::Sha512},
    KindOfName{".sha1", DigestKind::Sha1},     KindOfName{".sha1sum", DigestKind::Sha1},
    KindOfName{".md5", DigestKind::Md5},       KindOfName{".md5sum", DigestKind::Md5},
};
// In any letter case, with or without .txt. SHA256 is OpenBSD's, CHECKSUM.SHA256-RELEASE FreeBSD's.
constexpr std::array kListNames{
    KindOfName{"SHA256SUMS", DigestKind::Sha256},
    KindOfName{"SHA512SUMS", DigestKind::Sha512},
    KindOfName{"SHA1SUMS", DigestKind::Sha1},
    KindOfName{"MD5SUMS", DigestKind::Md5},
    KindOfName{"SHA256SUM", DigestKind::Sha256},
    KindOfName{"SHA512SUM", DigestKind::Sha512},
    KindOfName{"SHA1SUM", DigestKind::Sha1},
    KindOfName{"MD5SUM", DigestKind::Md5},
    KindOfName{"SHA256", DigestKind::Sha256},
    KindOfName{"SHA512", DigestKind::Sha512},
    KindOfName{"CHECKSUM.SHA256", DigestKind::Sha256},
    KindOfName{"CHECKSUM.SHA512", DigestKind::Sha512},
    KindOfName{"CHECKSUM", {}},
    KindOfName{"CHECKSUMS", {}},
};

/// Drops one of the suffixes unless nothing would be left.
template<std::size_t N> bool dropSuffix(std::string& name, const std::array<std::string_view, N>& suffixes)
{
    const auto found = std::ranges::find_if(suffixes, [&](std::string_view suffix) {
        return name.size() > suffix.size() && endsWithNoCase(name, suffix);
    });
    if (found == suffixes.end()) {
        return false;
    }
    name.resize(name.size() - found->size());
    return true;
}

struct ImageName {
    std::string folder{};             ///< as in the path, with the slash; empty for the working folder
    std::vector<std::string> names{}; ///< of the file, then with one compression suffix less each
    std::vector<std::string> stems{}; ///< what a sums file of the image's own is called before its suffix
};

ImageName nameOfImage(const std::string& path)
{
    const auto slash = path.rfind('/') + 1; // 0 without one
    ImageName image{.folder = path.substr(0, slash)};
    auto name = path.substr(slash);
    do {
        image.names.push_back(name);
    } while (dropSuffix(name, kPackedSuffixes));
    image.stems = image.names;
    if (dropSuffix(name, kImageSuffixes)) {
        image.stems.push_back(name);
    }
    return image;
}

/// The folder of an image, in which files are opened by their names only.
class Folder
{
public:
    explicit Folder(const std::string& path)
        : m_fd(::open(path.empty() ? "." : path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC))
    {
    }

    struct Listing {
        std::set<std::string> names{};
        bool complete = false;
    };
    [[nodiscard]] Listing list() const;
    [[nodiscard]] bool holdsFile(const std::string& name) const;

    struct Text {
        std::string text{};
        std::pair<dev_t, ino_t> file{};
    };
    /// Nothing for what is no regular file or longer than a sums file.
    [[nodiscard]] std::optional<Text> read(const std::string& name) const;

private:
    UniqueFd m_fd;
};

Folder::Listing Folder::list() const
{
    Listing listing;
    UniqueFd fd(::openat(m_fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct Close {
        void operator()(DIR* dir) const noexcept { ::closedir(dir); }
    };
    const std::unique_ptr<DIR, Close> dir(fd ? ::fdopendir(fd.get()) : nullptr);
    if (!dir) {
        return listing;
    }
    (void)fd.release(); // closedir() closes it
    for (std::size_t i = 0; i < kMostEntries; ++i) {
        errno = 0;
        const auto* entry = ::readdir(dir.get());
        if (!entry) {
            listing.complete = errno == 0;
            break;
        }
        listing.names.emplace(static_cast<const char*>(entry->d_name));
    }
    return listing;
}

bool Folder::holdsFile(const std::string& name) const
{
    struct stat st = {};
    return ::fstatat(m_fd.get(), name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode)
        && st.st_size > 0;
}

std::optional<Folder::Text> Folder::read(const std::string& name) const
{
    // O_NOFOLLOW: a link may lead out of the folder. O_NONBLOCK: a fifo without a writer would wait.
    const UniqueFd fd(
        ::openat(m_fd.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW));
    struct stat st = {};
    if (!fd || ::fstat(fd.get(), &st) != 0 || !S_ISREG(st.st_mode)
        || std::cmp_greater(st.st_size, kMaxSumsFile)) {
        return {};
    }
    Text text{.text = std::string(kMaxSumsFile + 1, '\0'), .file = {st.st_dev, st.st_ino}};
    std::size_t filled = 0;
    while (filled < text.text.size()) {
        const ssize_t n = ::read(fd.get(), text.text.data() + filled, text.text.size() - filled);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return {};
        }
        if (n == 0) {
            text.text.resize(filled);
            return text;
        }
        filled += static_cast<std::size_t>(n);
    }
    return {}; // has grown past the limit
}

/// A file that may hold sums, by its name.
struct Candidate {
    std::string name{};
    std::optional<DigestKind> kind{};
    bool own = false; ///< the image's own, no list
};

std::optional<Candidate> ownCandidate(const std::string& name, const ImageName& image)
{
    for (const auto& stem : image.stems) {
        if (!name.starts_with(stem)) {
            continue;
        }
        const auto suffix = std::string_view(name).substr(stem.size());
        for (const auto& own : kOwnSuffixes) {
            if (equalNoCase(own.name, suffix)) {
                return Candidate{.name = name, .kind = own.kind, .own = true};
            }
        }
    }
    return {};
}

std::optional<Candidate> listCandidate(const std::string& name)
{
    auto plain = std::string_view(name);
    if (endsWithNoCase(plain, ".txt")) {
        plain.remove_suffix(4);
    }
    for (const auto& list : kListNames) {
        const bool freeBsd = list.name.starts_with("CHECKSUM.") && plain.size() > list.name.size()
            && plain[list.name.size()] == '-' && equalNoCase(plain.substr(0, list.name.size()), list.name);
        if (freeBsd || equalNoCase(plain, list.name)) {
            return Candidate{.name = name, .kind = list.kind};
        }
    }
    if (endsWithNoCase(plain, "-CHECKSUM")) {
        return Candidate{.name = name};
    }
    return {};
}

/// The exact names to try in a folder that could not be listed to its end.
void addUsualNames(std::set<std::string>& names, const ImageName& image)
{
    for (const auto& stem : image.stems) {
        for (const auto& own : kOwnSuffixes) {
            names.insert(stem + std::string(own.name));
        }
    }
    for (const auto& list : kListNames) {
        for (const auto& name : {upperCase(list.name), lowerCase(list.name)}) {
            names.insert(name);
            names.insert(name + ".txt");
        }
    }
}

std::vector<Candidate> candidatesIn(const Folder& folder, const ImageName& image)
{
    auto [names, complete] = folder.list();
    if (!complete) {
        addUsualNames(names, image);
    }
    std::vector<Candidate> own;
    std::vector<Candidate> lists;
    for (const auto& name : names) {
        if (auto candidate = ownCandidate(name, image)) {
            own.push_back(std::move(*candidate));
        } else if (auto list = listCandidate(name)) {
            lists.push_back(std::move(*list));
        }
    }
    std::ranges::move(lists, std::back_inserter(own));
    return own;
}

std::string_view afterLast(std::string_view path, std::string_view separators)
{
    return path.substr(path.find_last_of(separators) + 1); // all of it without one
}

bool isForOneOf(const std::string& fileName, const std::set<std::string, std::less<>>& names)
{
    // A list made on Windows has backslashes, which in a name of this system are plain characters.
    return names.contains(afterLast(fileName, "/")) || names.contains(afterLast(fileName, "/\\"));
}

} // namespace

std::vector<KnownSum> findSums(const std::string& imagePath, std::span<const std::string> innerNames)
{
    const auto image = nameOfImage(imagePath);
    if (image.names.front().empty()) {
        return {};
    }
    const Folder folder(image.folder);
    std::set<std::string, std::less<>> wanted(image.names.begin(), image.names.end());
    for (const auto& inner : innerNames) {
        wanted.emplace(afterLast(inner, "/"));
    }
    wanted.erase(std::string());
    std::vector<KnownSum> sums;
    std::set<std::pair<dev_t, ino_t>> seen; // vfat has one file under two of the usual names
    for (const auto& candidate : candidatesIn(folder, image)) {
        const auto text = seen.size() < kMostSumsFiles ? folder.read(candidate.name) : std::nullopt;
        if (!text || !seen.insert(text->file).second) {
            continue;
        }
        for (auto& sum : parseSums(text->text, candidate.kind)) {
            if (sum.fileName.empty() ? !candidate.own : !isForOneOf(sum.fileName, wanted)) {
                continue;
            }
            sum.origin = image.folder + candidate.name;
            if (sums.size() < kMostSums && !std::ranges::contains(sums, sum)) {
                sums.push_back(std::move(sum));
            }
        }
    }
    return sums;
}

std::vector<std::string> findSignatures(const std::string& imagePath, std::span<const std::string> innerNames)
{
    const auto image = nameOfImage(imagePath);
    const Folder folder(image.folder);
    if (image.names.front().empty()) {
        return {};
    }
    auto signedNames = image.names;
    std::vector<std::string> found;
    for (const auto& sum : findSums(imagePath, innerNames)) {
        auto name = sum.origin.substr(image.folder.size());
        if (std::ranges::contains(signedNames, name)) {
            continue;
        }
        if (const auto text = folder.read(name); text && isClearSigned(text->text)) {
            found.push_back(sum.origin);
        }
        signedNames.push_back(std::move(name));
    }
    for (const auto& name : signedNames) {
        for (const auto suffix : kSignatureSuffixes) {
            auto signature = name + std::string(suffix);
            if (folder.holdsFile(signature)) {
                found.push_back(image.folder + signature);
            }
        }
    }
    return found;
}

bool isSumOfFile(const KnownSum& sum, const std::string& imagePath)
{
    const auto baseOf = [](std::string_view path) { return path.substr(path.find_last_of("/\\") + 1); };
    return !sum.fileName.empty() && baseOf(sum.fileName) == baseOf(imagePath);
}

std::optional<SumResult> judgeSums(std::span<const KnownSum> sums, std::span<const DigestResult> ofFile,
                                   std::span<const DigestResult> ofImage, const std::string& imagePath)
{
    const auto among = [](std::span<const DigestResult> digests, const KnownSum& sum) {
        return std::ranges::any_of(digests, [&](const DigestResult& digest) {
            return digest.kind == sum.kind && digest.hex == sum.hex;
        });
    };
    const auto differs = [&](const KnownSum& sum) {
        const auto ofItsKind = [&](const DigestResult& digest) { return digest.kind == sum.kind; };
        return (std::ranges::any_of(ofFile, ofItsKind) || std::ranges::any_of(ofImage, ofItsKind))
            && !among(ofFile, sum) && !among(ofImage, sum);
    };
    const auto first = [&](const auto& is) {
        const auto found = std::ranges::find_if(sums, is);
        return found == sums.end() ? std::optional<KnownSum>() : *found;
    };
    for (const auto& sum : sums) {
        const bool ofTheFile = among(ofFile, sum);
        if (ofTheFile || among(ofImage, sum)) {
            const auto contradicts = [&](const KnownSum& other) {
                return differs(other) && (!ofImage.empty() || isSumOfFile(other, imagePath));
            };
            return SumResult{
                .sum = sum, .ofFile = ofTheFile, .matches = true, .contradictedBy = first(contradicts)};
        }
    }
    const auto wrong = first(differs);
    return wrong ? SumResult{.sum = *wrong} : std::optional<SumResult>();
}

std::vector<DigestKind> kindsOf(std::span<const KnownSum> sums)
{
    std::vector<DigestKind> kinds;
    for (const auto& sum : sums) {
        if (!std::ranges::contains(kinds, sum.kind)) {
            kinds.push_back(sum.kind);
        }
    }
    return kinds;
}

} // namespace burin
