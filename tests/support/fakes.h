// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/alignedbuffer.h"
#include "engine/blockdevice.h"
#include "engine/imagesource.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace burin::test {

/// Bytes that differ from block to block, the same for the same seed.
inline std::vector<std::byte> noise(std::size_t size, unsigned seed = 1)
{
    std::mt19937_64 random(seed);
    std::vector<std::byte> bytes(size);
    for (std::size_t i = 0; i < size; i += 8) {
        const auto word = random();
        std::memcpy(&bytes[i], &word, std::min<std::size_t>(8, size - i));
    }
    return bytes;
}

/// A drive in memory that insists on alignment and can be told to fail. `calls` is its log.
class MemoryDevice : public BlockDevice
{
public:
    struct Call {
        enum Kind { Write, Read, Flush } kind;
        Offset offset = 0;
        std::size_t length = 0;
        bool operator==(const Call&) const = default;
    };
    struct Fault {
        Range range;
        FlashError error;
        int times = -1; ///< < 0: for ever
    };

    explicit MemoryDevice(Bytes size, std::uint32_t block = 512)
        : bytes(size, std::byte{0xA5}), m_block(block)
    {
    }

    Bytes size() const override { return bytes.size(); }
    std::uint32_t logicalBlock() const override { return m_block; }

    Result<void> writeAt(Offset offset, std::span<const std::byte> data) override
    {
        return transfer({Call::Write, offset, data.size()}, data.data(), writeFaults,
                        [&](Offset at, std::size_t i) {
                            if (at < bytes.size()) {
                                bytes[at] = data[i];
                            }
                        });
    }
    Result<void> readAt(Offset offset, std::span<std::byte> data) override
    {
        return transfer(
            {Call::Read, offset, data.size()}, data.data(), readFaults,
            [&](Offset at, std::size_t i) { data[i] = at < bytes.size() ? bytes[at] : std::byte{0}; });
    }
    Result<void> flush() override
    {
        const std::scoped_lock lock(mutex);
        calls.push_back({Call::Flush});
        if (onCall) {
            onCall(calls.back());
        }
        if (flushError) {
            return std::unexpected(*flushError);
        }
        return {};
    }
    Result<void> checkIdentity() override
    {
        if (changed) {
            return failure(ErrorCode::DriveChanged);
        }
        return {};
    }

    std::vector<std::byte> bytes;
    std::vector<Call> calls;
    std::vector<Fault> writeFaults;
    std::vector<Fault> readFaults;
    std::optional<FlashError> flushError;
    std::function<void(const Call&)> onCall; ///< before the call takes effect, under `mutex`
    std::atomic<bool> changed = false;
    Bytes realSize = 0; ///< 0: all is there
    bool wraps = false; ///< beyond realSize: wrap round, else nothing is kept
    bool misaligned = false;
    std::mutex mutex;

private:
    template<class Move>
    Result<void> transfer(Call call, const void* address, std::vector<Fault>& faults, Move move)
    {
        const std::scoped_lock lock(mutex);
        calls.push_back(call);
        if (onCall) {
            onCall(call);
        }
        misaligned = misaligned || call.offset % m_block != 0 || call.length % m_block != 0
            || reinterpret_cast<std::uintptr_t>(address) % AlignedBuffer::kAlignment != 0
            || call.offset + call.length > bytes.size();
        for (auto& fault : faults) {
            if (fault.times != 0 && call.offset < fault.range.end()
                && fault.range.offset < call.offset + call.length) {
                --fault.times;
                FlashError error = fault.error;
                error.offset = std::max(fault.range.offset, call.offset);
                return std::unexpected(error);
            }
        }
        for (std::size_t i = 0; i < call.length && !misaligned; ++i) {
            Offset at = call.offset + i;
            if (realSize > 0 && at >= realSize) {
                at = wraps ? at % realSize : bytes.size();
            }
            move(at, i);
        }
        return {};
    }

    std::uint32_t m_block;
};

/// An image in memory that gives its bytes in full spans and can fail at a place.
class ScriptedSource : public ImageSource
{
public:
    explicit ScriptedSource(std::vector<std::byte> image, bool tellsSize = true)
        : bytes(std::move(image)), m_tellsSize(tellsSize)
    {
    }

    Result<std::size_t> read(std::span<std::byte> out) override
    {
        const std::size_t at = m_at;
        const std::size_t n = std::min(out.size(), bytes.size() - at);
        if (error && at + n >= errorAt) {
            return std::unexpected(*error);
        }
        std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), n, out.begin());
        m_at += n;
        if (onRead) {
            onRead(at);
        }
        return n;
    }
    std::optional<Bytes> unpackedSize() const override
    {
        return m_tellsSize ? std::optional<Bytes>(bytes.size()) : std::nullopt;
    }
    Bytes consumed() const noexcept override { return m_at; }
    Bytes fileSize() const noexcept override { return bytes.size(); }

    std::vector<std::byte> bytes;
    std::optional<FlashError> error;
    std::size_t errorAt = 0;
    std::function<void(std::size_t)> onRead;

private:
    std::atomic<std::size_t> m_at = 0;
    bool m_tellsSize;
};

} // namespace burin::test
