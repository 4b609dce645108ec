// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/httpsource.h"
#include "tests/support/fixtures.h"
#include "tests/support/httpserver.h"

#include <QFile>
#include <QSslCertificate>
#include <QSslKey>
#include <QTest>

#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <thread>

using namespace burin;
using namespace burin::fixtures;
using namespace std::chrono_literals;

using Steps = QList<HttpStep>;
Q_DECLARE_METATYPE(Steps)
Q_DECLARE_METATYPE(std::optional<Bytes>)

namespace {

// Longer than the source's pipe.
constexpr qsizetype kSize = 5'000'000;
constexpr qsizetype kCut = 1'234'567;
// A server that hangs is left at once, and only where a row has one; no row waits between two tries.
constexpr HttpPatience kHasty{.idle = 1h, .tries = 3, .firstDelay = 0ms, .longestDelay = 0ms};

const QByteArray& image()
{
    static const QByteArray bytes = noise("http", kSize);
    return bytes;
}

/// More than all buffers on its way can hold.
const QByteArray& large()
{
    static const QByteArray bytes = noise("large", 1'000'000).repeated(40);
    return bytes;
}

/// A file as a well-behaved server has it, and how the answer misbehaves.
struct File {
    QByteArray data = image();
    QByteArray etag = "\"one\"";
    QByteArray lastModified{};
    QByteArray more{}; ///< further header fields
    bool ranges = true;
    qsizetype cut = -1;     ///< of the body, after which the connection ends
    bool hang = false;      ///< there, instead
    qsizetype longest = -1; ///< of a range
};

QByteArray field(const char* name, const QByteArray& value)
{
    return value.isEmpty() ? QByteArray() : name + (": " + value) + "\r\n";
}

HttpStep send(const File& file)
{
    return [file](const HttpRequest& request) -> HttpScript {
        const auto held = request.headers.value("if-range");
        const bool fresh = held.isEmpty() || held == file.etag || held == file.lastModified;
        const bool part = file.ranges && fresh && request.from() >= 0;
        const auto total = QByteArray::number(file.data.size());
        if (part && request.from() >= file.data.size()) {
            return {"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */" + total
                    + "\r\nContent-Length: 0\r\n\r\n"};
        }
        auto body = part ? file.data.sliced(request.from()) : file.data;
        body.truncate(part && file.longest >= 0 ? std::min(file.longest, body.size()) : body.size());
        auto bytes = QByteArray(part ? "HTTP/1.1 206 Partial Content\r\n" : "HTTP/1.1 200 OK\r\n")
            + field("ETag", file.etag) + field("Last-Modified", file.lastModified) + file.more
            + field("Content-Length", QByteArray::number(body.size()));
        if (part) {
            bytes += field("Content-Range",
                           "bytes " + QByteArray::number(request.from()) + '-'
                               + QByteArray::number(request.from() + body.size() - 1) + '/' + total);
        }
        return {bytes + "\r\n" + (file.cut >= 0 ? body.first(std::min(file.cut, body.size())) : body),
                file.hang};
    };
}

HttpStep raw(const QByteArray& bytes, bool hang = false)
{
    return [bytes, hang](const HttpRequest&) -> HttpScript { return {bytes, hang}; };
}

QByteArray chunked(const QByteArray& data, bool finished = true)
{
    QByteArray bytes = "HTTP/1.1 200 OK\r\nETag: \"one\"\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (qsizetype at = 0; at < data.size(); at += 100'000) {
        const auto chunk = data.sliced(at, std::min<qsizetype>(100'000, data.size() - at));
        bytes += QByteArray::number(chunk.size(), 16) + "\r\n" + chunk + "\r\n";
    }
    return bytes + (finished ? "0\r\n\r\n" : "");
}

QByteArray redirect(const QByteArray& to)
{
    return "HTTP/1.1 302 Found\r\nLocation: " + to + "\r\nContent-Length: 9\r\n\r\nElsewhere";
}

/// A 206 with this Content-Range in front of the rest of the image.
HttpStep wrongRange(const QByteArray& range)
{
    return [range](const HttpRequest& request) -> HttpScript {
        const auto rest = image().sliced(request.from());
        return {"HTTP/1.1 206 Partial Content\r\nETag: \"one\"\r\n" + field("Content-Range", range)
                + field("Content-Length", QByteArray::number(rest.size())) + "\r\n" + rest};
    };
}

QByteArray pem()
{
    QFile file(QString::fromStdString(path("server.pem")));
    return file.open(QIODevice::ReadOnly) ? file.readAll() : QByteArray();
}

QSslConfiguration serverTls()
{
    auto tls = QSslConfiguration::defaultConfiguration();
    tls.setLocalCertificate(QSslCertificate(pem()));
    tls.setPrivateKey(QSslKey(pem(), QSsl::Ec));
    return tls;
}

/// As if the system knew the server's certificate.
class TrustingTheServer
{
public:
    TrustingTheServer() : m_before(QSslConfiguration::defaultConfiguration())
    {
        auto trusting = m_before;
        trusting.addCaCertificate(QSslCertificate(pem()));
        QSslConfiguration::setDefaultConfiguration(trusting);
    }
    TrustingTheServer(const TrustingTheServer&) = delete;
    TrustingTheServer& operator=(const TrustingTheServer&) = delete;
    ~TrustingTheServer() { QSslConfiguration::setDefaultConfiguration(m_before); }

private:
    QSslConfiguration m_before;
};

} // namespace

class TstHttpSource : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void delivers_data();
    void delivers();
    void takesUpWhereItBroke_data();
    void takesUpWhereItBroke();
    void failsToOpen_data();
    void failsToOpen();
    void failsWhileReading_data();
    void failsWhileReading();
    void asksTheFirstAddressAgain();
    void asksPolitely();
    void refusesWhereNothingListens();
    void expectsTheSameContent();
    void noticesAChange();
    void interruptEndsARead();
    void stopEndsAnOpening();
    void leavesAServerThatHangs();
    void leavesWhatWasNotRead();
    void waitsForTheReader();
    void trustsNoUnknownServer();
    void readsOverTls();
    void leavesNoTlsByARedirect();
    void asksTheEnvironmentsProxy();
};

