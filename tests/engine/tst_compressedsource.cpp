// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/compressedsource.h"
#include "engine/packedfacts.h"
#include "engine/rawsource.h"
#include "tests/support/fixtures.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <memory>
#include <optional>

using namespace burin;
using namespace burin::fixtures;

namespace {

constexpr DecoderLimits kLimits = {
    .memory = Bytes{256} * kMiB, .threadingMemory = Bytes{72} * kMiB, .threads = 2};

const QList<QPair<QByteArray, Format>> kFormats = {{"gz", Format::Gzip},
                                                   {"bz2", Format::Bzip2},
                                                   {"xz", Format::Xz},
                                                   {"zst", Format::Zstd},
                                                   {"lz4", Format::Lz4}};

FileRange whole(const std::shared_ptr<const ImageFile>& file)
{
    return {.file = file, .range = {.offset = 0, .length = file->size()}};
}

std::unique_ptr<ImageSource> open(const std::string& path, Format format,
                                  const DecoderLimits& limits = kLimits, std::optional<Bytes> size = {})
{
    auto file = ImageFile::open(path);
    if (!file) {
        return {};
    }
    auto decoder = makeDecoder(format, limits);
    if (!decoder) {
        return {};
    }
    return std::make_unique<CompressedSource>(std::make_unique<RawSource>(whole(*file)), std::move(*decoder),
                                              size);
}

QByteArray pack(Format format, const QByteArray& data)
{
    QByteArray packed(data.size() * 2 + 4096, '\0');
    const auto room = static_cast<std::size_t>(packed.size());
    const auto size = static_cast<std::size_t>(data.size());
    const auto* const in = reinterpret_cast<const unsigned char*>(data.constData());
    auto* const out = reinterpret_cast<unsigned char*>(packed.data());
    std::size_t made = 0;
    if (format == Format::Gzip) {
        z_stream stream = {};
        deflateInit2(&stream, 6, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
        stream.next_in = const_cast<Bytef*>(in);
        stream.avail_in = static_cast<uInt>(size);
        stream.next_out = out;
        stream.avail_out = static_cast<uInt>(room);
        deflate(&stream, Z_FINISH);
        made = stream.total_out;
        deflateEnd(&stream);
    } else if (format == Format::Bzip2) {
        auto length = static_cast<unsigned>(room);
        BZ2_bzBuffToBuffCompress(packed.data(), &length, const_cast<char*>(data.constData()),
                                 static_cast<unsigned>(size), 1, 0, 0);
        made = length;
    } else if (format == Format::Xz) {
        lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, nullptr, in, size, out, &made, room);
    } else if (format == Format::Lz4) {
        LZ4F_preferences_t preferences = LZ4F_INIT_PREFERENCES;
        preferences.frameInfo.contentChecksumFlag = LZ4F_contentChecksumEnabled;
        made = LZ4F_compressFrame(out, room, in, size, &preferences);
    } else {
        made = ZSTD_compress(out, room, in, size, 1);
    }
    packed.resize(static_cast<qsizetype>(made));
    return packed;
}

void addFormatRow(const char* kind, const QByteArray& suffix, Format format, std::optional<ErrorCode> error,
                  const QByteArray& expected)
{
    QTest::addRow("%s.%s", kind, suffix.constData())
        << QByteArray(QByteArray(kind) + '.' + suffix) << format << error.has_value()
        << error.value_or(ErrorCode::Internal) << expected;
}

std::string write(const QTemporaryDir& folder, const QByteArray& data)
{
    const auto path = folder.filePath(QStringLiteral("image"));
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(data) != data.size()) {
        return {};
    }
    return QFile::encodeName(path).toStdString();
}

} // namespace

