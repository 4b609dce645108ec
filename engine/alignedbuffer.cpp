// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "alignedbuffer.h"

#include "units.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace burin {

AlignedBuffer::AlignedBuffer(std::size_t size)
    : m_data(static_cast<std::byte*>(std::aligned_alloc(kAlignment, alignUp(size, kAlignment)))), m_size(size)
{
    if (!m_data) {
        throw std::bad_alloc();
    }
    std::memset(m_data.get(), 0, alignUp(size, kAlignment));
}

void AlignedBuffer::Free::operator()(std::byte* p) const noexcept
{
    std::free(p); // NOLINT(cppcoreguidelines-no-malloc): the counterpart of aligned_alloc
}

} // namespace burin
