// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "unpackblock.h"

#include "units.h"

#include <bzlib.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <limits>
#include <memory>

namespace burin {

namespace {

constexpr std::uint64_t kXzMemory = std::uint64_t{128} * kMiB;
constexpr int kZstdWindowLog = 25; // more than any block

template<class Stream, class In>
void feed(Stream& stream, std::span<const std::byte> in, std::span<std::byte> out)
{
    // Neither library writes to its input; only their declarations differ.
    stream.next_in = reinterpret_cast<In*>(const_cast<std::byte*>(in.data()));
    stream.avail_in = static_cast<unsigned>(in.size());
    stream.next_out = reinterpret_cast<In*>(out.data());
    stream.avail_out = static_cast<unsigned>(out.size());
}

Result<void> inflateBlock(int windowBits, std::span<const std::byte> in, std::span<std::byte> out)
{
    z_stream stream = {};
    if (::inflateInit2(&stream, windowBits) != Z_OK) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    feed<z_stream, Bytef>(stream, in, out);
    const int result = ::inflate(&stream, Z_FINISH);
    const bool whole = result == Z_STREAM_END && stream.avail_out == 0;
    ::inflateEnd(&stream);
    if (result == Z_MEM_ERROR) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return whole ? Result<void>() : failure(ErrorCode::ImageCorrupt, "a packed block");
}

Result<void> unzstdBlock(std::span<const std::byte> in, std::span<std::byte> out)
{
    const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context(ZSTD_createDCtx(), &ZSTD_freeDCtx);
    if (!context
        || ZSTD_isError(ZSTD_DCtx_setParameter(context.get(), ZSTD_d_windowLogMax, kZstdWindowLog))) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    ZSTD_inBuffer input = {.src = in.data(), .size = in.size(), .pos = 0};
    ZSTD_outBuffer output = {.dst = out.data(), .size = out.size(), .pos = 0};
    // A frame may be cut into several by whoever wrote it; the last one ends where the block is full.
    std::size_t result = 1;
    while (result != 0 || output.pos < output.size) {
        const auto before = input.pos + output.pos;
        result = ZSTD_decompressStream(context.get(), &output, &input);
        if (ZSTD_isError(result) || input.pos + output.pos == before) {
            const auto error = ZSTD_isError(result) ? ZSTD_getErrorCode(result) : ZSTD_error_no_error;
            const bool memory =
                error == ZSTD_error_memory_allocation || error == ZSTD_error_frameParameter_windowTooLarge;
            return failure(memory ? ErrorCode::ImageNeedsMemory : ErrorCode::ImageCorrupt, "a packed block");
        }
    }
    return {};
}

Result<void> bunzip2Block(std::span<const std::byte> in, std::span<std::byte> out)
{
    bz_stream stream = {};
    if (::BZ2_bzDecompressInit(&stream, 0, 0) != BZ_OK) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    feed<bz_stream, char>(stream, in, out);
    const int result = ::BZ2_bzDecompress(&stream);
    const bool whole = result == BZ_STREAM_END && stream.avail_out == 0;
    ::BZ2_bzDecompressEnd(&stream);
    if (result == BZ_MEM_ERROR) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return whole ? Result<void>() : failure(ErrorCode::ImageCorrupt, "a packed block");
}

Result<void> unxzBlock(std::span<const std::byte> in, std::span<std::byte> out)
{
    std::uint64_t memory = kXzMemory;
    std::size_t taken = 0;
    std::size_t made = 0;
    const lzma_ret result = ::lzma_stream_buffer_decode(
        &memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(in.data()), &taken, in.size(),
        reinterpret_cast<std::uint8_t*>(out.data()), &made, out.size());
    if (result == LZMA_MEM_ERROR || result == LZMA_MEMLIMIT_ERROR) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return result == LZMA_OK && made == out.size() ? Result<void>()
                                                   : failure(ErrorCode::ImageCorrupt, "a packed block");
}

} // namespace

Result<void> unpackBlock(BlockPacking packing, std::span<const std::byte> in, std::span<std::byte> out)
{
    if (in.size() > std::numeric_limits<unsigned>::max()
        || out.size() > std::numeric_limits<unsigned>::max()) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    switch (packing) {
    case BlockPacking::Deflate:
        return inflateBlock(-MAX_WBITS, in, out);
    case BlockPacking::Zlib:
        return inflateBlock(MAX_WBITS, in, out);
    case BlockPacking::Zstd:
        return unzstdBlock(in, out);
    case BlockPacking::Bzip2:
        return bunzip2Block(in, out);
    case BlockPacking::Xz:
        return unxzBlock(in, out);
    }
    return failure(ErrorCode::Internal);
}

} // namespace burin
