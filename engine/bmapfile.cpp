// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The format is described in bmap-tools' own comment in every map that it writes; 1.4 is a 2.0 that was
// numbered too low.
#include "bmapfile.h"

#include "asciitext.h"
#include "imageformat.h"
#include "uniquefd.h"

#include <QByteArray>
#include <QXmlStreamReader>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <format>
#include <map>
#include <optional>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kMostRanges = std::size_t{1} << 18U;
constexpr Bytes kLargestImage = Bytes{1} << 50U;
constexpr Bytes kLeastBlock = 512;
constexpr Bytes kLargestBlock = 64 * kMiB;

struct Version {
    std::string_view name;
    bool sums = true;
    std::string_view fileSum;  ///< the element with the file's own sum
    std::string_view rangeSum; ///< the attribute of a range
};
constexpr std::array kVersions{Version{"1.2", false, "", ""}, Version{"1.3", true, "BmapFileSHA1", "sha1"},
                               Version{"1.4", true, "BmapFileChecksum", "chksum"},
                               Version{"2.0", true, "BmapFileChecksum", "chksum"}};

std::unexpected<FlashError> bad(std::string what)
{
    return failure(ErrorCode::BlockMapBad, std::move(what));
}

std::string trimmed(QStringView text)
{
    return text.trimmed().toUtf8().toStdString();
}

std::optional<std::uint64_t> number(std::string_view text)
{
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size() && value <= kLargestImage;
    return whole ? std::optional(value) : std::nullopt;
}

std::optional<DigestKind> kindNamed(std::string_view name)
{
    constexpr std::array<std::pair<std::string_view, DigestKind>, 4> kKinds{{{"md5", DigestKind::Md5},
                                                                             {"sha1", DigestKind::Sha1},
                                                                             {"sha256", DigestKind::Sha256},
                                                                             {"sha512", DigestKind::Sha512}}};
    const auto* const found = std::ranges::find(kKinds, name, [](const auto& kind) { return kind.first; });
    return found == kKinds.end() ? std::nullopt : std::optional(found->second);
}

/// Lower case; nothing if it is no digest of that kind.
std::optional<std::string> hexDigits(std::string_view text, DigestKind kind)
{
    const auto isHex = [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
    };
    if (text.size() != hexLength(kind) || !std::ranges::all_of(text, isHex)) {
        return {};
    }
    return lowerCase(text);
}

class Parser
{
public:
    explicit Parser(std::string_view text)
        : m_text(text), m_xml(QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size())))
    {
    }

    Result<UsedBlocks> parse();

private:
    [[nodiscard]] Result<void> readVersion();
    [[nodiscard]] Result<void> readFields();
    [[nodiscard]] Result<void> readRanges();
    [[nodiscard]] Result<void> addRange(const std::string& text, const std::string& sum);
    [[nodiscard]] Result<void> checkSize();
    [[nodiscard]] Result<void> checkOwnSum() const;
    [[nodiscard]] bool nextElement();
    [[nodiscard]] Result<std::string> text();
    [[nodiscard]] std::optional<std::uint64_t> field(const std::string& name) const;
    [[nodiscard]] std::string broken() const;

    struct Blocks {
        std::uint64_t first = 0;
        std::uint64_t last = 0;
        std::string sum;
    };

    std::string_view m_text;
    QXmlStreamReader m_xml;
    const Version* m_version = nullptr;
    std::map<std::string, std::string> m_fields;
    std::vector<Blocks> m_blocks;
    bool m_hasMap = false;
};

std::string Parser::broken() const
{
    return m_xml.hasError() ? m_xml.errorString().toStdString() : "something that no block map has";
}

