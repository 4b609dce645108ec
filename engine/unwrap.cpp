// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "unwrap.h"

#include "archivechoice.h"
#include "archivereader.h"
#include "compressedsource.h"
#include "crcsource.h"
#include "imageformat.h"
#include "packedfacts.h"
#include "rawsource.h"
#include "sevenzipmemory.h"
#include "virtualdisk.h"
#include "zipdirectory.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace burin {

namespace {

using Source = std::unique_ptr<ImageSource>;

constexpr std::size_t kMostLayers = 4; // a tar.xz in a zip, and one to spare
// How long a packed tar is gone through for its largest image; what was found until then is chosen from.
constexpr std::chrono::seconds kTarWalkMost{4};

using Wrap = std::function<Result<Source>(Source)>;

/// An archive in an open file if there is a place, else in what the stream delivers.
Result<std::unique_ptr<ArchiveReader>> openArchive(Format format, const std::optional<FileRange>& place,
                                                   Source stream)
{
    return place ? ArchiveReader::open(format, *place) : ArchiveReader::open(std::move(stream));
}

/// The path of the wanted file; where none is, of the first that is called like an image. The reader has
/// come to it.
Result<ArchiveReader::Entry> findEntry(ArchiveReader& reader, const std::string& wanted)
{
    for (;;) {
        auto entry = reader.next();
        if (!entry) {
            return std::unexpected(entry.error());
        }
        if (!*entry) {
            return failure(ErrorCode::ImageNoMember, wanted);
        }
        const bool isIt = wanted.empty() ? likenessOf((*entry)->path, (*entry)->size) == Likeness::Image
                                         : (*entry)->path == wanted;
        if ((*entry)->isFile && isIt) {
            return (*entry)->encrypted ? Result<ArchiveReader::Entry>(failure(ErrorCode::ImageEncrypted))
                                       : std::move(**entry);
        }
    }
}

class Unwrapper
{
public:
    Unwrapper(ImageRoot root, const UnwrapOptions& options);
    Result<UnwrappedImage> run();

private:
    [[nodiscard]] Result<std::optional<Format>> nextFormat();
    [[nodiscard]] Result<void> takeOff(Format format);
    [[nodiscard]] Result<void> takeStream(Format format);
    [[nodiscard]] Result<void> takeZip();
    [[nodiscard]] Result<void> takeArchive(Format format);
    [[nodiscard]] Result<void> takeVirtualDisk(Format format);
    [[nodiscard]] Result<ArchiveChoice> listArchive(Format format);
    /// Puts another source around the one there is.
    [[nodiscard]] Result<void> apply(const Wrap& wrap);
    [[nodiscard]] std::string wantedMember() const;
    void enter(Format format, const std::string& member, const ArchiveChoice* choice);

