// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sevenzipmemory.h"

#include "littleendian.h"
#include "xzdecoder.h"

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <vector>

namespace burin {

namespace {

// Names and numbers are those of 7zFormat.txt in 7-Zip's sources (LZMA SDK).
enum Id : std::uint8_t {
    kEnd = 0x00,
    kHeader = 0x01,
    kArchiveProperties = 0x02,
    kAdditionalStreamsInfo = 0x03,
    kMainStreamsInfo = 0x04,
    kPackInfo = 0x06,
    kUnpackInfo = 0x07,
    kSize = 0x09,
    kCrc = 0x0a,
    kFolder = 0x0b,
    kUnpackSize = 0x0c,
    kEncodedHeader = 0x17,
};
constexpr std::uint32_t kLzma = 0x030101;
constexpr std::uint32_t kLzma2 = 0x21;
constexpr std::uint32_t kPpmd = 0x030401;

constexpr Bytes kSignatureHeader = 32;
constexpr Bytes kMostHeader = Bytes{16} * kMiB;
constexpr Bytes kMostItems = 100'000; // of streams and folders
constexpr Bytes kMostCoders = 32;     // of a folder; 7-Zip's own limit

/// Reads on; once something doesn't fit it only gives zeros.
class Cursor
{
public:
    explicit Cursor(std::span<const std::byte> data) : m_left(data) { }