class TstCompressedSource : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void deliversEveryByteOrTheRightError_data();
    void deliversEveryByteOrTheRightError();
    void takesStreamsLongerThanItsBuffer_data();
    void takesStreamsLongerThanItsBuffer();
    void takesManyJoinedStreamsWithPadding_data();
    void takesManyJoinedStreamsWithPadding();
    void findsAStreamAcrossTheEndOfItsBuffer_data();
    void findsAStreamAcrossTheEndOfItsBuffer();
    void truncationAnywhereIsNeverAnEnd_data();
    void truncationAnywhereIsNeverAnEnd();
    void asksForMemoryInsteadOfCallingItDamage_data();
    void asksForMemoryInsteadOfCallingItDamage();
    void saysTheErrorAgainWhenReadAgain();
    void failsWhenTheClaimedSizeIsWrong();
    void failsWhenTheFileChangesMeanwhile();
    void countsWhatItConsumed();
    void tellsTheUnpackedSizeOnlyWhereExact_data();
    void tellsTheUnpackedSizeOnlyWhereExact();
    void rawDeliversARangeAndFindsItCut();
    void rawFailsWhenTheFileChangesMeanwhile();
};

void TstCompressedSource::deliversEveryByteOrTheRightError_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<bool>("fails");
    QTest::addColumn<ErrorCode>("error");
    QTest::addColumn<QByteArray>("expected");
    const auto a = payloadA();
    const auto both = a + payloadB();
    using enum ErrorCode;
    for (const auto& [suffix, format] : kFormats) {
        addFormatRow("good", suffix, format, {}, a);
        addFormatRow("truncated", suffix, format, ImageTruncated, {});
        addFormatRow("half", suffix, format, ImageTruncated, {});
        addFormatRow("corrupt", suffix, format, ImageCorrupt, {});
        addFormatRow("joined", suffix, format, {}, both);
        addFormatRow("joined-padded", suffix, format, {}, both);
        addFormatRow("joined-cut", suffix, format, ImageTruncated, {});
        addFormatRow("joined-cut-magic", suffix, format, ImageTruncated, {});
        addFormatRow("padded", suffix, format, {}, a);
        addFormatRow("trailing", suffix, format, ImageCorrupt, {});
    }
    for (const auto* kind : {"good", "joined", "joined-padded", "padded"}) {
        addFormatRow(kind, "lz", Format::Lzip, {}, QByteArray(kind).startsWith("joined") ? both : a);
    }
    for (const auto* kind : {"truncated", "half", "joined-cut", "joined-cut-magic"}) {
        addFormatRow(kind, "lz", Format::Lzip, ImageTruncated, {});
    }
    addFormatRow("corrupt", "lz", Format::Lzip, ImageCorrupt, {});
    addFormatRow("trailing", "lz", Format::Lzip, ImageCorrupt, {});
    addFormatRow("good", "lzma", Format::Lzma, {}, a);
    addFormatRow("half", "lzma", Format::Lzma, ImageTruncated, {});
    addFormatRow("trailing", "lzma", Format::Lzma, ImageCorrupt, {});
    addFormatRow("bad-crc", "gz", Format::Gzip, ImageCorrupt, {});
    addFormatRow("bad-length", "gz", Format::Gzip, ImageCorrupt, {});
    addFormatRow("no-check", "xz", Format::Xz, {}, a);
    addFormatRow("single-block", "xz", Format::Xz, {}, a);
    addFormatRow("no-check", "zst", Format::Zstd, {}, a);
    addFormatRow("no-size", "zst", Format::Zstd, {}, a);
    addFormatRow("bad-checksum", "zst", Format::Zstd, ImageCorrupt, {});
    addFormatRow("skippable", "zst", Format::Zstd, {}, both);
}

