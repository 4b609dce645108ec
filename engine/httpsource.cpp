// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "httpsource.h"

#include "httptransfer.h"

#include <QThread>

#include <cerrno>
#include <semaphore>
#include <utility>

namespace burin {

namespace {

constexpr std::size_t kPipeBytes = 4 * kMiB;

Result<QUrl> parsed(const std::string& text)
{
    const QUrl url(QString::fromStdString(text), QUrl::TolerantMode);
    if (!isHttp(url)) {
        return failure(ErrorCode::ImageUnreadable, EINVAL);
    }
    return url;
}

} // namespace

/// The thread in which a transfer runs, and the pipe out of it.
class HttpSource::Fetcher final : public QThread
{
public:
    Fetcher(QUrl url, std::optional<HttpIdentity> expected, const HttpPatience& patience)
        : m_url(std::move(url)), m_expected(std::move(expected)), m_patience(patience), m_pipe(kPipeBytes)
    {
    }
    ~Fetcher() override
    {
        m_pipe.stop();
        if (isRunning() || isFinished()) {
            m_left.acquire();
        }
        (void)wait();
    }

    [[nodiscard]] Result<HttpOpened> open()
    {
        auto opened = m_opened.get_future();
        if (m_pipe.wakeFd() < 0) {
            return failure(ErrorCode::ImageUnreadable, EMFILE);
        }
        start();
        if (!isRunning() && !isFinished()) {
            return failure(ErrorCode::ImageUnreadable, EAGAIN);
        }
        return opened.get();
    }
    [[nodiscard]] BytePipe& pipe() { return m_pipe; }

protected:
    void run() override
    {
        {
            HttpTransfer transfer(m_url, m_expected, m_patience, m_pipe, m_opened);
            transfer.run();
        }
        m_left.release();
    }

private:
    QUrl m_url;
    std::optional<HttpIdentity> m_expected;
    HttpPatience m_patience;
    BytePipe m_pipe;
    std::promise<Result<HttpOpened>> m_opened;
    /// What wait() does, for the thread sanitizer too, which does not see into Qt.
    std::binary_semaphore m_left{0};
};

HttpSource::HttpSource(std::unique_ptr<Fetcher> fetcher, HttpOpened opened, std::string url,
                       const HttpPatience& patience)
    : m_fetcher(std::move(fetcher)), m_opened(std::move(opened)), m_url(std::move(url)), m_patience(patience)
{
}

HttpSource::~HttpSource() = default;

Result<std::unique_ptr<HttpSource>> HttpSource::open(const std::string& url,
                                                     const std::optional<HttpIdentity>& expected,
                                                     const HttpPatience& patience,
                                                     const std::stop_token& stop)
{
    auto place = parsed(url);
    if (!place) {
        return std::unexpected(place.error());
    }
    auto fetcher = std::make_unique<Fetcher>(*std::move(place), expected, patience);
    auto opened = [&] {
        const std::stop_callback onStop(stop, [&fetcher] { fetcher->pipe().stop(); });
        return fetcher->open();
    }();
    if (!opened) {
        return std::unexpected(opened.error());
    }
    if (opened->identity.size == Bytes{0}) {
        return failure(ErrorCode::ImageEmpty);
    }
    return std::unique_ptr<HttpSource>(new HttpSource(std::move(fetcher), *std::move(opened), url, patience));
}

Result<std::size_t> HttpSource::read(std::span<std::byte> out)
{
    const Bytes done = m_done.load(std::memory_order_relaxed);
    auto filled = m_fetcher->pipe().read(out);
    if (!filled) {
        filled.error().offset = filled.error().offset.value_or(done);
        return filled;
    }
    m_done.store(done + *filled, std::memory_order_relaxed);
    if (*filled < out.size() && done + *filled == 0) {
        return failure(ErrorCode::ImageEmpty);
    }
    return filled;
}

Result<void> HttpSource::checkUnchanged() const
{
    const auto now = open(m_url, m_opened.identity, m_patience, m_stop.get_token());
    if (!now && now.error().code == ErrorCode::ImageChanged) {
        return std::unexpected(now.error());
    }
    return {};
}

void HttpSource::interrupt() noexcept
{
    (void)m_stop.request_stop();
    m_fetcher->pipe().stop();
}

} // namespace burin
