// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/uniquefd.h"

#include <QEventLoop>
#include <QHash>
#include <QHostAddress>
#include <QList>
#include <QSocketNotifier>
#include <QSslConfiguration>
#include <QSslServer>
#include <QTcpServer>
#include <QTcpSocket>

#include <sys/eventfd.h>

#include <condition_variable>
#include <functional>
#include <future>
#include <mutex>
#include <thread>
#include <utility>

namespace burin::fixtures {

struct HttpRequest {
    QByteArray target;
    QHash<QByteArray, QByteArray> headers; ///< names in lower case

    /// N of "Range: bytes=N-", else -1.
    [[nodiscard]] qsizetype from() const
    {
        const auto range = headers.value("range");
        return range.startsWith("bytes=") ? range.sliced(6).chopped(1).toLongLong() : -1;
    }
};

/// What goes over the wire, and whether the connection then stays open without another byte.
struct HttpScript {
    QByteArray bytes;
    bool hang = false;
};
using HttpStep = std::function<HttpScript(const HttpRequest&)>;

/// Answers each request with the next step, the last one again and again, and closes the connection.
class HttpServer
{
public:
    explicit HttpServer(QList<HttpStep> steps, const QSslConfiguration& tls = {})
        : m_steps(std::move(steps)), m_tls(tls)
    {
        std::promise<quint16> listening;
        auto listens = listening.get_future();
        // Not a QThread, whose end the thread sanitizer does not see.
        m_thread = std::jthread([this, &listening] { serve(listening); });
        m_port = listens.get();
    }
    HttpServer(const HttpServer&) = delete;
    HttpServer& operator=(const HttpServer&) = delete;
    ~HttpServer()
    {
        (void)::eventfd_write(m_stop.get(), 1);
        m_thread.join();
    }

    [[nodiscard]] std::string url(const char* path = "/image.img") const
    {
        return std::string(m_tls.isNull() ? "http" : "https") + "://127.0.0.1:" + std::to_string(m_port)
            + path;
    }
    [[nodiscard]] QList<HttpRequest> requests() const
    {
        const std::scoped_lock lock(m_mutex);
        return m_requests;
    }
    void waitForRequest() const
    {
        std::unique_lock lock(m_mutex);
        m_asked.wait(lock, [this] { return !m_requests.isEmpty(); });
    }

private:
    void serve(std::promise<quint16>& listening)
    {
        QEventLoop loop;
        QSocketNotifier stop(m_stop.get(), QSocketNotifier::Read);
        QObject::connect(&stop, &QSocketNotifier::activated, &loop, &QEventLoop::quit);
        QSslServer secure;
        secure.setSslConfiguration(m_tls);
        QTcpServer plain;
        QTcpServer& server = m_tls.isNull() ? plain : secure;
        QObject::connect(&server, &QTcpServer::pendingConnectionAvailable, &server, [&] { accept(server); });
        (void)server.listen(QHostAddress::LocalHost);
        listening.set_value(server.serverPort());
        (void)loop.exec();
    }

    void accept(QTcpServer& server)
    {
        while (auto* const socket = server.nextPendingConnection()) {
            QObject::connect(socket, &QTcpSocket::disconnected, socket, &QObject::deleteLater);
            QObject::connect(socket, &QTcpSocket::readyRead, socket, [this, socket] { answer(*socket); });
            answer(*socket);
        }
    }

    void answer(QTcpSocket& socket)
    {
        const auto head = socket.peek(kLongestHead);
        if (!head.contains("\r\n\r\n")) {
            return;
        }
        (void)socket.readAll();
        const auto request = parsed(head);
        const auto script = next(request)(request);
        (void)socket.write(script.bytes);
        if (!script.hang) {
            socket.disconnectFromHost();
        }
    }

    [[nodiscard]] static HttpRequest parsed(const QByteArray& head)
    {
        HttpRequest request;
        const auto lines = head.split('\n');
        request.target = lines.first().split(' ').value(1);
        for (const auto& line : lines.sliced(1)) {
            if (const auto colon = line.indexOf(':'); colon > 0) {
                request.headers.insert(line.first(colon).toLower(), line.sliced(colon + 1).trimmed());
            }
        }
        return request;
    }

    [[nodiscard]] HttpStep next(const HttpRequest& request)
    {
        const std::scoped_lock lock(m_mutex);
        const auto index = std::min(m_requests.size(), m_steps.size() - 1);
        m_requests.append(request);
        m_asked.notify_all();
        return m_steps.at(index);
    }

    static constexpr qint64 kLongestHead = 16'384;

    const QList<HttpStep> m_steps;
    const QSslConfiguration m_tls;
    mutable std::mutex m_mutex;
    mutable std::condition_variable m_asked;
    QList<HttpRequest> m_requests;
    quint16 m_port = 0;
    UniqueFd m_stop{::eventfd(0, EFD_CLOEXEC)};
    std::jthread m_thread;
};

} // namespace burin::fixtures
