// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imageprobe.h"
#include "units.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace burin {

/// What one call of a decoder did.
struct DecodeStep {
    std::size_t taken = 0;  ///< bytes of the input
    std::size_t made = 0;   ///< bytes of the output
    bool streamEnd = false; ///< the stream's end mark and its checks were seen
};

/// How a format begins another stream after one has ended.
enum class StreamStart { No, Yes, Partial };

struct DecoderLimits {
    Bytes memory = 0;          ///< a file that needs more is refused with ImageNeedsMemory
    Bytes threadingMemory = 0; ///< more threads are used as long as they fit into this
    unsigned threads = 1;

    /// From the memory that this machine, or the control group, has left; never asked for at start-up.
    [[nodiscard]] static DecoderLimits ofThisMachine(Bytes threadingMemory = kSmallThreadingMemory);
};

/// One stream after another of one format. Errors carry no offset: CompressedSource knows it.
class Decoder
{
public:
    Decoder() = default;
    Decoder(const Decoder&) = delete;
    Decoder& operator=(const Decoder&) = delete;
    virtual ~Decoder() = default;

    /// Goes on with the stream; `inputEnds` says that nothing follows `in`. Without progress it returns
    /// {0, 0, false}; whether that is an error is for the caller to say. ImageCorrupt, ImageUnsupported,
    /// ImageNeedsMemory (detail: the limit, in bytes).
    [[nodiscard]] virtual Result<DecodeStep> decode(std::span<const std::byte> in, bool inputEnds,
                                                    std::span<std::byte> out) = 0;
    /// Ready for the next stream.
    [[nodiscard]] virtual Result<void> restart() = 0;
    /// Whether `in` begins a stream; Partial if it is only too short to tell.
    [[nodiscard]] virtual StreamStart startsStream(std::span<const std::byte> in) const = 0;
};

/// Bytes that suffice for startsStream().
inline constexpr std::size_t kStreamMagicSize = 6;

/// `format` is one of the streams.
[[nodiscard]] Result<std::unique_ptr<Decoder>> makeDecoder(Format format, const DecoderLimits& limits);
/// For a member of a zip by its compression method (APPNOTE 4.4.5) and its unpacked size; ImageUnsupported
/// (detail: the method).
[[nodiscard]] Result<std::unique_ptr<Decoder>> makeZipDecoder(std::uint16_t method, Bytes size,
                                                              const DecoderLimits& limits);

/// A skippable frame, the same in zstd (RFC 8878, 3.1.2) and lz4: 0x184D2A50 to 0x184D2A5F, little endian.
[[nodiscard]] StreamStart matchSkippable(std::span<const std::byte> in);
/// Compares the beginning of `in` with `magic`.
[[nodiscard]] StreamStart matchMagic(std::span<const std::byte> in, std::span<const unsigned char> magic);

} // namespace burin