void TstHttpSource::initTestCase()
{
    qRegisterMetaType<Steps>();
    for (const char* name :
         {"http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"}) {
        (void)qunsetenv(name);
    }
}

void TstHttpSource::delivers_data()
{
    QTest::addColumn<Steps>("steps");
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<bool>("sizeKnown");
    QTest::addColumn<bool>("endIsMarked");
    const auto row = [](const char* name, const Steps& steps, bool sizeKnown = true, bool endIsMarked = true,
                        const char* path = "/image.img") {
        QTest::newRow(name) << steps << QByteArray(path) << sizeKnown << endIsMarked;
    };
    row("whole", {send({})});
    row("no validator", {send({.etag = {}})});
    row("keep-alive", {send({.hang = true})});
    row("chunked", {raw(chunked(image()))}, false);
    row("chunked, with a length too",
        {raw(chunked(image()).replace("Transfer-", "Content-Length: 7\r\nTransfer-"))}, false);
    row("until the connection closes", {raw("HTTP/1.0 200 OK\r\n\r\n" + image())}, false, false);
    row("redirect", {raw(redirect("/other.img")), send({})});
    row("ten redirects", Steps(10, raw(redirect("/other.img"))) << send({}));
    row("stored compressed", {send({.more = "Content-Encoding: x-gzip\r\n"})}, true, true, "/image.img.gz");
    row("encoding none", {send({.more = "Content-Encoding: identity\r\n"})});
}

