// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sharedsource.h"

#include "alignedbuffer.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace burin {

using namespace std::chrono_literals;

namespace {

constexpr std::chrono::nanoseconds kPatience = 5s;
constexpr auto kLookAgain = 100ms;

/// Where one reader of the ring is. Guarded by the ring's mutex.
struct Place {
    std::uint64_t block = 0; ///< the next to be read
    std::size_t within = 0;  ///< bytes of it that were read
    bool isTarget = true;
    bool waiting = false;  ///< for a block that is not there yet
    bool touching = false; ///< the block's memory
    bool interrupted = false;
    bool aside = false;
    bool holdsUp = false; ///< the others, when last looked at
    std::chrono::nanoseconds heldUp{};

    [[nodiscard]] bool takesPart() const { return !interrupted && !aside; }
};

/// The blocks of the image that went round last, and who has read how far.
class Ring
{
public:
    Ring(std::shared_ptr<ImageSource> image, Sharing sharing, DigestSet digests);
    ~Ring();
    Ring(const Ring&) = delete;
    Ring& operator=(const Ring&) = delete;

    [[nodiscard]] Place* join();
    void start();
    /// Takes the place out: the others wait for it no more, and its reads end. From any thread.
    void leave(Place& place);

    /// Copies what comes next, waiting for it; 0 at the image's end, nothing once the place was set aside
    /// and the shared read has ended. Errors: the image's; ImageUnreadable with ECANCELED when interrupted.
    [[nodiscard]] Result<std::optional<std::size_t>> read(Place& place, std::span<std::byte> out);
    [[nodiscard]] Offset offset(const Place& place) const;
    /// Waits for them; nothing if the image was not read to its end.
    [[nodiscard]] Result<std::optional<std::vector<DigestResult>>> digests();

    [[nodiscard]] const Sharing& sharing() const { return m_sharing; }
    [[nodiscard]] const ImageSource& image() const { return *m_image; }

private:
    using Lock = std::unique_lock<std::mutex>;

    void readAll();
    [[nodiscard]] Result<void> readBlocks();
    [[nodiscard]] bool waitForRoom(Lock& lock);
    [[nodiscard]] bool isRead() const;
    [[nodiscard]] bool hasRoom() const;
    void judge();
    void digestAll();
    [[nodiscard]] std::span<const std::byte> take(Place& place, Lock& lock);
    void pass(Place& place, std::size_t bytes, Lock& lock);

    const std::shared_ptr<ImageSource> m_image;
    const Sharing m_sharing;

