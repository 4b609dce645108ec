// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "httptransfer.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

namespace burin {

namespace {

constexpr Bytes kAtOnce = kMiB;
constexpr int kRedirects = 10;
constexpr QLatin1StringView kSecure("https");

} // namespace

bool isHttp(const QUrl& url)
{
    return url.isValid() && !url.host().isEmpty()
        && (url.scheme() == QLatin1StringView("http") || url.scheme() == kSecure);
}

HttpTransfer::HttpTransfer(const QUrl& url, const std::optional<HttpIdentity>& expected,
                           const HttpPatience& patience, BytePipe& pipe,
                           std::promise<Result<HttpOpened>>& opened)
    : m_url(url), m_place(url), m_expected(expected), m_patience(patience), m_pipe(pipe), m_opened(opened),
      m_triesLeft(patience.tries), m_delay(patience.firstDelay), m_wake(pipe.wakeFd(), QSocketNotifier::Read)
{
    m_idle.setSingleShot(true);
    m_pause.setSingleShot(true);
    QObject::connect(&m_idle, &QTimer::timeout, &m_context, [this] { broken("timed out"); });
    QObject::connect(&m_pause, &QTimer::timeout, &m_context, [this] { ask(); });
    QObject::connect(&m_wake, &QSocketNotifier::activated, &m_context, [this] { wake(); });
}

HttpTransfer::~HttpTransfer()
{
    drop();
}

void HttpTransfer::run()
{
    ask();
    (void)m_loop.exec();
}

void HttpTransfer::ask()
{
    m_body.reset();
    HttpConnection::Fields fields;
    if (m_at > 0) {
        fields.emplace_back("Range", "bytes=" + QByteArray::number(m_at) + '-');
        if (const auto validator = validatorOf(*m_first); !validator.empty()) {
            fields.emplace_back("If-Range", QByteArray::fromStdString(validator));
        }
    }
    m_connection = std::make_unique<HttpConnection>(m_place, fields, &m_context, [this] { pump(); });
    m_idle.start(m_patience.idle);
}

/// Goes on with whatever the connection has, if there is one.
void HttpTransfer::pump()
{
    if (m_connection && !m_body) {
        takeHeader();
    }
    if (m_connection && m_body) {
        takeBody();
    }
}

void HttpTransfer::takeHeader()
{
    const auto* const answer = m_connection->header();
    if (!answer) {
        return m_connection->isOver() ? broken(m_connection->reason()) : void();
    }
    m_idle.start(m_patience.idle);
    if (isRedirect(answer->status)) {
        return follow(*answer);
    }
    return m_first ? takeRest(*answer) : takeFirst(*answer);
}

void HttpTransfer::follow(const HttpAnswer& answer)
{
    const auto place = m_place.resolved(QUrl(QString::fromStdString(answer.location)));
    const bool lessSafe = m_place.scheme() == kSecure && place.scheme() != kSecure;
    if (answer.location.empty() || !isHttp(place) || lessSafe || ++m_redirects > kRedirects) {
        auto where = statusLine(answer) + (lessSafe ? ", https to " + place.scheme().toStdString() : "");
        return giveUp({.code = ErrorCode::ImageUnreadable, .detail = std::move(where)});
    }
    m_place = place;
    drop();
    ask();
}

void HttpTransfer::takeFirst(const HttpAnswer& answer)
{
    const auto body = wholeBody(answer, m_place.path().toStdString());
    if (!body) {
        return giveUp(body.error());
    }
    const HttpIdentity identity{.size = body->total, .validator = validatorOf(answer)};
    if (m_expected && identity != *m_expected) {
        return giveUp({.code = ErrorCode::ImageChanged});
    }
    m_first = answer;
    m_total = body->total;
    m_body = *body;
    m_bodyAt = 0;
    m_redirects = 0;
    m_opened.set_value(HttpOpened{.identity = identity, .endIsMarked = body->endIsMarked});
}

void HttpTransfer::takeRest(const HttpAnswer& answer)
{
    if (isPassing(answer.status)) {
        return broken(statusLine(answer));
    }
    const auto body = restBody(answer, m_place.path().toStdString(), *m_first, m_total, m_at);
    if (!body && answer.status >= 400 && m_place != m_url) {
        // A redirect may lead to an address that holds for a while only.
        m_place = m_url;
        return broken(statusLine(answer));
    }
    if (!body) {
        return giveUp(body.error());
    }
    m_total = m_total ? m_total : body->total;
    m_body = *body;
    m_bodyAt = body->begin;
    m_redirects = 0;
}

void HttpTransfer::takeBody()
{
    bool moved = false;
    while (m_at != m_total) {
        const qint64 count = takeBytes();
        if (count < 0) {
            return m_idle.stop(); // it is the reader who is waited for
        }
        if (count == 0) {
            break;
        }
        moved = true;
    }
    if (m_at == m_total) {
        succeed();
    } else if (m_connection->isOver() || m_bodyAt == m_body->end) {
        connectionOver();
    } else if (moved || !m_idle.isActive()) {
        m_idle.start(m_patience.idle);
    }
}

/// Takes some of what the connection has; 0 if there is nothing, -1 if there is no room for it.
qint64 HttpTransfer::takeBytes()
{
    const Bytes left = m_body->end ? *m_body->end - m_bodyAt : kAtOnce;
    if (m_bodyAt < m_at) {
        std::array<char, 16 * kKiB> known; // the server began before what was asked for
        const auto wanted = std::min({Bytes{known.size()}, left, m_at - m_bodyAt});
        const qint64 count =
            std::max<qint64>(0, m_connection->read(known.data(), static_cast<qint64>(wanted)));
        m_bodyAt += static_cast<Bytes>(count);
        return count;
    }
    const auto room = m_pipe.room();
    if (room.empty()) {
        return -1;
    }
    const auto wanted = static_cast<qint64>(std::min<Bytes>(room.size(), left));
    const qint64 count =
        std::max<qint64>(0, m_connection->read(reinterpret_cast<char*>(room.data()), wanted));
    if (count > 0) {
        m_bodyAt += static_cast<Bytes>(count);
        m_at = m_bodyAt;
        m_triesLeft = m_patience.tries;
        m_delay = m_patience.firstDelay;
        m_pipe.filled(static_cast<std::size_t>(count));
    }
    return count;
}

/// All that it had was taken. It was all there is only where no size was told; a server may also answer with
/// less of a range than was asked for (RFC 9110, 15.3.7).
void HttpTransfer::connectionOver()
{
    if (m_connection->ended() && !m_body->end && m_bodyAt == m_at) {
        return succeed();
    }
    broken(m_connection->reason());
}

void HttpTransfer::wake()
{
    m_pipe.clearWake();
    if (m_pipe.stopped()) {
        return giveUp({.code = ErrorCode::ImageUnreadable, .sysErrno = ECANCELED});
    }
    pump();
}

/// Goes on later, where it was, unless there was no answer at all yet.
void HttpTransfer::broken(const std::string& reason)
{
    drop();
    if (!m_first) {
        return giveUp({.code = ErrorCode::ImageUnreadable, .detail = reason});
    }
    if (m_triesLeft == 0) {
        return giveUp({.code = ErrorCode::ImageTruncated, .detail = reason});
    }
    --m_triesLeft;
    m_pause.start(m_delay);
    m_delay = std::min(m_delay * 2, m_patience.longestDelay);
}

void HttpTransfer::giveUp(FlashError error)
{
    drop();
    if (m_first) {
        error.offset = m_at;
        m_pipe.finish(std::unexpected(std::move(error)));
    } else {
        m_opened.set_value(std::unexpected(std::move(error)));
    }
    m_wake.setEnabled(false);
    m_loop.quit();
}

void HttpTransfer::succeed()
{
    drop();
    m_pipe.finish({});
    m_wake.setEnabled(false);
    m_loop.quit();
}

void HttpTransfer::drop()
{
    m_idle.stop();
    m_pause.stop();
    m_connection.reset();
}

} // namespace burin
