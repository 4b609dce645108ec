// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sha256.h"

#include <openssl/evp.h>

#include <array>
#include <new>

namespace burin {

void Sha256::Free::operator()(evp_md_ctx_st* context) const noexcept
{
    EVP_MD_CTX_free(context);
}

Sha256::Sha256() : m_context(EVP_MD_CTX_new())
{
    if (!m_context || EVP_DigestInit_ex(m_context.get(), EVP_sha256(), nullptr) != 1) {
        throw std::bad_alloc();
    }
}

void Sha256::add(std::span<const std::byte> data)
{
    (void)EVP_DigestUpdate(m_context.get(), data.data(), data.size()); // fails only without a context
}

std::string Sha256::hex()
{
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    (void)EVP_DigestFinal_ex(m_context.get(), digest.data(), &length);
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        text += kDigits[digest.at(i) >> 4U];
        text += kDigits[digest.at(i) & 15U];
    }
    return text;
}

} // namespace burin
