// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "httpanswer.h"
#include "imagesource.h"

#include <atomic>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

namespace burin {

/// The bytes of the file at an http or https URL. It is fetched in a thread of the source's own; a connection
/// that breaks is taken up again where it was, if the content is proven to be the same. Errors in read():
/// ImageTruncated when all tries failed, ImageChanged, ImageUnreadable with the server's or the system's
/// words, ImageEmpty.
class HttpSource final : public ImageSource
{
public:
    /// Waits for the server's answer, until `stop` is asked for. ImageUnreadable if there is none or it is no
    /// file, ImageChanged if it is not the content that is expected, ImageEmpty.
    [[nodiscard]] static Result<std::unique_ptr<HttpSource>>
    open(const std::string& url, const std::optional<HttpIdentity>& expected = {},
         const HttpPatience& patience = {}, const std::stop_token& stop = {});
    ~HttpSource() override;

    [[nodiscard]] Result<std::size_t> read(std::span<std::byte> out) override;
    [[nodiscard]] std::optional<Bytes> unpackedSize() const override { return m_opened.identity.size; }
    [[nodiscard]] Bytes consumed() const noexcept override { return m_done.load(std::memory_order_relaxed); }
    /// 0 if the server doesn't tell.
    [[nodiscard]] Bytes fileSize() const noexcept override { return m_opened.identity.size.value_or(0); }
    /// Asks the server once more. A server that doesn't answer proves no change.
    [[nodiscard]] Result<void> checkUnchanged() const override;
    void interrupt() noexcept override;

    [[nodiscard]] const HttpIdentity& identity() const noexcept { return m_opened.identity; }
    /// False if the server marks the end by closing the connection and no more: then a file that was cut
    /// short on the way looks whole.
    [[nodiscard]] bool endIsMarked() const noexcept { return m_opened.endIsMarked; }

private:
    class Fetcher;
    HttpSource(std::unique_ptr<Fetcher> fetcher, HttpOpened opened, std::string url,
               const HttpPatience& patience);

    std::unique_ptr<Fetcher> m_fetcher;
    HttpOpened m_opened;
    std::string m_url;
    HttpPatience m_patience;
    std::stop_source m_stop;
    std::atomic<Bytes> m_done = 0;
};

} // namespace burin
