// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "digest.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

namespace burin {

static const EVP_MD* methodOf(DigestKind kind)
{
    switch (kind) {
    case DigestKind::Md5:
        return EVP_md5();
    case DigestKind::Sha1:
        return EVP_sha1();
    case DigestKind::Sha256:
        return EVP_sha256();
    case DigestKind::Sha512:
        return EVP_sha512();
    }
    return nullptr;
}

std::string_view nameOf(DigestKind kind)
{
    switch (kind) {
    case DigestKind::Md5:
        return "MD5";
    case DigestKind::Sha1:
        return "SHA-1";
    case DigestKind::Sha256:
        return "SHA-256";
    case DigestKind::Sha512:
        return "SHA-512";
    }
    return {};
}

std::size_t hexLength(DigestKind kind)
{
    switch (kind) {
    case DigestKind::Md5:
        return 32;
    case DigestKind::Sha1:
        return 40;
    case DigestKind::Sha256:
        return 64;
    case DigestKind::Sha512:
        return 128;
    }
    return 0;
}

void Digest::Free::operator()(evp_md_ctx_st* context) const noexcept
{
    EVP_MD_CTX_free(context);
}

Digest::Digest(Context context) : m_context(std::move(context)) { }

Result<Digest> Digest::create(DigestKind kind)
{
    Context context(EVP_MD_CTX_new());
    if (!context || EVP_DigestInit_ex(context.get(), methodOf(kind), nullptr) != 1) {
        return failure(ErrorCode::Internal, std::string(nameOf(kind)));
    }
    return Digest(std::move(context));
}

void Digest::add(std::span<const std::byte> data)
{
    m_good = EVP_DigestUpdate(m_context.get(), data.data(), data.size()) == 1 && m_good;
}

std::string Digest::hex()
{
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (EVP_DigestFinal_ex(m_context.get(), digest.data(), &length) != 1 || !m_good) {
        return {};
    }
    std::string text;
    for (unsigned i = 0; i < length; ++i) {
        text += kDigits[digest.at(i) >> 4U];
        text += kDigits[digest.at(i) & 15U];
    }
    return text;
}

Result<DigestSet> DigestSet::create(std::span<const DigestKind> kinds)
{
    DigestSet set;
    for (const auto kind : kinds) {
        auto digest = Digest::create(kind);
        if (!digest) {
            return std::unexpected(std::move(digest.error()));
        }
        set.m_kinds.push_back(kind);
        set.m_digests.push_back(std::move(*digest));
    }
    return set;
}

void DigestSet::add(std::span<const std::byte> data)
{
    for (auto& digest : m_digests) {
        digest.add(data);
    }
}

Result<std::vector<DigestResult>> DigestSet::results()
{
    std::vector<DigestResult> all;
    for (std::size_t i = 0; i < m_kinds.size(); ++i) {
        all.push_back({.kind = m_kinds[i], .hex = m_digests[i].hex()});
        if (all.back().hex.empty()) {
            return failure(ErrorCode::Internal, std::string(nameOf(m_kinds[i])));
        }
    }
    return all;
}

} // namespace burin
