// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "httpconnection.h"

#include <QNetworkProxy>

#include <algorithm>
#include <charconv>

namespace burin {

namespace {

constexpr qint64 kSocketBuffer = qint64{1} << 20;
constexpr qint64 kLongestLine = 16'384;
constexpr qint64 kLongestHead = 65'536;

QByteArray hostOf(const QUrl& url)
{
    auto host = url.host(QUrl::FullyEncoded).toLatin1();
    if (host.contains(':')) {
        host = '[' + host + ']';
    }
    return url.port() < 0 ? host : host + ':' + QByteArray::number(url.port());
}

QByteArray basic(const QString& user, const QString& password)
{
    return "Basic " + (user + QLatin1Char(':') + password).toUtf8().toBase64();
}

QByteArray requestFor(const QUrl& url, const QNetworkProxy* proxy, const HttpConnection::Fields& fields)
{
    auto target = url.path(QUrl::FullyEncoded).toLatin1();
    if (target.isEmpty()) {
        target = "/";
    }
    if (url.hasQuery()) {
        target += '?' + url.query(QUrl::FullyEncoded).toLatin1();
    }
    HttpConnection::Fields all{{"Host", hostOf(url)},
                               {"User-Agent", "Burin/" BURIN_VERSION},
                               {"Accept", "*/*"},
                               {"Accept-Encoding", "identity"},
                               {"Connection", "close"}};
    if (!url.userName().isEmpty()) {
        all.emplace_back("Authorization",
                         basic(url.userName(QUrl::FullyDecoded), url.password(QUrl::FullyDecoded)));
    }
    if (proxy) {
        target = "http://" + hostOf(url) + target;
        if (!proxy->user().isEmpty()) {
            all.emplace_back("Proxy-Authorization", basic(proxy->user(), proxy->password()));
        }
    }
    all.insert(all.end(), fields.begin(), fields.end());
    auto request = "GET " + target + " HTTP/1.1\r\n";
    for (const auto& [name, value] : all) {
        request += name + ": " + value + "\r\n";
    }
    return request + "\r\n";
}

bool isHttpProxy(const QNetworkProxy& proxy)
{
    return proxy.type() == QNetworkProxy::HttpProxy || proxy.type() == QNetworkProxy::HttpCachingProxy;
}

void appendTo(std::string& field, const std::string& value)
{
    field += field.empty() ? value : ", " + value;
}

} // namespace

HttpConnection::HttpConnection(const QUrl& url, const Fields& fields, const QObject* context,
                               const std::function<void()>& changed)
{
    // Queued: the user may destroy this object in `changed`.
    const auto report = [&](auto signal) {
        QObject::connect(&m_socket, signal, context, changed, Qt::QueuedConnection);
    };
    report(&QSslSocket::readyRead);
    report(&QSslSocket::disconnected);
    report(&QSslSocket::errorOccurred);
    QObject::connect(&m_socket, &QSslSocket::disconnected, &m_socket, [this] { m_closed = true; });
    QObject::connect(&m_socket, &QSslSocket::errorOccurred, &m_socket, [this] { m_closed = true; });
    m_socket.setReadBufferSize(kSocketBuffer);
    connectTo(url, fields);
}

/// Through the proxy that the environment names for this URL. QNetworkProxyFactory::
/// setUseSystemConfiguration() would decide that for every socket of the program. TLS errors end the
/// connection, as nothing here ignores them.
void HttpConnection::connectTo(const QUrl& url, const Fields& fields)
{
    const bool secure = url.scheme() == QLatin1StringView("https");
    auto proxy = QNetworkProxyFactory::systemProxyForQuery(QNetworkProxyQuery(url)).value(0);
    const bool byProxy = !secure && isHttpProxy(proxy); // else it makes a tunnel, if it is one at all
    m_request = requestFor(url, byProxy ? &proxy : nullptr, fields);
    const auto send = [this] { (void)m_socket.write(m_request); };
    if (secure) {
        QObject::connect(&m_socket, &QSslSocket::encrypted, &m_socket, send);
    } else {
        QObject::connect(&m_socket, &QSslSocket::connected, &m_socket, send);
    }
    if (byProxy) {
        m_socket.setProxy(QNetworkProxy::NoProxy);
        return m_socket.connectToHost(proxy.hostName(), proxy.port());
    }
    if (isHttpProxy(proxy)) {
        proxy.setType(QNetworkProxy::HttpProxy);
    }
    m_socket.setProxy(proxy.type() == QNetworkProxy::DefaultProxy ? QNetworkProxy::NoProxy : proxy);
    const auto port = static_cast<quint16>(url.port(secure ? 443 : 80));
    if (secure) {
        return m_socket.connectToHostEncrypted(url.host(), port);
    }
    m_socket.connectToHost(url.host(), port);
}

bool HttpConnection::takeLine(QByteArray& line)
{
    if (m_spoilt) {
        return false;
    }
    if (!m_socket.canReadLine()) {
        if (m_socket.bytesAvailable() >= kLongestLine) {
            spoil();
        }
        return false;
    }
    line = m_socket.readLine(kLongestLine);
    if (!line.endsWith('\n')) {
        spoil();
        return false;
    }
    line.chop(line.endsWith("\r\n") ? 2 : 1);
    return true;
}

const HttpAnswer* HttpConnection::header()
{
    QByteArray line;
    while (!m_headDone && takeLine(line)) {
        m_headBytes += line.size();
        if (m_headBytes > kLongestHead || line.contains('\r')) {
            spoil();
        } else if (m_answer.status == 0) {
            takeStatus(line);
        } else if (!line.isEmpty()) {
            takeField(line);
        } else if (m_answer.status < 200) {
            m_answer = {}; // the final answer follows (RFC 9110, 15.2)
        } else {
            beginBody();
        }
    }
    return m_headDone ? &m_answer : nullptr;
}

void HttpConnection::takeStatus(const QByteArray& line)
{
    // "HTTP/1.1 200 OK"; the reason may be missing
    const auto parts = line.split(' ');
    bool isNumber = false;
    const int status = parts.value(1).toInt(&isNumber);
    if (!line.startsWith("HTTP/1.") || parts.value(1).size() != 3 || !isNumber || status < 100) {
        return spoil();
    }
    m_answer.status = status;
    m_answer.reason = parts.sliced(2).join(' ').toStdString();
}

void HttpConnection::takeField(const QByteArray& line)
{
    const auto colon = line.indexOf(':');
    if (colon <= 0 || line.first(colon).contains(' ')) {
        return spoil();
    }
    const auto name = line.first(colon).toLower();
    const auto value = line.sliced(colon + 1).trimmed().toStdString();
    const std::pair<const char*, std::string*> known[] = {
        {"etag", &m_answer.etag},
        {"last-modified", &m_answer.lastModified},
        {"location", &m_answer.location},
        {"content-length", &m_answer.contentLength},
        {"content-range", &m_answer.contentRange},
        {"content-encoding", &m_answer.contentEncoding},
        {"transfer-encoding", &m_answer.transferEncoding},
    };
    for (const auto& [field, to] : known) {
        if (name == field) {
            appendTo(*to, value);
        }
    }
}

/// Transfer-Encoding overrides Content-Length (RFC 9112, 6.3).
void HttpConnection::beginBody()
{
    m_headDone = true;
    if (isChunked(m_answer)) {
        m_framing = Framing::Chunks;
    } else if (const auto length = lengthOf(m_answer)) {
        m_framing = Framing::Length;
        m_left = *length;
        m_ended = m_left == 0;
    }
}

qint64 HttpConnection::read(char* out, qint64 most)
{
    if (!m_headDone || m_ended || m_spoilt) {
        return 0;
    }
    switch (m_framing) {
    case Framing::Close:
        return std::max<qint64>(0, m_socket.read(out, most));
    case Framing::Chunks:
        return readChunks(out, most);
    case Framing::Length:
        break;
    }
    const auto count = readSome(out, most);
    m_ended = m_left == 0;
    return count;
}

/// Of what is left of the body or the chunk.
qint64 HttpConnection::readSome(char* out, qint64 most)
{
    const auto wanted = std::min(static_cast<Bytes>(most), m_left);
    const auto count = std::max<qint64>(0, m_socket.read(out, static_cast<qint64>(wanted)));
    m_left -= static_cast<Bytes>(count);
    return count;
}

qint64 HttpConnection::readChunks(char* out, qint64 most)
{
    QByteArray line;
    while (!m_ended) {
        if (m_chunk == Chunk::Data) {
            const auto count = readSome(out, most);
            m_chunk = m_left == 0 ? Chunk::DataEnd : Chunk::Data;
            return count;
        }
        if (!takeLine(line)) {
            return 0;
        }
        takeChunkLine(line);
    }
    return 0;
}

/// What is around the data of chunks: SIZE[;EXTENSION], an empty line after the data, trailer fields and an
/// empty line after the chunk of size 0 (RFC 9112, 7.1).
void HttpConnection::takeChunkLine(const QByteArray& line)
{
    if (m_chunk == Chunk::Trailer) {
        m_ended = line.isEmpty();
        return;
    }
    if (m_chunk == Chunk::DataEnd) {
        m_chunk = Chunk::Size;
        return line.isEmpty() ? void() : spoil();
    }
    const auto digits = line.first(line.contains(';') ? line.indexOf(';') : line.size()).trimmed();
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), m_left, 16);
    if (error != std::errc() || end != digits.end()) {
        return spoil();
    }
    m_chunk = m_left == 0 ? Chunk::Trailer : Chunk::Data;
}

void HttpConnection::spoil()
{
    m_spoilt = true;
}

bool HttpConnection::isOver() const
{
    return m_ended || m_spoilt || m_closed;
}

bool HttpConnection::ended() const
{
    const bool wentAway = m_closed && m_socket.error() == QAbstractSocket::RemoteHostClosedError;
    return m_ended || (m_headDone && m_framing == Framing::Close && wentAway);
}

std::string HttpConnection::reason() const
{
    return m_spoilt ? "not HTTP" : m_socket.errorString().toStdString();
}

} // namespace burin