    const UnwrapOptions& m_options;
    std::unique_ptr<PeekSource> m_source;
    std::optional<FileRange> m_open;            ///< where m_source's bytes lie as they are
    std::function<Result<Source>()> m_reopen{}; ///< the same bytes once more; none for pipes and URLs
    std::vector<ImageLayer> m_layers;
    std::vector<ImageCandidate> m_candidates;
    std::size_t m_containers = 0;
    bool m_checked = false;
};

Unwrapper::Unwrapper(ImageRoot root, const UnwrapOptions& options) : m_options(options)
{
    if (auto* stream = std::get_if<Source>(&root)) {
        m_source = std::make_unique<PeekSource>(std::move(*stream));
        return;
    }
    m_open = std::get<FileRange>(root);
    m_reopen = [place = *m_open, digester = options.digester]() -> Result<Source> {
        Source raw = std::make_unique<RawSource>(place);
        if (!digester) {
            return raw;
        }
        if (auto ready = digester->restart(); !ready) {
            return std::unexpected(std::move(ready.error()));
        }
        return std::make_unique<DigestingSource>(std::move(raw), digester);
    };
    m_source = std::make_unique<PeekSource>(std::make_unique<RawSource>(*m_open));
}

Result<void> Unwrapper::apply(const Wrap& wrap)
{
    Result<Source> next;
    if (m_reopen) {
        m_reopen = [inner = std::move(m_reopen), wrap] {
            auto packed = inner();
            return packed ? wrap(std::move(*packed)) : std::move(packed);
        };
        next = m_reopen();
    } else {
        next = wrap(std::move(m_source));
    }
    if (!next) {
        return std::unexpected(next.error());
    }
    m_open.reset();
    m_source = std::make_unique<PeekSource>(std::move(*next));
    return {};
}

std::string Unwrapper::wantedMember() const
{
    return m_containers < m_options.members.size() ? m_options.members[m_containers] : std::string();
}

void Unwrapper::enter(Format format, const std::string& member, const ArchiveChoice* choice)
{
    if (m_containers++ == 0 && choice) {
        m_candidates = choice->candidates();
    }
    m_layers.push_back({.format = format, .member = member});
}

Result<std::optional<Format>> Unwrapper::nextFormat()
{
    const auto head = m_source->peek(kFormatHead);
    if (!head) {
        return std::unexpected(head.error());
    }
    std::vector<std::byte> tail(m_open && m_open->size() >= kFormatTail ? kFormatTail : 0);
    if (!tail.empty()) {
        if (const auto got = m_open->readExactlyAt(m_open->size() - tail.size(), tail); !got) {
            return std::unexpected(got.error());
        }
    }
    const auto format = formatOf(*head, tail);
    if (format) {
        return format;
    }
    if (auto foreign = foreignFormat(*head)) {
        return failure(ErrorCode::ImageUnsupported, std::move(*foreign));
    }
    return std::nullopt;
}

Result<void> Unwrapper::takeStream(Format format)
{
    PackedFacts facts;
    if (m_open) {
        auto found = packedFacts(*m_open, format, m_options.limits, m_options.stop);
        if (!found) {
            return std::unexpected(found.error());
        }
        facts = *found;
    } else {
        facts.checked = hasCheck(format, m_source->peek(kFormatHead).value_or(std::span<const std::byte>()));
    }
    m_checked = m_checked || facts.checked;
    m_layers.push_back({.format = format});
    const auto after = m_options.judgedBySum ? DataAfterEnd::PassedOver : DataAfterEnd::Damage;
    return apply([format, limits = m_options.limits, facts, after](Source packed) -> Result<Source> {
        auto decoder = makeDecoder(format, limits);
        if (!decoder) {
            return std::unexpected(decoder.error());
        }
        return std::make_unique<CompressedSource>(std::move(packed), std::move(*decoder), facts.unpackedSize,
                                                  after);
    });
}

Result<void> Unwrapper::takeZip()
{
    const auto members = readZipDirectory(*m_open);
    if (!members) {
        return std::unexpected(members.error());
    }
    ArchiveChoice choice;
    for (const auto& member : *members) {
        choice.add(member.path, member.size);
    }
    const auto chosen = choice.choose(wantedMember());
    if (!chosen) {
        return std::unexpected(chosen.error());
    }
    const auto found = std::ranges::find_if(*members, [&](const ZipMember& member) {
        return member.path == chosen->member && member.size == chosen->size;
    });
    const auto member = locateZipMember(*m_open, *found);
    if (!member) {
        return std::unexpected(member.error());
    }
    enter(Format::Zip, member->path, &choice);
    m_checked = true;
    const FileRange packed = m_open->part(member->packed);
    const auto applied = apply([packed, member = *member, limits = m_options.limits](Source) {
        return openZipMember(packed, member, limits);
    });
    if (applied && member->method == kZipStored) {
        m_open = packed; // can be read anywhere; from its beginning to its end it goes through the CRC
    }
    return applied;
}

/// Goes through the archive once only to see what is in it.
Result<ArchiveChoice> Unwrapper::listArchive(Format format)
{
    Result<Source> stream = m_open ? Result<Source>() : m_reopen();
    if (!stream) {
        return std::unexpected(stream.error());
    }
    const auto reader = openArchive(format, m_open, std::move(*stream));
    if (!reader) {
        return std::unexpected(reader.error());
    }
    const auto deadline = std::chrono::steady_clock::now() + kTarWalkMost;
    ArchiveChoice choice;
    for (;;) {
        const auto entry = (*reader)->next();
        if (!entry) {
            return std::unexpected(entry.error());
        }
        if (!*entry) {
            return choice;
        }
        if ((*entry)->encrypted) {
            return failure(ErrorCode::ImageEncrypted, (*entry)->path);
        }
        if ((*entry)->isFile) {
            choice.add((*entry)->path, (*entry)->size);
        }
        const bool late = m_options.stop.stop_requested() || std::chrono::steady_clock::now() > deadline;
        if (late && !choice.candidates().empty()) {
            return choice;
        }
    }
}

Result<void> Unwrapper::takeArchive(Format format)
{
    if (format == Format::SevenZip && sevenZipMemory(*m_open) > m_options.limits.memory) {
        return failure(ErrorCode::ImageNeedsMemory, std::to_string(m_options.limits.memory));
    }
    std::string wanted = wantedMember();
    std::optional<ArchiveChoice> choice;
    if (m_reopen && (wanted.empty() || m_options.list)) {
        auto listed = listArchive(format);
        if (!listed) {
            return std::unexpected(listed.error());
        }
        choice = std::move(*listed);
        const auto chosen = choice->choose(wanted);
        if (!chosen) {
            return std::unexpected(chosen.error());
        }
        wanted = chosen->member;
    }
    m_checked = m_checked || format == Format::SevenZip;
    std::string path = wanted;
    const auto applied = apply([format, wanted, place = m_open, &path](Source packed) -> Result<Source> {
        auto reader = openArchive(format, place, std::move(packed));
        if (!reader) {
            return std::unexpected(reader.error());
        }
        auto entry = findEntry(**reader, wanted);
        if (!entry) {
            return std::unexpected(entry.error());
        }
        if (wanted.empty()) {
            path = entry->path; // once only: without m_reopen
        }
        return std::make_unique<ArchiveMemberSource>(std::move(*reader), entry->size);
    });
    enter(format, path, choice ? &*choice : nullptr);
    return applied;
}

Result<void> Unwrapper::takeVirtualDisk(Format format)
{
    const auto disk = openVirtualDisk(format, *m_open); // to see what it is
    if (!disk) {
        return std::unexpected(disk.error());
    }
    m_layers.push_back({.format = format});
    m_checked = m_checked || (*disk)->checked();
    return apply([format, place = *m_open](Source) -> Result<Source> {
        auto again = openVirtualDisk(format, place);
        if (!again) {
            return std::unexpected(again.error());
        }
        return std::make_unique<VirtualDiskSource>(std::move(*again), place);
    });
}

Result<void> Unwrapper::takeOff(Format format)
{
    if (m_layers.size() == kMostLayers) {
        return failure(ErrorCode::ImageUnsupported, "too many wrappings, one in the other");
    }
    const auto kind = kindOf(format);
    if (kind == FormatKind::Stream) {
        return takeStream(format);
    }
    if (!m_open && format != Format::Tar) {
        const std::string outer(m_layers.empty() ? "a stream" : nameOf(m_layers.back().format));
        return failure(ErrorCode::ImageUnsupported, std::string(nameOf(format)) + " inside " + outer);
    }
    if (kind == FormatKind::VirtualDisk) {
        return takeVirtualDisk(format);
    }
    return format == Format::Zip ? takeZip() : takeArchive(format);
}

Result<UnwrappedImage> Unwrapper::run()
{
    for (;;) {
        const auto format = nextFormat();
        if (!format) {
            return std::unexpected(format.error());
        }
        if (!*format) {
            break;
        }
        if (const auto taken = takeOff(**format); !taken) {
            return std::unexpected(taken.error());
        }
    }
    return UnwrappedImage{.source = std::move(m_source),
                          .layers = std::move(m_layers),
                          .candidates = std::move(m_candidates),
                          .open = std::move(m_open),
                          .checked = m_checked};
}

} // namespace

Result<UnwrappedImage> unwrapImage(ImageRoot root, const UnwrapOptions& options)
{
    if (auto* stream = std::get_if<Source>(&root); stream && options.digester) {
        if (auto ready = options.digester->restart(); !ready) {
            return std::unexpected(std::move(ready.error()));
        }
        root = std::make_unique<DigestingSource>(std::move(*stream), options.digester);
    }
    return Unwrapper(std::move(root), options).run();
}

} // namespace burin
