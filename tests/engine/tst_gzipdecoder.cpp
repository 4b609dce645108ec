// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/gzipdecoder.h"

#include <QRandomGenerator>
#include <QTest>

#include <zlib.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>

using namespace burin;
using Framing = GzipDecoder::Framing;

namespace {

/// What zlib, the reference, makes of `data`.
QByteArray deflated(const QByteArray& data, Framing framing, int level, int strategy, gz_header* header = {})
{
    z_stream stream = {};
    const int bits = framing == Framing::Gzip ? MAX_WBITS + 16 : -MAX_WBITS;
    deflateInit2(&stream, level, Z_DEFLATED, bits, 8, strategy);
    if (header != nullptr) {
        deflateSetHeader(&stream, header);
    }
    QByteArray packed(static_cast<qsizetype>(deflateBound(&stream, static_cast<uLong>(data.size()))) + 1024,
                      '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
    stream.avail_in = static_cast<uInt>(data.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.truncate(static_cast<qsizetype>(stream.total_out));
    deflateEnd(&stream);
    return packed;
}

QByteArray gzipped(const QByteArray& data)
{
    return deflated(data, Framing::Gzip, 6, Z_DEFAULT_STRATEGY);
}

/// Text that repeats, with runs that do not.
QByteArray mixed(qsizetype size)
{
    QRandomGenerator random(7);
    QByteArray data;
    while (data.size() < size) {
        data += QByteArray("partition ").repeated(random.bounded(1, 40));
        for (int i = random.bounded(200); i > 0; --i) {
            data += static_cast<char>(random.bounded(256));
        }
    }
    data.truncate(size);
    return data;
}

struct Outcome {
    QByteArray data;
    qsizetype taken = 0;
    bool ended = false;
    std::optional<FlashError> error;
};

/// Offers the input in pieces of `inPiece` bytes, as a source does: what was not taken is offered again.
Outcome unpack(GzipDecoder& decoder, const QByteArray& packed, qsizetype inPiece = 1 << 20,
               qsizetype outPiece = 1 << 16)
{
    Outcome outcome;
    QByteArray room(outPiece, '\0');
    qsizetype offered = std::min(inPiece, packed.size());
    for (;;) {
        const auto in = std::as_bytes(
            std::span(packed.constData() + outcome.taken, static_cast<std::size_t>(offered - outcome.taken)));
        const auto out =
            std::as_writable_bytes(std::span(room.data(), static_cast<std::size_t>(room.size())));
        const auto step = decoder.decode(in, offered == packed.size(), out);
        if (!step) {
            outcome.error = step.error();
            return outcome;
        }
        outcome.data.append(room.constData(), static_cast<qsizetype>(step->made));
        outcome.taken += static_cast<qsizetype>(step->taken);
        if (step->streamEnd) {
            outcome.ended = true;
            return outcome;
        }
        if (step->taken == 0 && step->made == 0) {
            if (offered == packed.size()) {
                return outcome;
            }
            offered = std::min(offered + inPiece, packed.size());
        }
    }
}

} // namespace

/// The decoder against zlib, which packed what is unpacked here.
class TestGzipDecoder : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void pieces_data();
    void pieces();
    void headerInPieces_data();
    void headerInPieces();
    void badHeader_data();
    void badHeader();
    void damagedTrailer_data();
    void damagedTrailer();
    void cutAnywhere_data();
    void cutAnywhere();
    void bareLeavesWhatFollows_data();
    void bareLeavesWhatFollows();
    void streamsInARow();
};

void TestGzipDecoder::pieces_data()
{
    QTest::addColumn<QByteArray>("data");
    QTest::addColumn<int>("level");
    QTest::addColumn<int>("strategy");
    struct Kind {
        const char* name;
        int level;
        int strategy;
    };
    static constexpr std::array<Kind, 5> kKinds = {{{"stored", 0, Z_DEFAULT_STRATEGY},
                                                    {"fast", 1, Z_DEFAULT_STRATEGY},
                                                    {"best", 9, Z_DEFAULT_STRATEGY},
                                                    {"fixed codes", 6, Z_FIXED},
                                                    {"no matches", 6, Z_HUFFMAN_ONLY}}};
    for (const auto& kind : kKinds) {
        for (const qsizetype size : {0, 1, 9, 300, 32768, 65536, 200'001}) {
            QTest::addRow("%s %d", kind.name, static_cast<int>(size))
                << mixed(size) << kind.level << kind.strategy;
        }
        QTest::addRow("%s zeros", kind.name) << QByteArray(150'000, '\0') << kind.level << kind.strategy;
    }
}

void TestGzipDecoder::pieces()
{
    QFETCH(QByteArray, data);
    QFETCH(int, level);
    QFETCH(int, strategy);
    for (const auto framing : {Framing::Gzip, Framing::Bare}) {
        const auto packed = deflated(data, framing, level, strategy);
        for (const qsizetype inPiece : {1, 7, 4096, 1 << 20}) {
            for (const qsizetype outPiece : {1, 13, 65536}) {
                GzipDecoder decoder(framing);
                const auto outcome = unpack(decoder, packed, inPiece, outPiece);
                QVERIFY2(!outcome.error, "an intact stream is refused");
                QVERIFY(outcome.ended);
                QCOMPARE(outcome.taken, packed.size());
                QVERIFY(outcome.data == data);
            }
        }
    }
}

void TestGzipDecoder::headerInPieces_data()
{
    QTest::addColumn<qsizetype>("piece");
    for (const qsizetype piece : {1, 2, 3, 5, 10, 11, 64, 1000}) {
        QTest::addRow("%d", static_cast<int>(piece)) << piece;
    }
}

void TestGzipDecoder::headerInPieces()
{
    QFETCH(qsizetype, piece);
    QByteArray extra(300, 'x');
    QByteArray name("debian.img");
    QByteArray comment("a comment");
    const auto data = mixed(5000);
    for (unsigned wanted = 0; wanted < 16; ++wanted) {
        gz_header header = {};
        header.extra = (wanted & 1) != 0 ? reinterpret_cast<Bytef*>(extra.data()) : nullptr;
        header.extra_len = static_cast<uInt>(extra.size());
        header.name = (wanted & 2) != 0 ? reinterpret_cast<Bytef*>(name.data()) : nullptr;
        header.comment = (wanted & 4) != 0 ? reinterpret_cast<Bytef*>(comment.data()) : nullptr;
        header.hcrc = (wanted & 8) != 0 ? 1 : 0;
        const auto packed = deflated(data, Framing::Gzip, 6, Z_DEFAULT_STRATEGY, &header);
        GzipDecoder decoder(Framing::Gzip);
        const auto outcome = unpack(decoder, packed, piece);
        QVERIFY(!outcome.error);
        QVERIFY(outcome.ended);
        QVERIFY(outcome.data == data);
    }
}

void TestGzipDecoder::badHeader_data()
{
    QTest::addColumn<int>("at");
    QTest::addColumn<int>("value");
    QTest::newRow("first magic byte") << 0 << 0x1e;
    QTest::newRow("second magic byte") << 1 << 0x8c;
    QTest::newRow("another method") << 2 << 7;
    QTest::newRow("a reserved flag") << 3 << 0x20;
    QTest::newRow("the last reserved flag") << 3 << 0x80;
}

void TestGzipDecoder::badHeader()
{
    QFETCH(int, at);
    QFETCH(int, value);
    auto packed = gzipped(mixed(1000));
    packed[at] = static_cast<char>(value);
    for (const qsizetype piece : {1, 1000}) {
        GzipDecoder decoder(Framing::Gzip);
        const auto outcome = unpack(decoder, packed, piece);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
        QVERIFY(outcome.data.isEmpty());
    }
}

void TestGzipDecoder::damagedTrailer_data()
{
    QTest::addColumn<int>("fromEnd");
    for (int fromEnd = 1; fromEnd <= 8; ++fromEnd) {
        QTest::addRow("%s byte %d", fromEnd <= 4 ? "length" : "CRC", fromEnd) << fromEnd;
    }
}

void TestGzipDecoder::damagedTrailer()
{
    QFETCH(int, fromEnd);
    auto packed = gzipped(mixed(100'000));
    const auto at = packed.size() - fromEnd;
    packed[at] = static_cast<char>(packed[at] ^ 0x10);
    for (const qsizetype piece : {1, 4096, 1 << 20}) {
        GzipDecoder decoder(Framing::Gzip);
        const auto outcome = unpack(decoder, packed, piece);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
        QVERIFY(!outcome.ended);
    }
}

void TestGzipDecoder::cutAnywhere_data()
{
    QTest::addColumn<qsizetype>("length");
    const auto whole = gzipped(mixed(3000)).size();
    for (qsizetype length = 0; length < whole; length += length < 24 || whole - length < 24 ? 1 : 97) {
        QTest::addRow("%d of %d", static_cast<int>(length), static_cast<int>(whole)) << length;
    }
}

void TestGzipDecoder::cutAnywhere()
{
    QFETCH(qsizetype, length);
    const auto packed = gzipped(mixed(3000)).first(length);
    GzipDecoder decoder(Framing::Gzip);
    const auto outcome = unpack(decoder, packed, 50);
    QVERIFY2(!outcome.ended, "a cut stream counts as whole");
    QCOMPARE(outcome.taken, length);
}

void TestGzipDecoder::bareLeavesWhatFollows_data()
{
    QTest::addColumn<qsizetype>("size");
    for (const qsizetype size : {0, 1, 2, 3, 50, 1000, 65535, 65536, 65537, 131072}) {
        QTest::addRow("%d", static_cast<int>(size)) << size;
    }
}

/// A zip's member ends where its stream does; what the decoder takes beyond is missing to who reads on.
void TestGzipDecoder::bareLeavesWhatFollows()
{
    QFETCH(qsizetype, size);
    const auto data = mixed(size);
    for (int level = 0; level <= 9; ++level) {
        const auto packed = deflated(data, Framing::Bare, level, Z_DEFAULT_STRATEGY);
        for (const qsizetype inPiece : {1, 5, 1 << 20}) {
            GzipDecoder decoder(Framing::Bare);
            const auto outcome = unpack(decoder, packed + QByteArray(20, '\x55'), inPiece);
            QVERIFY(!outcome.error);
            QVERIFY(outcome.ended);
            QVERIFY(outcome.data == data);
            QCOMPARE(outcome.taken, packed.size());
        }
    }
}

void TestGzipDecoder::streamsInARow()
{
    const auto first = gzipped(mixed(70'000));
    const auto second = gzipped(QByteArray(100, 'b'));
    for (const qsizetype piece : {1, 3, 1 << 20}) {
        GzipDecoder decoder(Framing::Gzip);
        const auto one = unpack(decoder, first + second + first, piece);
        QVERIFY(one.ended);
        QCOMPARE(one.taken, first.size());
        QVERIFY(decoder.restart());
        const auto two = unpack(decoder, second + first, piece);
        QVERIFY(two.ended);
        QCOMPARE(two.taken, second.size());
        QCOMPARE(two.data, QByteArray(100, 'b'));
        QVERIFY(decoder.restart());
        const auto three = unpack(decoder, first, piece);
        QVERIFY(three.ended);
        QVERIFY(three.data == mixed(70'000));
    }
}

QTEST_GUILESS_MAIN(TestGzipDecoder)

#include "tst_gzipdecoder.moc"