/// On to the next element within this one. False at its end, and at what has no place in a block map.
bool Parser::nextElement()
{
    while (!m_xml.atEnd()) {
        switch (m_xml.readNext()) {
        case QXmlStreamReader::StartElement:
            return true;
        case QXmlStreamReader::Comment:
            break;
        case QXmlStreamReader::Characters:
            if (!m_xml.isWhitespace()) {
                m_xml.raiseError(QStringLiteral("text outside of its elements"));
            }
            break;
        case QXmlStreamReader::EndElement:
        case QXmlStreamReader::EndDocument:
            return false;
        case QXmlStreamReader::StartDocument:
            break;
        default: // a document type or entities: bmap-tools writes none
            if (!m_xml.hasError()) {
                m_xml.raiseError(QStringLiteral("something that no block map has"));
            }
            return false;
        }
    }
    return false;
}

Result<std::string> Parser::text()
{
    const std::string content = trimmed(m_xml.readElementText(QXmlStreamReader::ErrorOnUnexpectedElement));
    return m_xml.hasError() ? Result<std::string>(bad(broken())) : content;
}

std::optional<std::uint64_t> Parser::field(const std::string& name) const
{
    const auto found = m_fields.find(name);
    return found == m_fields.end() ? std::nullopt : number(found->second);
}

Result<void> Parser::readVersion()
{
    if (!nextElement() || m_xml.name() != QLatin1String("bmap")) {
        return bad(m_xml.hasError() ? broken() : "it is no block map");
    }
    const std::string name = trimmed(m_xml.attributes().value(QLatin1String("version")));
    const auto* const found = std::ranges::find(kVersions, name, &Version::name);
    if (found == kVersions.end()) {
        return bad("version \"" + name.substr(0, 20) + "\"");
    }
    m_version = found;
    return {};
}

Result<void> Parser::addRange(const std::string& text, const std::string& sum)
{
    const auto dash = text.find('-');
    const auto first = number(std::string_view(text).substr(0, dash));
    const auto last = dash == std::string::npos ? first : number(std::string_view(text).substr(dash + 1));
    if (!first || !last || *last < *first) {
        return bad("a range that is none: " + text.substr(0, 50));
    }
    if (!m_blocks.empty() && *first <= m_blocks.back().last) {
        return bad("ranges that overlap or are out of order, at block " + std::to_string(*first));
    }
    if (m_blocks.size() == kMostRanges) {
        return bad("too many ranges");
    }
    m_blocks.push_back({.first = *first, .last = *last, .sum = sum});
    return {};
}

Result<void> Parser::readRanges()
{
    m_hasMap = true;
    while (nextElement()) {
        if (m_xml.name() != QLatin1String("Range")) {
            return bad("an element that no block map has");
        }
        const QLatin1String attribute(m_version->rangeSum.data(),
                                      static_cast<qsizetype>(m_version->rangeSum.size()));
        const std::string sum =
            m_version->sums ? trimmed(m_xml.attributes().value(attribute)) : std::string();
        const auto content = text();
        if (!content) {
            return std::unexpected(content.error());
        }
        if (auto added = addRange(*content, sum); !added) {
            return added;
        }
    }
    return m_xml.hasError() ? Result<void>(bad(broken())) : Result<void>();
}

Result<void> Parser::readFields()
{
    static constexpr std::array<std::string_view, 7> kNames{
        "ImageSize",    "BlockSize",        "BlocksCount", "MappedBlocksCount",
        "ChecksumType", "BmapFileChecksum", "BmapFileSHA1"};
    while (nextElement()) {
        const std::string name = m_xml.name().toUtf8().toStdString();
        if (name == "BlockMap" && !m_hasMap) {
            if (auto read = readRanges(); !read) {
                return read;
            }
            continue;
        }
        const auto content = text();
        if (!content) {
            return std::unexpected(content.error());
        }
        if (!std::ranges::contains(kNames, name) || !m_fields.emplace(name, *content).second) {
            return bad("an element that is unknown or there twice: " + name.substr(0, 50));
        }
    }
    while (!m_xml.hasError() && !m_xml.atEnd()) { // what follows the root can only be comments
        if (nextElement()) {
            return bad("a second document");
        }
    }
    return m_xml.hasError() ? Result<void>(bad(broken())) : Result<void>();
}