void TstCompressedSource::deliversEveryByteOrTheRightError()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(bool, fails);
    QFETCH(ErrorCode, error);
    QFETCH(QByteArray, expected);
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, std::size_t{4096}, kMiB}) {
        const auto source = open(path(name.constData()), format);
        QVERIFY(source);
        const auto outcome = readAll(*source, step);
        QCOMPARE(outcome.error.has_value(), fails);
        if (fails) {
            QCOMPARE(outcome.error->code, error);
            QVERIFY(outcome.error->offset.has_value());
            QVERIFY(*outcome.error->offset >= static_cast<Bytes>(outcome.data.size()));
        } else {
            QCOMPARE(outcome.data.size(), expected.size());
            QVERIFY(outcome.data == expected);
        }
    }
}

void TstCompressedSource::takesStreamsLongerThanItsBuffer_data()
{
    QTest::addColumn<Format>("format");
    for (const auto& [suffix, format] : kFormats) {
        QTest::addRow("%s", suffix.constData()) << format;
    }
}

void TstCompressedSource::takesStreamsLongerThanItsBuffer()
{
    QFETCH(Format, format);
    const QTemporaryDir folder;
    const auto data = noise("long", 1'500'001);
    for (const std::size_t step : {std::size_t{4093}, kMiB}) {
        const auto source = open(write(folder, pack(format, data)), format);
        QVERIFY(source);
        const auto outcome = readAll(*source, step);
        QVERIFY(!outcome.error);
        QVERIFY(outcome.data == data);
    }
}

void TstCompressedSource::takesManyJoinedStreamsWithPadding_data()
{
    takesStreamsLongerThanItsBuffer_data();
}

// Stream ends and magics fall on every place relative to the input buffer's end.
void TstCompressedSource::takesManyJoinedStreamsWithPadding()
{
    QFETCH(Format, format);
    const QTemporaryDir folder;
    const auto piece = noise("piece", 1499);
    const auto packed = pack(format, piece);
    QByteArray all;
    QByteArray expected;
    for (int i = 0; i < 400; ++i) {
        all += packed + QByteArray(i % 5, '\0');
        expected += piece;
    }
    all += QByteArray(600'000, '\0') + packed;
    expected += piece;
    const auto source = open(write(folder, all), format);
    QVERIFY(source);
    const auto outcome = readAll(*source, 65536);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == expected);
}

void TstCompressedSource::findsAStreamAcrossTheEndOfItsBuffer_data()
{
    takesStreamsLongerThanItsBuffer_data();
}

// The input buffer's end is a multiple of 64 KiB, whatever its size: the magic of a stream lies across it.
void TstCompressedSource::findsAStreamAcrossTheEndOfItsBuffer()
{
    QFETCH(Format, format);
    const QTemporaryDir folder;
    const auto piece = noise("piece", 1499);
    const auto packed = pack(format, piece);
    for (qsizetype before = 1; before < 7; ++before) {
        QByteArray all;
        QByteArray expected;
        for (int i = 0; i < 10; ++i) {
            const qsizetype at = i == 0 ? 0 : i * 65536 - before;
            all += QByteArray(at - all.size(), '\0') + packed;
            expected += piece;
        }
        const auto source = open(write(folder, all), format);
        QVERIFY(source);
        const auto outcome = readAll(*source, 65536);
        QVERIFY(!outcome.error);
        QVERIFY(outcome.data == expected);
    }
}

void TstCompressedSource::truncationAnywhereIsNeverAnEnd_data()
{
    takesStreamsLongerThanItsBuffer_data();
}

void TstCompressedSource::truncationAnywhereIsNeverAnEnd()
{
    QFETCH(Format, format);
    const QTemporaryDir folder;
    const auto packed = pack(format, noise("cut", 300));
    for (qsizetype length = 8; length < packed.size(); ++length) {
        const auto source = open(write(folder, packed.first(length)), format);
        QVERIFY(source);
        const auto outcome = readAll(*source, 4096);
        QVERIFY2(outcome.error && outcome.error->code == ErrorCode::ImageTruncated,
                 qPrintable(QString::number(length)));
    }
}

