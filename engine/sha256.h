// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

struct evp_md_ctx_st;

namespace burin {

/// A running SHA-256, by OpenSSL and so with the processor's own instructions.
class Sha256
{
public:
    Sha256();
    void add(std::span<const std::byte> data);
    /// Lower-case hex. Ends the digest: add() must not follow.
    [[nodiscard]] std::string hex();

private:
    struct Free {
        void operator()(evp_md_ctx_st* context) const noexcept;
    };
    std::unique_ptr<evp_md_ctx_st, Free> m_context;
};

} // namespace burin