/// The sizes agree with each other, and so do the counts with the ranges.
Result<void> Parser::checkSize()
{
    const auto size = field("ImageSize");
    const auto block = field("BlockSize");
    if (!m_hasMap || !size || !block || *size == 0) {
        return bad("no map, or no sizes");
    }
    if (!std::has_single_bit(*block) || *block < kLeastBlock || *block > kLargestBlock) {
        return bad("block size " + std::to_string(*block));
    }
    const auto count = alignUp(*size, *block) / *block;
    if (field("BlocksCount") != count) {
        return bad("a number of blocks that doesn't fit the image's size");
    }
    std::uint64_t mapped = 0;
    for (const auto& blocks : m_blocks) {
        mapped += blocks.last - blocks.first + 1;
    }
    if (!m_blocks.empty() && m_blocks.back().last >= count) {
        return bad("a range beyond the image's end");
    }
    if (field("MappedBlocksCount") != mapped) {
        return bad("a number of mapped blocks that doesn't fit the ranges");
    }
    return {};
}

/// The sum is that of the whole file with zeros in its own place.
Result<void> Parser::checkOwnSum() const
{
    const std::string element(m_version->fileSum);
    const auto found = m_fields.find(element);
    const auto type = m_fields.find("ChecksumType");
    const auto kind = m_version->name == "1.3" ? DigestKind::Sha1
        : type == m_fields.end()               ? std::nullopt
                                               : kindNamed(type->second);
    if (!kind) {
        return bad("a kind of checksum that is not known");
    }
    const auto sum = found == m_fields.end() ? std::nullopt : hexDigits(found->second, *kind);
    const auto open = m_text.find("<" + element);
    const auto at =
        sum && open != std::string_view::npos ? m_text.find(found->second, open) : std::string_view::npos;
    if (at == std::string_view::npos) {
        return bad("no checksum of its own");
    }
    auto digest = Digest::create(*kind);
    if (!digest) {
        return std::unexpected(digest.error());
    }
    const std::string zeros(sum->size(), '0');
    digest->add(std::as_bytes(std::span(m_text.substr(0, at))));
    digest->add(std::as_bytes(std::span(zeros)));
    digest->add(std::as_bytes(std::span(m_text.substr(at + zeros.size()))));
    return digest->hex() == *sum ? Result<void>() : bad("its own checksum doesn't match");
}

Result<UsedBlocks> Parser::parse()
{
    for (const auto step : {&Parser::readVersion, &Parser::readFields, &Parser::checkSize}) {
        if (auto done = (this->*step)(); !done) {
            return std::unexpected(done.error());
        }
    }
    if (m_version->sums) {
        if (auto right = checkOwnSum(); !right) {
            return std::unexpected(right.error());
        }
    }
    UsedBlocks used{.source = UsedBlocksSource::Bmap, .imageSize = *field("ImageSize")};
    used.sumKind = m_version->name == "1.3"
        ? DigestKind::Sha1
        : kindNamed(m_fields.contains("ChecksumType") ? m_fields.at("ChecksumType") : "")
              .value_or(DigestKind::Sha256);
    const auto block = *field("BlockSize");
    const auto hasSum = [](const Blocks& blocks) { return !blocks.sum.empty(); };
    const bool hasSums = std::ranges::any_of(m_blocks, hasSum); // bmap-tools can leave them out
    for (const auto& blocks : m_blocks) {
        const Offset begin = blocks.first * block;
        const Offset end = std::min((blocks.last + 1) * block, used.imageSize);
        used.ranges.push_back({.offset = begin, .length = end - begin});
        if (hasSums) {
            auto sum = hexDigits(blocks.sum, used.sumKind);
            if (!sum) {
                return bad("a range without its checksum, at block " + std::to_string(blocks.first));
            }
            used.sums.push_back(std::move(*sum));
        }
    }
    return used;
}

