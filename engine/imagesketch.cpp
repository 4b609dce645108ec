// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imagesketch.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace burin {

ImageSketch::ImageSketch(UniqueFd memory) : m_memory(std::move(memory)) { }

Result<ImageSketch> ImageSketch::create(PeekSource& source, bool mayReadOn)
{
    UniqueFd memory(::memfd_create("burin-sketch", MFD_CLOEXEC));
    if (!memory) {
        return failure(ErrorCode::Internal, errno, {}, "memfd_create");
    }
    ImageSketch sketch(std::move(memory));
    if (mayReadOn) {
        sketch.m_source = &source;
        sketch.m_head.resize(kHead);
        const auto got = sketch.readOn(sketch.m_head);
        if (!got) {
            return std::unexpected(got.error());
        }
        sketch.m_head.resize(*got);
    } else {
        const auto head = source.peek(kHead);
        if (!head) {
            return std::unexpected(head.error());
        }
        sketch.m_head.assign(head->begin(), head->end());
        sketch.m_end = source.end();
    }
    if (const auto stored = sketch.store(0, sketch.m_head); !stored) {
        return std::unexpected(stored.error());
    }
    return sketch;
}

Result<std::size_t> ImageSketch::readOn(std::span<std::byte> out)
{
    auto got = m_source->read(out);
    if (got) {
        m_position += *got;
        if (*got < out.size()) {
            m_end = m_position;
        }
    }
    return got;
}

Result<void> ImageSketch::store(Offset offset, std::span<const std::byte> data)
{
    while (!data.empty()) {
        const auto n = ::pwrite(m_memory.get(), data.data(), data.size(), static_cast<off_t>(offset));
        if (n < 0 && errno != EINTR) {
            return failure(ErrorCode::Internal, errno, {}, "memfd");
        }
        const auto written = static_cast<std::size_t>(std::max<ssize_t>(n, 0));
        data = data.subspan(written);
        offset += written;
    }
    return {};
}

Result<std::vector<std::byte>> ImageSketch::keep(Range range, const SketchBudget& budget,
                                                 const std::stop_token& stop)
{
    if (!m_source || range.end() > budget.unpacked) {
        return {};
    }
    std::vector<std::byte> passed(kMiB);
    while (m_position < range.offset) {
        if (m_end || stop.stop_requested() || std::chrono::steady_clock::now() - m_began > budget.time) {
            return {};
        }
        const auto step = static_cast<std::size_t>(std::min<Bytes>(passed.size(), range.offset - m_position));
        if (const auto got = readOn(std::span(passed).first(step)); !got) {
            return std::unexpected(got.error());
        }
    }
    std::vector<std::byte> data(m_end ? 0 : static_cast<std::size_t>(range.length));
    const auto got = readOn(data);
    if (!got) {
        return std::unexpected(got.error());
    }
    data.resize(*got);
    if (const auto stored = store(range.offset, data); !stored) {
        return std::unexpected(stored.error());
    }
    return data;
}

} // namespace burin