    std::mutex m_mutex;
    std::condition_variable m_changed;
    std::vector<AlignedBuffer> m_buffers; ///< block i is in number i % size
    std::vector<std::size_t> m_lengths;
    std::uint64_t m_blocks = 0; ///< read so far
    bool m_readEnded = false;
    bool m_complete = false; ///< the image's end was seen
    std::optional<FlashError> m_error;
    std::vector<std::unique_ptr<Place>> m_places;
    std::chrono::steady_clock::time_point m_judgedAt;
    DigestSet m_digests; ///< of the digests' thread until it has ended
    std::optional<Result<std::vector<DigestResult>>> m_digested;
    std::jthread m_digester;
    std::jthread m_reader;
};

Ring::Ring(std::shared_ptr<ImageSource> image, Sharing sharing, DigestSet digests)
    : m_image(std::move(image)), m_sharing(std::move(sharing)), m_lengths(m_sharing.blocks),
      m_digests(std::move(digests))
{
    for (unsigned i = 0; i < m_sharing.blocks; ++i) {
        m_buffers.emplace_back(m_sharing.blockSize);
    }
    join()->isTarget = false; // the digests'
}

Ring::~Ring()
{
    m_image->interrupt(); // every place has left
}

Place* Ring::join()
{
    return m_places.emplace_back(std::make_unique<Place>()).get();
}

void Ring::start()
{
    m_judgedAt = m_sharing.now();
    m_digester = std::jthread([this] { digestAll(); });
    m_reader = std::jthread([this] { readAll(); });
}

void Ring::leave(Place& place)
{
    const std::scoped_lock lock(m_mutex);
    place.interrupted = true;
    if (!isRead()) {
        m_image->interrupt();
    }
    m_changed.notify_all();
}

Offset Ring::offset(const Place& place) const
{
    return place.block * m_sharing.blockSize + place.within;
}

/// Whether anyone still wants what is read.
bool Ring::isRead() const
{
    return std::ranges::any_of(m_places, [](const auto& p) { return p->isTarget && p->takesPart(); });
}

bool Ring::hasRoom() const
{
    return std::ranges::none_of(m_places, [this](const auto& p) {
        return (p->takesPart() || p->touching) && p->block + m_buffers.size() <= m_blocks;
    });
}

/// Sets aside who has let the others wait for too long.
void Ring::judge()
{
    const auto now = m_sharing.now();
    const auto passed = now - std::exchange(m_judgedAt, now);
    const bool full = !hasRoom();
    const bool starving = std::ranges::any_of(
        m_places, [](const auto& p) { return p->isTarget && p->takesPart() && p->waiting; });
    for (const auto& p : m_places) {
        p->heldUp = p->holdsUp ? p->heldUp + passed : std::max(0ns, p->heldUp - passed);
        p->aside = p->aside || (p->isTarget && p->heldUp >= kPatience);
        p->holdsUp = full && starving && p->block + m_buffers.size() <= m_blocks;
    }
}

/// False if nobody is left to read for.
bool Ring::waitForRoom(Lock& lock)
{
    for (;;) {
        judge();
        if (!isRead()) {
            return false;
        }
        if (hasRoom()) {
            return true;
        }
        m_changed.wait_for(lock, kLookAgain);
    }
}

Result<void> Ring::readBlocks()
{
    for (;;) {
        Lock lock(m_mutex);
        if (!waitForRoom(lock)) {
            return {};
        }
        const auto slot = static_cast<std::size_t>(m_blocks % m_buffers.size());
        lock.unlock(); // nobody touches a block that is not said to be there
        const auto got = m_image->read(m_buffers[slot].span());
        if (!got) {
            return std::unexpected(got.error());
        }
        lock.lock();
        m_lengths[slot] = *got;
        m_blocks += std::uint64_t{*got > 0};
        m_complete = *got < m_sharing.blockSize;
        m_changed.notify_all();
        if (m_complete) {
            return {};
        }
    }
}

void Ring::readAll()
{
    Result<void> done;
    try {
        done = readBlocks();
    } catch (const std::exception& e) {
        done = failure(ErrorCode::Internal, e.what());
    }
    const std::scoped_lock lock(m_mutex);
    if (!done && isRead()) { // else it was interrupted
        m_error = done.error();
    }
    m_readEnded = true;
    m_changed.notify_all();
}

/// Waits for the place's block; empty if there is none to come.
std::span<const std::byte> Ring::take(Place& place, Lock& lock)
{
    if (place.takesPart() && place.block == m_blocks && !m_readEnded) {
        place.waiting = true;
        m_changed.notify_all();
    }
    m_changed.wait(
        lock, [&] { return place.interrupted || m_readEnded || (!place.aside && place.block < m_blocks); });
    place.waiting = false;
    if (!place.takesPart() || place.block == m_blocks) {
        return {};
    }
    place.touching = true;
    const auto slot = static_cast<std::size_t>(place.block % m_buffers.size());
    return std::as_const(m_buffers[slot]).span().first(m_lengths[slot]).subspan(place.within);
}

void Ring::pass(Place& place, std::size_t bytes, Lock& lock)
{
    lock.lock();
    place.touching = false;
    place.within += bytes;
    if (place.within == m_lengths[static_cast<std::size_t>(place.block % m_buffers.size())]) {
        place.within = 0;
        ++place.block;
    }
    m_changed.notify_all();
}

Result<std::optional<std::size_t>> Ring::read(Place& place, std::span<std::byte> out)
{
    Lock lock(m_mutex);
    const auto data = take(place, lock);
    if (place.interrupted) {
        place.touching = false;
        return failure(ErrorCode::ImageUnreadable, ECANCELED, offset(place));
    }
    if (data.empty()) {
        if (m_error) {
            return std::unexpected(*m_error);
        }
        return place.aside ? std::nullopt : std::optional<std::size_t>(0);
    }
    lock.unlock();
    const std::size_t n = std::min(out.size(), data.size());
    std::ranges::copy(data.first(n), out.begin());
    pass(place, n, lock);
    return n;
}

void Ring::digestAll()
{
    Place& place = *m_places.front();
    Lock lock(m_mutex);
    for (auto data = take(place, lock); !data.empty(); data = take(place, lock)) {
        lock.unlock();
        m_digests.add(data);
        pass(place, data.size(), lock);
    }
    m_digested = m_digests.results();
    m_changed.notify_all();
}

Result<std::optional<std::vector<DigestResult>>> Ring::digests()
{
    Lock lock(m_mutex);
    m_changed.wait(lock, [this] { return m_digested.has_value(); });
    if (!m_complete) {
        return std::nullopt;
    }
    if (!*m_digested) {
        return std::unexpected(m_digested->error());
    }
    return **m_digested;
}

/// What one target reads.
class Branch final : public ImageSource
{
public:
    explicit Branch(std::shared_ptr<Ring> ring) : m_ring(std::move(ring)), m_place(*m_ring->join()) { }
    ~Branch() override { m_ring->leave(m_place); }

