// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "bzip2decoder.h"

#include <KCompressionDevice>
#include <KFilterBase>

#include <algorithm>
#include <array>
#include <utility>

namespace burin {

namespace {

// KFilterBase counts in int.
constexpr std::size_t kMostAtOnce = 1024 * kMiB;

} // namespace

Bzip2Decoder::Bzip2Decoder(std::unique_ptr<KFilterBase> filter) : m_filter(std::move(filter)) { }

Bzip2Decoder::~Bzip2Decoder()
{
    m_filter->terminate();
}

Result<std::unique_ptr<Decoder>> Bzip2Decoder::create()
{
    std::unique_ptr<KFilterBase> filter(
        KCompressionDevice::filterForCompressionType(KCompressionDevice::BZip2));
    if (!filter) {
        return failure(ErrorCode::ImageUnsupported, "bzip2"); // a KArchive built without it
    }
    if (!filter->init(QIODevice::ReadOnly)) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return std::unique_ptr<Decoder>(new Bzip2Decoder(std::move(filter)));
}

Result<DecodeStep> Bzip2Decoder::decode(std::span<const std::byte> in, bool, std::span<std::byte> out)
{
    const auto offered = std::min(in.size(), kMostAtOnce);
    const auto room = std::min(out.size(), kMostAtOnce);
    m_filter->setInBuffer(reinterpret_cast<const char*>(in.data()), static_cast<uint>(offered));
    m_filter->setOutBuffer(reinterpret_cast<char*>(out.data()), static_cast<uint>(room));
    const auto result = m_filter->uncompress();
    if (result == KFilterBase::Error) {
        return failure(ErrorCode::ImageCorrupt);
    }
    return DecodeStep{.taken = offered - static_cast<std::size_t>(m_filter->inBufferAvailable()),
                      .made = room - static_cast<std::size_t>(m_filter->outBufferAvailable()),
                      .streamEnd = result == KFilterBase::End};
}

Result<void> Bzip2Decoder::restart()
{
    m_filter->terminate();
    if (!m_filter->init(QIODevice::ReadOnly)) {
        return failure(ErrorCode::ImageNeedsMemory);
    }
    return {};
}

StreamStart Bzip2Decoder::startsStream(std::span<const std::byte> in) const
{
    static constexpr std::array<unsigned char, 3> kMagic = {'B', 'Z', 'h'};
    return matchMagic(in, kMagic);
}

} // namespace burin