    [[nodiscard]] bool failed() const { return m_failed; }
    std::span<const std::byte> take(Bytes size)
    {
        if (m_failed || size > m_left.size()) {
            m_failed = true;
            return {};
        }
        const auto taken = m_left.first(size);
        m_left = m_left.subspan(size);
        return taken;
    }
    std::uint8_t byte()
    {
        const auto one = take(1);
        return one.empty() ? std::uint8_t{0} : std::to_integer<std::uint8_t>(one.front());
    }
    /// As many bytes follow the first as it has leading ones; the rest of its bits are the highest.
    std::uint64_t number()
    {
        const auto first = byte();
        const auto more = static_cast<unsigned>(std::countl_one(first));
        const auto rest = take(more);
        std::uint64_t value = 0;
        for (std::size_t i = rest.size(); i-- > 0;) {
            value = value << 8U | std::to_integer<std::uint64_t>(rest[i]);
        }
        constexpr unsigned kWhole = 8;
        return more >= kWhole - 1 ? value : value | std::uint64_t{first & (0x7fU >> more)} << (8 * more);
    }
    std::uint64_t count(Bytes most)
    {
        const auto value = number();
        m_failed = m_failed || value > most;
        return m_failed ? 0 : value;
    }
    bool expect(Id id)
    {
        m_failed = m_failed || byte() != id;
        return !m_failed;
    }
    [[nodiscard]] bool takeIf(Id id)
    {
        const bool is = !m_failed && !m_left.empty() && m_left.front() == std::byte{id};
        if (is) {
            m_left = m_left.subspan(1);
        }
        return is;
    }

private:
    std::span<const std::byte> m_left;
    bool m_failed = false;
};

struct Folder {
    Bytes dictionary = 0;
    Bytes outputs = 0;
    std::optional<std::span<const std::byte>> lzma{}; ///< its properties, if LZMA is all that is used
    Bytes largest = 0;                                ///< of its unpacked streams
};

struct Streams {
    Offset packedAt = 0; ///< from the end of the signature header
    std::vector<Bytes> packed{};
    std::vector<Folder> folders{};
};

Bytes dictionaryOf(std::uint32_t codec, std::span<const std::byte> properties)
{
    if ((codec == kLzma || codec == kPpmd) && properties.size() >= 5) {
        return littleEndian<std::uint32_t>(properties, 1);
    }
    if (codec == kLzma2 && !properties.empty()) {
        const auto bits = std::to_integer<unsigned>(properties.front());
        constexpr unsigned kLargest = 40; // 4 GiB less one byte
        return Bytes{2U | (bits & 1U)} << (std::min(bits, kLargest) / 2 + 11);
    }
    return 0;
}

void skipDigests(Cursor& in, Bytes count)
{
    Bytes defined = count;
    if (in.byte() == 0) {
        defined = 0;
        for (const auto bits : in.take((count + 7) / 8)) {
            defined += static_cast<Bytes>(std::popcount(std::to_integer<unsigned>(bits)));
        }
    }
    (void)in.take(defined * 4);
}

void readPackInfo(Cursor& in, Streams& streams)
{
    streams.packedAt = in.number();
    const auto count = in.count(kMostItems);
    if (in.takeIf(kSize)) {
        for (Bytes i = 0; i < count && !in.failed(); ++i) {
            streams.packed.push_back(in.number());
        }
    }
    if (in.takeIf(kCrc)) {
        skipDigests(in, count);
    }
    in.expect(kEnd);
}

Folder readFolder(Cursor& in)
{
    Folder folder;
    Bytes inputs = 0;
    const auto coders = in.count(kMostCoders);
    for (Bytes i = 0; i < coders && !in.failed(); ++i) {
        const auto flags = in.byte();
        std::uint32_t codec = 0;
        for (const auto b : in.take(flags & 0x0fU)) {
            codec = codec << 8U | std::to_integer<std::uint32_t>(b);
        }
        const bool isComplex = (flags & 0x10U) != 0;
        inputs += isComplex ? in.count(kMostCoders) : 1;
        folder.outputs += isComplex ? in.count(kMostCoders) : 1;
        const auto properties = (flags & 0x20U) != 0 ? in.take(in.number()) : std::span<const std::byte>();
        folder.dictionary = std::max(folder.dictionary, dictionaryOf(codec, properties));
        if (coders == 1 && codec == kLzma && properties.size() == 5) {
            folder.lzma = properties;
        }
    }
    const Bytes bound = folder.outputs > 0 ? folder.outputs - 1 : 0;
    for (Bytes i = 0; i < 2 * bound; ++i) {
        (void)in.number();
    }
    for (Bytes i = bound; inputs > bound + 1 && i < inputs; ++i) {
        (void)in.number();
    }
    return folder;
}

void readUnpackInfo(Cursor& in, Streams& streams)
{
    in.expect(kFolder);
    const auto count = in.count(kMostItems);
    if (in.byte() != 0) { // kept in a stream elsewhere, which no program does
        (void)in.take(kMostHeader);
    }
    for (Bytes i = 0; i < count && !in.failed(); ++i) {
        streams.folders.push_back(readFolder(in));
    }
    in.expect(kUnpackSize);
    for (auto& folder : streams.folders) {
        for (Bytes i = 0; i < folder.outputs && !in.failed(); ++i) {
            folder.largest = std::max(folder.largest, in.number());
        }
    }
}

/// As far as the folders, behind which nothing is of use here.
std::optional<Streams> readStreams(Cursor& in)
{
    Streams streams;
    if (in.takeIf(kPackInfo)) {
        readPackInfo(in, streams);
    }
    if (in.takeIf(kUnpackInfo)) {
        readUnpackInfo(in, streams);
    }
    return in.failed() ? std::optional<Streams>() : streams;
}

Bytes memoryOf(const Streams& streams)
{
    Bytes most = 0;
    for (const auto& folder : streams.folders) {
        most = std::max(most, std::min(folder.dictionary, folder.largest)); // no more of it is ever filled
    }
    return most;
}

std::vector<std::byte> readAll(const FileRange& archive, Offset at, Bytes size)
{
    std::vector<std::byte> data;
    if (at <= archive.size() && size <= archive.size() - at && size <= kMostHeader) {
        data.resize(size);
        if (!archive.readExactlyAt(at, data)) {
            data.clear();
        }
    }
    return data;
}

/// A packed header, unpacked; empty if it isn't packed as 7-Zip does it.
std::vector<std::byte> unpackHeader(const FileRange& archive, const Streams& streams)
{
    if (streams.folders.empty() || !streams.folders.front().lzma || streams.packed.empty()
        || streams.folders.front().largest > kMostHeader || streams.packedAt > archive.size()) {
        return {};
    }
    const auto& folder = streams.folders.front();
    // The same properties stand behind four bytes in a zip's LZMA (APPNOTE 5.8.8), which the decoder knows.
    std::vector<std::byte> packed = {std::byte{9}, std::byte{20}, std::byte{5}, std::byte{0}};
    packed.insert(packed.end(), folder.lzma->begin(), folder.lzma->end());
    const auto data = readAll(archive, kSignatureHeader + streams.packedAt, streams.packed.front());
    packed.insert(packed.end(), data.begin(), data.end());
    auto decoder = XzDecoder::create(LzmaFraming::ZipLzma, {.memory = Bytes{64} * kMiB}, folder.largest);
    std::vector<std::byte> header(decoder ? folder.largest : 0);
    std::size_t taken = 0;
    std::size_t made = 0;
    while (made < header.size()) {
        const auto step =
            (*decoder)->decode(std::span(packed).subspan(taken), true, std::span(header).subspan(made));
        if (!step || (step->taken == 0 && step->made == 0)) {
            return {};
        }
        taken += step->taken;
        made += step->made;
    }
    return header;
}

Bytes memoryOfHeader(std::span<const std::byte> header)
{
    Cursor in(header);
    in.expect(kHeader);
    if (in.takeIf(kArchiveProperties)) {
        while (!in.failed() && in.byte() != kEnd) {
            (void)in.take(in.number());
        }
    }
    if (in.takeIf(kAdditionalStreamsInfo)) {
        return 0; // no program writes them
    }
    if (!in.takeIf(kMainStreamsInfo)) {
        return 0;
    }
    const auto streams = readStreams(in);
    return streams ? memoryOf(*streams) : 0;
}

} // namespace

Bytes sevenZipMemory(const FileRange& archive)
{
    std::array<std::byte, kSignatureHeader> start = {};
    if (!archive.readExactlyAt(0, start)) {
        return 0;
    }
    const auto offset = littleEndian<std::uint64_t>(start, 12);
    if (offset > archive.size()) {
        return 0;
    }
    auto header = readAll(archive, kSignatureHeader + offset, littleEndian<std::uint64_t>(start, 20));
    Bytes most = 0;
    // A header may be packed more than once.
    for (int turn = 0; turn < 4 && !header.empty() && header.front() == std::byte{kEncodedHeader}; ++turn) {
        Cursor in(std::span<const std::byte>(header).subspan(1));
        const auto streams = readStreams(in);
        if (!streams) {
            return most;
        }
        most = std::max(most, memoryOf(*streams));
        header = unpackHeader(archive, *streams);
    }
    return std::max(most, memoryOfHeader(header));
}

} // namespace burin