void TstHttpSource::delivers()
{
    QFETCH(Steps, steps);
    QFETCH(QByteArray, path);
    QFETCH(bool, sizeKnown);
    QFETCH(bool, endIsMarked);
    const HttpServer server(steps);
    for (const std::size_t step : {std::size_t{65'536}, std::size_t{kSize}, std::size_t{kSize} + 1}) {
        if (step != 65'536 && steps.size() > 1) {
            continue; // the server goes through its steps once
        }
        const auto source = HttpSource::open(server.url(path.constData()), {}, kHasty);
        QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
        const auto size = sizeKnown ? std::optional<Bytes>(kSize) : std::nullopt;
        QVERIFY((*source)->unpackedSize() == size);
        QCOMPARE((*source)->fileSize(), size.value_or(0));
        QCOMPARE((*source)->endIsMarked(), endIsMarked);
        const auto outcome = readAll(**source, step);
        QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
        QVERIFY(outcome.data == image());
        QCOMPARE((*source)->consumed(), Bytes{kSize});
        std::byte one{};
        const auto more = (*source)->read(std::span(&one, 1));
        QVERIFY(more.has_value());
        QCOMPARE(*more, std::size_t{0});
    }
}

void TstHttpSource::takesUpWhereItBroke_data()
{
    QTest::addColumn<Steps>("steps");
    QTest::addColumn<QList<qint64>>("asked");
    const auto row = [](const char* name, const Steps& steps, const QList<qint64>& asked) {
        QTest::newRow(name) << steps << asked;
    };
    const QByteArray date = "Fri, 01 Aug 2025 12:00:00 GMT";
    const File cut{.cut = kCut};
    const auto unavailable = raw("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n");
    row("broken once", {send(cut), send({})}, {-1, kCut});
    row("before the first byte", {send({.cut = 0}), send({})}, {-1, -1});
    row("at the last byte", {send({.cut = kSize - 1}), send({})}, {-1, kSize - 1});
    Steps ten(11, send({.cut = 400'000}));
    QList<qint64> asked{-1};
    for (qint64 i = 1; i <= 10; ++i) {
        asked << 400'000 * i;
    }
    row("ten times", Steps(ten) << send({}), asked << 4'400'000);
    row("less of the range than asked for", {send(cut), send({.longest = 2'000'000})},
        {-1, kCut, kCut + 2'000'000});
    row("server without ranges", {send(cut), send({.ranges = false})}, {-1, kCut});
    row("server without ranges, broken before", {send(cut), send({.ranges = false, .cut = 7}), send({})},
        {-1, kCut, kCut});
    row("by date",
        {send({.etag = {}, .lastModified = date, .cut = kCut}), send({.etag = {}, .lastModified = date})},
        {-1, kCut});
    row("another date for the same ETag",
        {send({.lastModified = date, .cut = kCut}), send({.lastModified = "Sat, 02 Aug 2025 12:00:00 GMT"})},
        {-1, kCut});
    row("by date beside a weak ETag",
        {send({.etag = "W/\"a\"", .lastModified = date, .cut = kCut}),
         send({.etag = "W/\"a\"", .lastModified = date})},
        {-1, kCut});
    row("unavailable for a while", {send(cut), unavailable, unavailable, send({})}, {-1, kCut, kCut, kCut});
    row("nothing answered", {send(cut), raw({}), raw({}), send({})}, {-1, kCut, kCut, kCut});
    row("chunks", {raw(chunked(image().first(2'000'000), false)), send({})}, {-1, 2'000'000});
    row("only the end mark missing", {raw(chunked(image(), false)), send({})}, {-1, kSize});
    row("where the redirect led", {raw(redirect("/other.img")), send(cut), send({})}, {-1, -1, kCut});
}

void TstHttpSource::takesUpWhereItBroke()
{
    QFETCH(Steps, steps);
    QFETCH(QList<qint64>, asked);
    const HttpServer server(steps);
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
    const auto outcome = readAll(**source, 65'536);
    QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
    QVERIFY(outcome.data == image());
    QList<qint64> seen;
    for (const auto& request : server.requests()) {
        seen << request.from();
        QCOMPARE(request.headers.contains("if-range"), request.from() >= 0);
    }
    QCOMPARE(seen, asked);
}

void TstHttpSource::failsToOpen_data()
{
    QTest::addColumn<Steps>("steps");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QByteArray>("detail");
    using enum ErrorCode;
    const auto row = [](const char* name, const HttpStep& step, ErrorCode code, const char* detail) {
        QTest::newRow(name) << Steps{step} << code << QByteArray(detail);
    };
    row("not found", raw("HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nGone"), ImageUnreadable,
        "404 Not Found");
    row("unavailable", raw("HTTP/1.1 503 Service Unavailable\r\n\r\n"), ImageUnreadable,
        "503 Service Unavailable");
    row("no content", raw("HTTP/1.1 204 No Content\r\n\r\n"), ImageUnreadable, "204 No Content");
    row("a part unasked", raw("HTTP/1.1 206 Partial Content\r\nContent-Length: 2\r\n\r\nab"), ImageUnreadable,
        "206 Partial Content");
    row("redirects for ever", raw(redirect("/other.img")), ImageUnreadable, "302 Found");
    row("redirect to a file", raw(redirect("file:///etc/hostname")), ImageUnreadable, "");
    row("redirect to nowhere", raw("HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"), ImageUnreadable,
        "302 Found");
    row("compressed on the way", send({.more = "Content-Encoding: gzip\r\n"}), ImageUnreadable,
        "Content-Encoding: gzip");
    row("no HTTP", raw("SSH-2.0-OpenSSH_9.6\r\n"), ImageUnreadable, "");
    row("a length that is none", raw("HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\nab"),
        ImageUnreadable, "Content-Length: 99999999999999999999");
    row("empty", send({.data = {}}), ImageEmpty, "");
}

void TstHttpSource::failsToOpen()
{
    QFETCH(Steps, steps);
    QFETCH(ErrorCode, code);
    QFETCH(QByteArray, detail);
    const HttpServer server(steps);
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(!source.has_value());
    QCOMPARE(source.error().code, code);
    if (!detail.isEmpty()) {
        QCOMPARE(QByteArray::fromStdString(source.error().detail), detail);
    }
}

void TstHttpSource::failsWhileReading_data()
{
    QTest::addColumn<Steps>("steps");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<qint64>("offset");
    using enum ErrorCode;
    const auto row = [](const char* name, const Steps& steps, ErrorCode code, qint64 offset = kCut) {
        QTest::newRow(name) << steps << code << offset;
    };
    const QByteArray date = "Fri, 01 Aug 2025 12:00:00 GMT";
    const QByteArray later = "Fri, 01 Aug 2025 12:00:01 GMT";
    const auto cut = send({.cut = kCut});
    const auto cutByDate = send({.etag = {}, .lastModified = date, .cut = kCut});
    const auto cutNameless = send({.etag = {}, .cut = kCut});
    const auto range = [](qint64 first, qint64 last, qint64 total) {
        return "bytes " + QByteArray::number(first) + '-' + QByteArray::number(last) + '/'
            + QByteArray::number(total);
    };
    row("another ETag", {cut, send({.etag = "\"two\""})}, ImageChanged);
    row("another ETag in a part", {cut, send({.etag = "\"two\"", .more = "X: y\r\n"}), send({})},
        ImageChanged);
    row("no ETag any more", {cut, send({.etag = {}, .ranges = false})}, ImageChanged);
    row("another date", {cutByDate, send({.etag = {}, .lastModified = later})}, ImageChanged);
    row("nothing to know it by", {cutNameless, send({.etag = {}, .ranges = false})}, ImageChanged);
    row("nothing to know a part by", {cutNameless, send({.etag = {}})}, ImageChanged);
    row("another size", {cut, send({.data = image().first(kSize - 1)})}, ImageChanged);
    row("another size, whole", {cut, send({.data = image() + 'x', .ranges = false})}, ImageChanged);
    row("shorter than what came", {cut, send({.data = image().first(kCut)})}, ImageChanged);
    row("another place", {cut, wrongRange(range(kCut - 1, kSize - 1, kSize))}, ImageUnreadable);
    row("another total", {cut, wrongRange(range(kCut, kSize, kSize + 1))}, ImageChanged);
    row("beyond the total", {cut, wrongRange(range(kCut, kSize, kSize))}, ImageUnreadable);
    row("no place", {cut, wrongRange({})}, ImageUnreadable);
    row("gone", {cut, raw("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")}, ImageUnreadable);
    row("short for ever", {cut, send({.cut = 0})}, ImageTruncated);
    row("short for ever, without ranges", {send({.ranges = false, .cut = kCut})}, ImageTruncated);
    row("unavailable for ever", {cut, raw("HTTP/1.1 503 Service Unavailable\r\n\r\n")}, ImageTruncated);
    row("chunks broken for ever", {raw(chunked(image().first(100'000), false)), raw({})}, ImageTruncated,
        100'000);
    row("nothing in chunks", {raw(chunked({}))}, ImageEmpty, -1);
    row("nothing until the connection closes", {raw("HTTP/1.0 200 OK\r\n\r\n")}, ImageEmpty, -1);
}

void TstHttpSource::failsWhileReading()
{
    QFETCH(Steps, steps);
    QFETCH(ErrorCode, code);
    QFETCH(qint64, offset);
    const HttpServer server(steps);
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
    constexpr qint64 kStep = 9'721;
    const auto outcome = readAll(**source, kStep);
    QVERIFY(outcome.error.has_value());
    QCOMPARE(outcome.error->code, code);
    QVERIFY(outcome.data == image().first(std::max<qint64>(offset, 0) / kStep * kStep));
    if (offset >= 0) {
        QCOMPARE(outcome.error->offset, std::optional<std::uint64_t>(static_cast<std::uint64_t>(offset)));
    }
    std::byte one{};
    const auto again = (*source)->read(std::span(&one, 1));
    QVERIFY(!again.has_value());
    QCOMPARE(again.error(), *outcome.error);
}

void TstHttpSource::asksTheFirstAddressAgain()
{
    // where the redirect's target held for a while only
    const HttpServer server({raw(redirect("/signed.img")), send({.cut = kCut}),
                             raw("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n"),
                             raw(redirect("/signed-again.img")), send({.cut = 1}), send({})});
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
    QVERIFY(readAll(**source, kMiB).data == image());
    QList<QByteArray> targets;
    for (const auto& request : server.requests()) {
        targets << request.target;
    }
    const QList<QByteArray> expected{"/image.img", "/signed.img",       "/signed.img",
                                     "/image.img", "/signed-again.img", "/signed-again.img"};
    QCOMPARE(targets, expected);
}

void TstHttpSource::asksPolitely()
{
    const HttpServer server({send({.more = "Set-Cookie: a=b\r\n", .cut = kCut}), send({})});
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(source.has_value());
    QVERIFY(!readAll(**source, kMiB).error);
    QCOMPARE(server.requests().size(), 2);
    for (const auto& request : server.requests()) {
        QCOMPARE(request.headers.value("accept-encoding"), QByteArray("identity"));
        QVERIFY(request.headers.value("user-agent").startsWith("Burin/"));
        QVERIFY(!request.headers.contains("cookie"));
    }
}

void TstHttpSource::refusesWhereNothingListens()
{
    std::string url;
    {
        const HttpServer server({send({})});
        url = server.url();
    }
    const auto source = HttpSource::open(url, {}, kHasty);
    QVERIFY(!source.has_value());
    QCOMPARE(source.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(source.error().detail, std::string("Connection refused"));
    for (const char* none :
         {"", "image.img", "file:///etc/hostname", "ftp://127.0.0.1/a", "http:///a", "http://a b/"}) {
        const auto other = HttpSource::open(none, {}, kHasty);
        QVERIFY2(!other.has_value(), none);
        QCOMPARE(other.error().code, ErrorCode::ImageUnreadable);
        QCOMPARE(other.error().sysErrno, EINVAL);
    }
}

void TstHttpSource::expectsTheSameContent()
{
    const HttpServer server({send({})});
    const HttpIdentity same{.size = kSize, .validator = "\"one\""};
    const auto source = HttpSource::open(server.url(), same, kHasty);
    QVERIFY(source.has_value());
    QVERIFY((*source)->identity() == same);
    for (const auto& other : {HttpIdentity{.size = kSize + 1, .validator = "\"one\""},
                              HttpIdentity{.size = kSize, .validator = "\"two\""}, HttpIdentity{}}) {
        const auto changed = HttpSource::open(server.url(), other, kHasty);
        QVERIFY(!changed.has_value());
        QCOMPARE(changed.error().code, ErrorCode::ImageChanged);
    }
}

void TstHttpSource::noticesAChange()
{
    const HttpServer server(
        {send({}), send({}), raw("HTTP/1.1 503 Service Unavailable\r\n\r\n"), send({.etag = "\"two\""})});
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(source.has_value());
    QVERIFY((*source)->checkUnchanged().has_value());
    QVERIFY((*source)->checkUnchanged().has_value());
    const auto changed = (*source)->checkUnchanged();
    QVERIFY(!changed.has_value());
    QCOMPARE(changed.error().code, ErrorCode::ImageChanged);
}

void TstHttpSource::interruptEndsARead()
{
    const HttpServer server({send({.cut = kCut, .hang = true})});
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(source.has_value());
    std::vector<std::byte> buffer(kCut);
    QCOMPARE((*source)->read(buffer).value_or(0), buffer.size());
    auto waiting =
        std::async(std::launch::async, [&] { return (*source)->read(std::span(buffer).first(1)); });
    (*source)->interrupt();
    const auto ended = waiting.get();
    QVERIFY(!ended.has_value());
    QCOMPARE(ended.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(ended.error().sysErrno, ECANCELED);
    QCOMPARE(ended.error().offset, std::optional<std::uint64_t>(kCut));
    QVERIFY(!(*source)->read(buffer).has_value());
}

void TstHttpSource::stopEndsAnOpening()
{
    const HttpServer server({raw("HTTP/1.1 200 OK\r\n", true)});
    std::stop_source stop;
    const std::jthread stopper([&] {
        server.waitForRequest();
        stop.request_stop();
    });
    const auto source = HttpSource::open(server.url(), {}, kHasty, stop.get_token());
    QVERIFY(!source.has_value());
    QCOMPARE(source.error().sysErrno, ECANCELED);
}

void TstHttpSource::leavesAServerThatHangs()
{
    HttpPatience patience = kHasty;
    patience.idle = 300ms;
    const HttpServer server({send({.cut = kCut, .hang = true}), send({})});
    const auto source = HttpSource::open(server.url(), {}, patience);
    QVERIFY(source.has_value());
    const auto outcome = readAll(**source, kMiB);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == image());

    const HttpServer silent({raw({}, true)});
    const auto none = HttpSource::open(silent.url(), {}, patience);
    QVERIFY(!none.has_value());
    QCOMPARE(none.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(none.error().detail, std::string("timed out"));
}

void TstHttpSource::leavesWhatWasNotRead()
{
    const HttpServer server({send({.data = large()})});
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(source.has_value());
    std::vector<std::byte> buffer(1000);
    QCOMPARE((*source)->read(buffer).value_or(0), buffer.size());
}

void TstHttpSource::waitsForTheReader()
{
    // The reader's pause is no fault of the server's, whose time runs only while there is room.
    HttpPatience patience = kHasty;
    patience.idle = 1s;
    const HttpServer server({send({.data = large()})});
    const auto source = HttpSource::open(server.url(), {}, patience);
    QVERIFY(source.has_value());
    const HttpServer silent({raw({}, true)});
    for (int i = 0; i < 2; ++i) {
        const auto none = HttpSource::open(silent.url(), {}, patience);
        QCOMPARE(none.error().detail, std::string("timed out"));
    }
    const auto outcome = readAll(**source, 4096);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == large());
    QCOMPARE(server.requests().size(), 1);
}

void TstHttpSource::trustsNoUnknownServer()
{
    const HttpServer server({send({})}, serverTls());
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(!source.has_value());
    QCOMPARE(source.error().code, ErrorCode::ImageUnreadable);
    QVERIFY2(source.error().detail.contains("self-signed"), source.error().detail.c_str());
    QVERIFY(server.requests().isEmpty());
}

void TstHttpSource::readsOverTls()
{
    const TrustingTheServer trust;
    const HttpServer server({raw(redirect("/other.img")), send({.cut = kCut}), send({})}, serverTls());
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
    const auto outcome = readAll(**source, 65'536);
    QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
    QVERIFY(outcome.data == image());
    QCOMPARE(server.requests().size(), 3);
    QCOMPARE(server.requests().last().from(), kCut);
}

void TstHttpSource::leavesNoTlsByARedirect()
{
    const TrustingTheServer trust;
    const HttpServer open({send({})});
    const HttpServer server({raw(redirect(QByteArray::fromStdString(open.url())))}, serverTls());
    const auto source = HttpSource::open(server.url(), {}, kHasty);
    QVERIFY(!source.has_value());
    QCOMPARE(source.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(source.error().detail, std::string("302 Found, https to http"));
    QVERIFY(open.requests().isEmpty());
}

void TstHttpSource::asksTheEnvironmentsProxy()
{
    const HttpServer proxy({send({})});
    const auto address = proxy.url("");
    (void)qputenv("http_proxy", QByteArray::fromStdString(address));
    const auto source = HttpSource::open("http://images.invalid/a.img", {}, kHasty);
    (void)qunsetenv("http_proxy");
    QVERIFY2(source.has_value(), source.has_value() ? "" : source.error().detail.c_str());
    QVERIFY(readAll(**source, kMiB).data == image());
    QCOMPARE(proxy.requests().first().target, QByteArray("http://images.invalid/a.img"));
}

QTEST_GUILESS_MAIN(TstHttpSource)
#include "tst_httpsource.moc"