void TstCompressedSource::asksForMemoryInsteadOfCallingItDamage_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::newRow("xz dictionary of 1536 MiB") << QByteArray("big-dictionary.xz") << Format::Xz;
    QTest::newRow("zstd window of 2 GiB") << QByteArray("big-window.zst") << Format::Zstd;
}

void TstCompressedSource::asksForMemoryInsteadOfCallingItDamage()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    const auto refused = open(path(name.constData()), format);
    QVERIFY(refused);
    const auto refusal = readAll(*refused, 4096);
    QVERIFY(refusal.error);
    QCOMPARE(refusal.error->code, ErrorCode::ImageNeedsMemory);
    QCOMPARE(refusal.error->detail, std::to_string(kLimits.memory));
    // Only address space: the pages of a window that the data never fill are not touched.
    auto limits = kLimits;
    limits.memory = Bytes{4096} * kMiB;
    const auto taken = open(path(name.constData()), format, limits);
    QVERIFY(taken);
    const auto outcome = readAll(*taken, 4096);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == payloadA());
}

void TstCompressedSource::saysTheErrorAgainWhenReadAgain()
{
    const auto source = open(path("trailing.xz"), Format::Xz);
    QVERIFY(source);
    const auto first = readAll(*source, 4096);
    const auto again = readAll(*source, 4096);
    QVERIFY(first.error && again.error);
    QCOMPARE(again.error->code, ErrorCode::ImageCorrupt);
    QCOMPARE(first.error->offset, std::optional<Bytes>(payloadA().size()));
    QVERIFY(*again.error == *first.error);
}

void TstCompressedSource::failsWhenTheClaimedSizeIsWrong()
{
    const auto source = open(path("good.gz"), Format::Gzip, kLimits, Bytes{100});
    QVERIFY(source);
    const auto outcome = readAll(*source, 4096);
    QVERIFY(outcome.error);
    QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
}

void TstCompressedSource::failsWhenTheFileChangesMeanwhile()
{
    const QTemporaryDir folder;
    const auto packed = pack(Format::Gzip, payloadA());
    const auto name = write(folder, packed);
    const auto source = open(name, Format::Gzip);
    QVERIFY(source);
    std::vector<std::byte> some(1000);
    QVERIFY(source->read(some).has_value());
    QFile file(QFile::decodeName(name.c_str()));
    QVERIFY(file.open(QIODevice::Append));
    QCOMPARE(file.write("x"), 1);
    file.close();
    const auto outcome = readAll(*source, 4096);
    QVERIFY(outcome.error);
    QCOMPARE(outcome.error->code, ErrorCode::ImageChanged);
}

void TstCompressedSource::countsWhatItConsumed()
{
    const auto source = open(path("joined-padded.bz2"), Format::Bzip2);
    QVERIFY(source);
    QCOMPARE(source->consumed(), Bytes{0});
    Bytes before = 0;
    std::vector<std::byte> buffer(10'000);
    for (std::size_t got = buffer.size(); got == buffer.size();) {
        const auto result = source->read(buffer);
        QVERIFY(result.has_value());
        got = *result;
        QVERIFY(source->consumed() >= before && source->consumed() <= source->fileSize());
        before = source->consumed();
    }
    QCOMPARE(source->consumed(), source->fileSize());
}

void TstCompressedSource::tellsTheUnpackedSizeOnlyWhereExact_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<qlonglong>("size"); // -1 for unknown
    QTest::addColumn<bool>("checked");
    QTest::addColumn<int>("error"); // -1 for none
    const auto a = qlonglong{payloadA().size()};
    const auto both = a + qlonglong{payloadB().size()};
    const auto row = [](const char* name, Format format, qlonglong size, bool checked, int error = -1) {
        QTest::newRow(name) << QByteArray(name) << format << size << checked << error;
    };
    constexpr auto kTruncated = static_cast<int>(ErrorCode::ImageTruncated);
    constexpr auto kCorrupt = static_cast<int>(ErrorCode::ImageCorrupt);
    row("good.gz", Format::Gzip, -1, true);
    row("joined.gz", Format::Gzip, -1, true);
    row("good.bz2", Format::Bzip2, -1, true);
    row("good.xz", Format::Xz, a, true);
    row("joined.xz", Format::Xz, both, true);
    row("joined-padded.xz", Format::Xz, both, true);
    row("padded.xz", Format::Xz, a, true);
    row("no-check.xz", Format::Xz, a, false);
    row("truncated.xz", Format::Xz, -1, true, kTruncated);
    row("trailing.xz", Format::Xz, -1, true, kCorrupt);
    row("good.lz", Format::Lzip, a, true);
    row("joined.lz", Format::Lzip, both, true);
    row("padded.lz", Format::Lzip, -1, true);
    row("good.lz4", Format::Lz4, -1, true);
    row("good.lzma", Format::Lzma, -1, false);
    row("good.zst", Format::Zstd, a, true);
    row("joined.zst", Format::Zstd, both, true);
    row("no-size.zst", Format::Zstd, -1, true);
    row("skippable.zst", Format::Zstd, -1, true);
    row("no-check.zst", Format::Zstd, -1, false);
    row("padded.zst", Format::Zstd, -1, true);
    row("truncated.zst", Format::Zstd, -1, true, kTruncated);
}

