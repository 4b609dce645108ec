// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct evp_md_ctx_st;

namespace burin {

enum class DigestKind { Md5, Sha1, Sha256, Sha512 };

/// "SHA-256".
[[nodiscard]] std::string_view nameOf(DigestKind kind);
/// Hex digits of such a digest.
[[nodiscard]] std::size_t hexLength(DigestKind kind);

/// A running digest, by OpenSSL and so with the processor's own instructions.
class Digest
{
public:
    /// Internal, detail: the kind's name, where OpenSSL doesn't offer it (MD5 under FIPS rules).
    [[nodiscard]] static Result<Digest> create(DigestKind kind);

    void add(std::span<const std::byte> data);
    /// Lower-case hex; empty, which equals no sum, if OpenSSL failed. Ends the digest: add() must not follow.
    [[nodiscard]] std::string hex();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };
    using Context = std::unique_ptr<evp_md_ctx_st, Free>;

    explicit Digest(Context context);

    Context m_context;
    bool m_good = true;
};

struct DigestResult {
    DigestKind kind = DigestKind::Sha256;
    std::string hex{};

    bool operator==(const DigestResult&) const = default;
};

/// Several digests of the same data.
class DigestSet
{
public:
    DigestSet() = default;
    [[nodiscard]] static Result<DigestSet> create(std::span<const DigestKind> kinds);

    [[nodiscard]] bool empty() const { return m_digests.empty(); }
    void add(std::span<const std::byte> data);
    /// In the order of the kinds; Internal (detail: the kind) if OpenSSL failed. Ends the digests.
    [[nodiscard]] Result<std::vector<DigestResult>> results();

private:
    std::vector<DigestKind> m_kinds;
    std::vector<Digest> m_digests;
};

} // namespace burin