    Result<std::size_t> read(std::span<std::byte> out) override;
    std::optional<Bytes> unpackedSize() const override { return m_ring->image().unpackedSize(); }
    Bytes consumed() const noexcept override;
    Bytes fileSize() const noexcept override { return m_ring->image().fileSize(); }
    Result<void> checkUnchanged() const override { return m_ring->image().checkUnchanged(); }
    void interrupt() noexcept override;
    bool takesDigests() const override { return true; }
    Result<std::vector<DigestResult>> digests() override;

private:
    Result<void> openOwn();
    Result<std::size_t> readOwn(std::span<std::byte> out);

    const std::shared_ptr<Ring> m_ring;
    Place& m_place;
    mutable std::mutex m_mutex; ///< of m_own as a pointer, for interrupt() and consumed()
    std::unique_ptr<ImageSource> m_own;
    bool m_interrupted = false;
    DigestSet m_digests; ///< of what m_own reads
};

Bytes Branch::consumed() const noexcept
{
    const std::scoped_lock lock(m_mutex);
    return m_own ? m_own->consumed() : m_ring->image().consumed();
}

void Branch::interrupt() noexcept
{
    m_ring->leave(m_place);
    const std::scoped_lock lock(m_mutex);
    m_interrupted = true;
    if (m_own) {
        m_own->interrupt();
    }
}

Result<std::size_t> Branch::readOwn(std::span<std::byte> out)
{
    auto got = m_own->read(out);
    if (got) {
        m_digests.add(out.first(*got));
    }
    return got;
}

/// Opens the image again and goes on to where the shared read was left. All of it is read, since the sum
/// has to be of the bytes that this drive gets.
Result<void> Branch::openOwn()
{
    const Sharing& sharing = m_ring->sharing();
    const Offset begin = m_ring->offset(m_place);
    if (!sharing.reopen) {
        return failure(ErrorCode::DriveTooSlow, 0, begin);
    }
    auto digests = DigestSet::create(sharing.digests);
    if (!digests) {
        return std::unexpected(digests.error());
    }
    m_digests = std::move(*digests);
    auto own = sharing.reopen();
    if (!own) {
        return std::unexpected(own.error());
    }
    {
        const std::scoped_lock lock(m_mutex);
        m_own = std::move(*own);
        if (m_interrupted) {
            m_own->interrupt();
        }
    }
    const AlignedBuffer skipped(sharing.blockSize);
    for (Offset at = 0; at < begin;) {
        const auto want = static_cast<std::size_t>(std::min<Bytes>(skipped.size(), begin - at));
        const auto got = readOwn(skipped.span().first(want));
        if (!got) {
            return std::unexpected(got.error());
        }
        at += *got;
        if (*got < want) {
            return failure(ErrorCode::ImageChanged, 0, at);
        }
    }
    return {};
}

Result<std::size_t> Branch::read(std::span<std::byte> out)
{
    std::size_t filled = 0;
    while (!m_own && filled < out.size()) {
        const auto got = m_ring->read(m_place, out.subspan(filled));
        if (!got) {
            return std::unexpected(got.error());
        }
        if (!*got) {
            if (auto opened = openOwn(); !opened) {
                return std::unexpected(opened.error());
            }
            break;
        }
        if (**got == 0) {
            return filled;
        }
        filled += **got;
    }
    if (filled == out.size()) {
        return filled;
    }
    const auto rest = readOwn(out.subspan(filled));
    return rest ? Result<std::size_t>(filled + *rest) : rest;
}

Result<std::vector<DigestResult>> Branch::digests()
{
    auto shared = m_ring->digests();
    if (!shared) {
        return std::unexpected(shared.error());
    }
    if (!m_own) {
        return std::move(*shared).value_or(std::vector<DigestResult>());
    }
    auto own = m_digests.results();
    if (own && *shared && **shared != *own) {
        return failure(ErrorCode::ImageChanged);
    }
    return own;
}

} // namespace

Result<std::vector<std::unique_ptr<ImageSource>>> shareSource(std::shared_ptr<ImageSource> image,
                                                              std::size_t count, Sharing sharing)
{
    auto digests = DigestSet::create(sharing.digests);
    if (!digests) {
        return std::unexpected(digests.error());
    }
    const auto ring = std::make_shared<Ring>(std::move(image), std::move(sharing), std::move(*digests));
    std::vector<std::unique_ptr<ImageSource>> branches;
    for (std::size_t i = 0; i < count; ++i) {
        branches.push_back(std::make_unique<Branch>(ring));
    }
    ring->start();
    return branches;
}

} // namespace burin