void TstCompressedSource::tellsTheUnpackedSizeOnlyWhereExact()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(qlonglong, size);
    QFETCH(bool, checked);
    QFETCH(int, error);
    const auto file = ImageFile::open(path(name.constData()));
    QVERIFY(file.has_value());
    const auto facts = packedFacts(whole(*file), format, kLimits, {});
    if (error >= 0) {
        QVERIFY(!facts);
        QCOMPARE(static_cast<int>(facts.error().code), error);
        return;
    }
    QVERIFY(facts.has_value());
    QCOMPARE(facts->unpackedSize,
             size < 0 ? std::optional<Bytes>() : std::optional(static_cast<Bytes>(size)));
    QCOMPARE(facts->checked, checked);
}

void TstCompressedSource::rawDeliversARangeAndFindsItCut()
{
    const QTemporaryDir folder;
    const auto data = noise("raw", 10'001);
    const auto name = write(folder, data);
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, std::size_t{4096}, kMiB}) {
        auto file = ImageFile::open(name);
        QVERIFY(file.has_value());
        RawSource whole({.file = *file, .range = {.offset = 0, .length = 10'001}});
        QVERIFY(readAll(whole, step).data == data);
        RawSource part({.file = *file, .range = {.offset = 17, .length = 4096}});
        const auto inside = readAll(part, step);
        QVERIFY(!inside.error);
        QVERIFY(inside.data == data.sliced(17, 4096));
        QCOMPARE(part.consumed(), part.fileSize());
        RawSource beyond({.file = *file, .range = {.offset = 9000, .length = 4096}});
        const auto cut = readAll(beyond, step);
        QVERIFY(cut.error);
        QCOMPARE(cut.error->code, ErrorCode::ImageTruncated);
        QCOMPARE(cut.error->offset, std::optional<Bytes>(1001));
    }
}

void TstCompressedSource::rawFailsWhenTheFileChangesMeanwhile()
{
    const QTemporaryDir folder;
    const auto name = write(folder, noise("raw", 10'001));
    auto opened = ImageFile::open(name);
    QVERIFY(opened.has_value());
    RawSource source({.file = *opened, .range = {.offset = 0, .length = 10'001}});
    QFile file(QFile::decodeName(name.c_str()));
    QVERIFY(file.open(QIODevice::Append));
    QCOMPARE(file.write("x"), 1);
    file.close();
    const auto outcome = readAll(source, 4096);
    QVERIFY(outcome.error);
    QCOMPARE(outcome.error->code, ErrorCode::ImageChanged);
}

QTEST_APPLESS_MAIN(TstCompressedSource)
#include "tst_compressedsource.moc"