Result<std::string> readText(const std::string& path)
{
    // O_NONBLOCK: a fifo without a writer would wait.
    const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    struct stat st = {};
    if (!fd || ::fstat(fd.get(), &st) != 0) {
        return failure(ErrorCode::BlockMapBad, errno);
    }
    if (!S_ISREG(st.st_mode) || std::cmp_greater(st.st_size, kMostBmapBytes)) {
        return bad(S_ISREG(st.st_mode) ? "it is too large" : "it is no file");
    }
    std::string text(kMostBmapBytes + 1, '\0');
    std::size_t filled = 0;
    while (filled < text.size()) {
        const ssize_t n = ::read(fd.get(), text.data() + filled, text.size() - filled);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return failure(ErrorCode::BlockMapBad, errno);
        }
        if (n == 0) {
            text.resize(filled);
            return text;
        }
        filled += static_cast<std::size_t>(n);
    }
    return bad("it is too large");
}

} // namespace

Result<UsedBlocks> parseBmap(std::string_view text)
{
    if (text.size() > kMostBmapBytes) {
        return bad("it is too large");
    }
    return Parser(text).parse();
}

Result<std::shared_ptr<const UsedBlocks>> readBmap(const std::string& path)
{
    const auto text = readText(path);
    auto used = text ? parseBmap(*text) : std::unexpected(text.error());
    if (!used) {
        return std::unexpected(std::move(used.error()));
    }
    used->path = path;
    return std::make_shared<const UsedBlocks>(std::move(*used));
}

std::vector<std::string> bmapPathsFor(const std::string& imagePath)
{
    std::vector<std::string> paths{imagePath + ".bmap"};
    const auto slash = imagePath.rfind('/') + 1;
    std::string name = imagePath.substr(slash);
    const auto suffixes = packedSuffixes();
    for (bool dropped = true; dropped;) {
        dropped = false;
        for (const auto suffix : suffixes) {
            if (name.size() > suffix.size() && endsWithNoCase(name, suffix)) {
                name.resize(name.size() - suffix.size());
                paths.push_back(imagePath.substr(0, slash) + name + ".bmap");
                dropped = true;
                break;
            }
        }
    }
    return paths;
}

Result<std::string> bmapText(const UsedBlocks& used, Bytes blockSize)
{
    const std::string zeros(hexLength(DigestKind::Sha256), '0');
    std::uint64_t mapped = 0;
    std::string map;
    for (std::size_t i = 0; i < used.ranges.size(); ++i) {
        const auto first = used.ranges[i].offset / blockSize;
        const auto last = (used.ranges[i].end() - 1) / blockSize;
        mapped += last - first + 1;
        map += std::format("        <Range chksum=\"{}\"> {}{} </Range>\n", used.sums[i], first,
                           first == last ? std::string() : "-" + std::to_string(last));
    }
    std::string text =
        std::format("<?xml version=\"1.0\" ?>\n"
                    "<bmap version=\"2.0\">\n"
                    "    <ImageSize> {} </ImageSize>\n"
                    "    <BlockSize> {} </BlockSize>\n"
                    "    <BlocksCount> {} </BlocksCount>\n"
                    "    <MappedBlocksCount> {} </MappedBlocksCount>\n"
                    "    <ChecksumType> sha256 </ChecksumType>\n"
                    "    <BmapFileChecksum> ",
                    used.imageSize, blockSize, alignUp(used.imageSize, blockSize) / blockSize, mapped);
    const auto at = text.size();
    text += zeros + " </BmapFileChecksum>\n    <BlockMap>\n" + map + "    </BlockMap>\n</bmap>\n";
    auto digest = Digest::create(DigestKind::Sha256);
    if (!digest) {
        return std::unexpected(digest.error());
    }
    digest->add(std::as_bytes(std::span(text)));
    text.replace(at, zeros.size(), digest->hex());
    return text;
}

} // namespace burin
