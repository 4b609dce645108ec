// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "bytepipe.h"
#include "httpanswer.h"
#include "httpconnection.h"

#include <QEventLoop>
#include <QSocketNotifier>
#include <QTimer>
#include <QUrl>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>

namespace burin {

[[nodiscard]] bool isHttp(const QUrl& url);

/// Fetches the file at a URL into a pipe, over as many connections as that takes. Made, run and destroyed in
/// one thread, which is its own: run() is an event loop until the file has been delivered or given up.
class HttpTransfer
{
public:
    HttpTransfer(const QUrl& url, const std::optional<HttpIdentity>& expected, const HttpPatience& patience,
                 BytePipe& pipe, std::promise<Result<HttpOpened>>& opened);
    HttpTransfer(const HttpTransfer&) = delete;
    HttpTransfer& operator=(const HttpTransfer&) = delete;
    ~HttpTransfer();

    void run();

private:
    void ask();
    void pump();
    void takeHeader();
    void follow(const HttpAnswer& answer);
    void takeFirst(const HttpAnswer& answer);
    void takeRest(const HttpAnswer& answer);
    void takeBody();
    [[nodiscard]] qint64 takeBytes();
    void connectionOver();
    void wake();

    void broken(const std::string& reason);
    void giveUp(FlashError error);
    void succeed();
    void drop();

    QUrl m_url;   ///< as it was given
    QUrl m_place; ///< where its redirects led
    int m_redirects = 0;
    std::optional<HttpIdentity> m_expected;
    HttpPatience m_patience;
    BytePipe& m_pipe;
    std::promise<Result<HttpOpened>>& m_opened;

    std::optional<HttpAnswer> m_first; ///< the header that opened the source
    std::optional<Bytes> m_total;
    Offset m_at = 0; ///< delivered
    int m_triesLeft;
    std::chrono::milliseconds m_delay;

    std::optional<HttpBody> m_body; ///< of this reply, once its header was accepted
    Offset m_bodyAt = 0;            ///< where this reply's next byte belongs

    QEventLoop m_loop;
    QObject m_context;
    QTimer m_idle;
    QTimer m_pause;
    QSocketNotifier m_wake;
    std::unique_ptr<HttpConnection> m_connection;
};

} // namespace burin
