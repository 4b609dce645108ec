// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "httpanswer.h"

#include <QByteArray>
#include <QSslSocket>
#include <QUrl>

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace burin {

/// One GET over one connection (HTTP/1.1, RFC 9112), read no faster than its user takes the body.
///
/// Not QNetworkAccessManager, measured with Qt 6.8.2: it reports a chunked body whose connection broke as
/// finished without an error; with a limited buffer it drops what it had when a connection breaks, at times
/// stalls there, and loses the limit when it follows a redirect.
class HttpConnection
{
public:
    using Fields = std::vector<std::pair<QByteArray, QByteArray>>;

    /// Asks for `url` with these fields beside the usual ones. `changed` is called in the context's thread,
    /// from its event loop, whenever there may be more to take.
    HttpConnection(const QUrl& url, const Fields& fields, const QObject* context,
                   const std::function<void()>& changed);

    /// Nothing until it has come completely.
    [[nodiscard]] const HttpAnswer* header();
    /// Some bytes of the body, after the header; 0 if there are none, now or any more.
    [[nodiscard]] qint64 read(char* out, qint64 most);

    /// There is no more to come, ever. Then ended() tells whether the body came to its end.
    [[nodiscard]] bool isOver() const;
    /// By its length, by its last chunk, or by the connection's end where nothing else marks it.
    [[nodiscard]] bool ended() const;
    /// Why not, in the system's or Qt's words.
    [[nodiscard]] std::string reason() const;

private:
    enum class Framing { Length, Chunks, Close };
    enum class Chunk { Size, Data, DataEnd, Trailer };

    void connectTo(const QUrl& url, const Fields& fields);
    [[nodiscard]] bool takeLine(QByteArray& line);
    void takeStatus(const QByteArray& line);
    void takeField(const QByteArray& line);
    void beginBody();
    [[nodiscard]] qint64 readSome(char* out, qint64 most);
    [[nodiscard]] qint64 readChunks(char* out, qint64 most);
    void takeChunkLine(const QByteArray& line);
    void spoil();

    QSslSocket m_socket;
    QByteArray m_request;
    HttpAnswer m_answer;
    qint64 m_headBytes = 0;
    bool m_headDone = false;
    Framing m_framing = Framing::Close;
    Chunk m_chunk = Chunk::Size;
    Bytes m_left = 0; ///< of the body, or of the chunk
    bool m_ended = false;
    bool m_spoilt = false; ///< what came is no HTTP
    bool m_closed = false;
};

} // namespace burin
