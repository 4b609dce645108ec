// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/archivechoice.h"
#include "engine/crcsource.h"
#include "engine/imageformat.h"
#include "engine/peeksource.h"
#include "engine/tailchecksource.h"
#include "engine/unwrap.h"
#include "tests/support/fixtures.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <optional>

using namespace burin;
using namespace burin::fixtures;

namespace {

// Delivers bytes from memory; what the decorators are put around.
class MemorySource final : public ImageSource
{
public:
    explicit MemorySource(QByteArray data) : m_data(std::move(data)) { }
    Result<std::size_t> read(std::span<std::byte> out) override
    {
        const auto left = std::as_bytes(std::span(m_data)).subspan(m_done);
        const auto count = std::min(out.size(), left.size());
        std::copy_n(left.begin(), count, out.begin());
        m_done += count;
        return count;
    }
    std::optional<Bytes> unpackedSize() const override { return {}; }
    Bytes consumed() const noexcept override { return m_done; }
    Bytes fileSize() const noexcept override { return static_cast<Bytes>(m_data.size()); }

private:
    QByteArray m_data;
    std::size_t m_done = 0;
};

constexpr DecoderLimits kLimits = {
    .memory = Bytes{256} * kMiB, .threadingMemory = Bytes{72} * kMiB, .threads = 2};

Result<FileRange> wholeFile(const QByteArray& name)
{
    const auto file = ImageFile::open(path(name.constData()));
    if (!file) {
        return std::unexpected(file.error());
    }
    return FileRange{.file = *file, .range = {.offset = 0, .length = (*file)->size()}};
}

Result<UnwrappedImage> unwrap(const QByteArray& name, const std::string& member = {})
{
    const auto place = wholeFile(name);
    return place ? unwrapImage(*place, {.members = {member}, .limits = kLimits})
                 : std::unexpected(place.error());
}

// The same bytes as from a pipe, which can be read only once.
Result<UnwrappedImage> unwrapStream(const QByteArray& name)
{
    const auto place = wholeFile(name);
    if (!place) {
        return std::unexpected(place.error());
    }
    QByteArray data(static_cast<qsizetype>(place->size()), '\0');
    if (const auto got = place->readExactlyAt(0, std::as_writable_bytes(std::span(data))); !got) {
        return std::unexpected(got.error());
    }
    return unwrapImage(std::make_unique<MemorySource>(data), {.limits = kLimits});
}

QByteArray describe(const std::vector<ImageLayer>& layers)
{
    QByteArray all;
    for (const auto& layer : layers) {
        all += QByteArray(all.isEmpty() ? "" : " > ") + QByteArray(nameOf(layer.format).data());
        all += layer.member.empty() ? QByteArray() : ':' + QByteArray::fromStdString(layer.member);
    }
    return all;
}

QByteArray sparsePayload()
{
    auto data = noise("a", 1500) + QByteArray(398'500, '\0');
    data.replace(150'000, 4096, noise("b", 4096));
    return data;
}

} // namespace

class TstUnwrap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void takesOffEveryLayer_data();
    void takesOffEveryLayer();
    void takesOffStreamsOfAPipe_data();
    void takesOffStreamsOfAPipe();
    void takesTheMemberThatIsAskedFor();
    void refuses_data();
    void refuses();
    void refusesA7zThatNeedsMoreMemory_data();
    void refusesA7zThatNeedsMoreMemory();
    void findsDamageWhileReading_data();
    void findsDamageWhileReading();
    void knowsImagesByTheirNames_data();
    void knowsImagesByTheirNames();
    void saysAWrongSumWithTheLastByte();
    void refusesAMemberOfAnotherLength();
    void peekingTakesNothingAway();
    void findsAVirtualDiskByTheEndOfAStream();
};

void TstUnwrap::takesOffEveryLayer_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("layers");
    QTest::addColumn<int>("candidates");
    QTest::addColumn<QByteArray>("expected");
    QTest::addColumn<bool>("checked");
    const auto a = payloadA();
    const auto row = [](const char* name, const char* layers, int candidates, const QByteArray& data,
                        bool checked = true) {
        QTest::newRow(name) << QByteArray(name) << QByteArray(layers) << candidates << data << checked;
    };
    row("one.zip", "zip:disk.img", 1, a);
    row("several.zip", "zip:boot/disk.img", 2, a);
    row("stored.zip", "zip:disk.img", 1, a.first(5000));
    row("streamed.zip", "zip:disk.img", 1, a);
    row("zip64.zip", "zip:disk.img", 1, a.first(5000));
    row("lzma.zip", "zip:disk.img", 1, a);
    row("bzip2.zip", "zip:disk.img", 1, a);
    row("nested.zip", "zip:disk.img.xz > xz", 1, a);
    row("plain.tar", "tar:out/disk.img", 2, a.first(5000), false);
    row("tar.gz", "gzip > tar:out/disk.img", 2, a.first(5000));
    row("tar.bz2", "bzip2 > tar:out/disk.img", 2, a.first(5000));
    row("tar.xz", "xz > tar:out/disk.img", 2, a.first(5000));
    row("tar.zst", "zstd > tar:out/disk.img", 2, a.first(5000));
    row("tar-inside.zip", "zip:disk.tar > tar:disk.img", 1, a.first(5000));
    row("sparse-gnu.tar.xz", "xz > tar:disk.img", 1, sparsePayload());
    row("sparse-posix.tar.xz", "xz > tar:disk.img", 1, sparsePayload());
    row("lzma2.7z", "7z:disk.img", 1, a);
    row("bzip2.7z", "7z:disk.img", 1, a);
    row("store.7z", "7z:disk.img", 1, a);
    row("ppmd.7z", "7z:disk.img", 1, a);
    row("twice.xz", "xz > xz", 0, a);
    row("good.lzma", "lzma", 0, a, false);
}

void TstUnwrap::takesOffEveryLayer()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, layers);
    QFETCH(int, candidates);
    QFETCH(QByteArray, expected);
    QFETCH(bool, checked);
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, std::size_t{4096}, kMiB}) {
        const auto image = unwrap(name);
        QVERIFY2(image.has_value(), image ? "" : image.error().detail.c_str());
        QCOMPARE(describe(image->layers), layers);
        QCOMPARE(image->candidates.size(), static_cast<std::size_t>(candidates));
        QCOMPARE(image->checked, checked);
        const auto outcome = readAll(*image->source, step);
        QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
        QCOMPARE(outcome.data.size(), expected.size());
        QVERIFY(outcome.data == expected);
        QVERIFY(image->source->consumed() <= image->source->fileSize());
    }
}

void TstUnwrap::takesOffStreamsOfAPipe_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("layers");
    QTest::addColumn<QByteArray>("expected");
    QTest::newRow("xz") << QByteArray("good.xz") << QByteArray("xz") << payloadA();
    QTest::newRow("joined gzip") << QByteArray("joined.gz") << QByteArray("gzip") << payloadA() + payloadB();
    QTest::newRow("tar.xz") << QByteArray("tar.xz") << QByteArray("xz > tar:out/disk.img")
                            << payloadA().first(5000);
}

void TstUnwrap::takesOffStreamsOfAPipe()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, layers);
    QFETCH(QByteArray, expected);
    const auto image = unwrapStream(name);
    QVERIFY(image.has_value());
    QCOMPARE(describe(image->layers), layers);
    const auto outcome = readAll(*image->source, 4096);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == expected);
    // A zip's directory is at its end.
    const auto zip = unwrapStream("one.zip");
    QVERIFY(!zip);
    QCOMPARE(zip.error().code, ErrorCode::ImageUnsupported);
}

void TstUnwrap::takesTheMemberThatIsAskedFor()
{
    const auto zip = unwrap("several.zip", "boot/small.img");
    QVERIFY(zip.has_value());
    QCOMPARE(describe(zip->layers), QByteArray("zip:boot/small.img"));
    QCOMPARE(zip->candidates.size(), std::size_t{2});
    QVERIFY(readAll(*zip->source, 100).data == noise("small", 600));
    const auto tar = unwrap("tar.xz", "out/small.img");
    QVERIFY(tar.has_value());
    QVERIFY(readAll(*tar->source, 100).data == noise("s", 700));
    for (const auto* name : {"several.zip", "plain.tar", "lzma2.7z"}) {
        const auto none = unwrap(name, "other.img");
        QVERIFY(!none);
        QCOMPARE(none.error().code, ErrorCode::ImageNoMember);
        QCOMPARE(none.error().detail, std::string("other.img"));
    }
}

void TstUnwrap::refuses_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<ErrorCode>("error");
    const auto row = [](const char* name, ErrorCode error) {
        QTest::newRow(name) << QByteArray(name) << error;
    };
    using enum ErrorCode;
    row("no-image.zip", ImageNoMember);
    row("empty.zip", ImageNoMember);
    row("encrypted.zip", ImageEncrypted);
    row("encrypted-local.zip", ImageEncrypted);
    row("cut.zip", ImageTruncated);
    row("bad-directory.zip", ImageCorrupt);
    row("no-image.tar", ImageNoMember);
    row("encrypted.7z", ImageEncrypted);
    row("hidden.7z", ImageEncrypted);
    row("cut.7z", ImageTruncated);
}

void TstUnwrap::refuses()
{
    QFETCH(QByteArray, name);
    QFETCH(ErrorCode, error);
    const auto image = unwrap(name);
    QVERIFY(!image);
    QCOMPARE(image.error().code, error);
}

void TstUnwrap::refusesA7zThatNeedsMoreMemory_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Bytes>("needed"); // a dictionary is filled only as far as there are data
    const auto size = static_cast<Bytes>(payloadA().size()) + 800; // disk.img and readme.txt
    QTest::newRow("lzma2") << QByteArray("lzma2.7z") << size;
    QTest::newRow("lzma, header bare") << QByteArray("bare-header.7z") << size;
    QTest::newRow("ppmd") << QByteArray("ppmd.7z") << size;
}

void TstUnwrap::refusesA7zThatNeedsMoreMemory()
{
    QFETCH(QByteArray, name);
    QFETCH(Bytes, needed);
    const auto place = wholeFile(name);
    QVERIFY(place);
    QVERIFY(unwrapImage(*place, {.limits = {.memory = needed}}).has_value());
    const auto refused = unwrapImage(*place, {.limits = {.memory = needed - 1}});
    QVERIFY(!refused);
    QCOMPARE(refused.error().code, ErrorCode::ImageNeedsMemory);
}

void TstUnwrap::findsDamageWhileReading_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<ErrorCode>("error");
    for (const auto* name :
         {"corrupt.zip", "bad-crc.zip", "bad-size.zip", "stored-corrupt.zip", "corrupt.7z"}) {
        QTest::newRow(name) << QByteArray(name) << ErrorCode::ImageCorrupt;
    }
    QTest::newRow("cut.tar") << QByteArray("cut.tar") << ErrorCode::ImageTruncated;
}

void TstUnwrap::findsDamageWhileReading()
{
    QFETCH(QByteArray, name);
    QFETCH(ErrorCode, error);
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, kMiB}) {
        const auto image = unwrap(name);
        if (!image) { // small files show it at the first look
            QCOMPARE(image.error().code, error);
            continue;
        }
        const auto outcome = readAll(*image->source, step);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, error);
        QVERIFY(outcome.error->offset.has_value());
    }
}

void TstUnwrap::knowsImagesByTheirNames_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<Likeness>("likeness");
    const auto row = [](const char* name, Likeness likeness) {
        QTest::newRow(name) << QByteArray(name) << likeness;
    };
    using enum Likeness;
    row("disk.img", Image);
    row("out/DISK.IMG.XZ", Image);
    row("image.wic.bz2", Image);
    row("vm.qcow2", Image);
    row("vm.vhd.zip", Image);
    row("disk", Possible);
    row("u-boot.bin", Possible);
    row("README.txt", None);
    row("notes.md", None);
    row("__MACOSX/._disk.img", None);
    row("a/__MACOSX/disk.img", None);
    row(".hidden.img", None);
    row("disk.img.sha256", None);
    row("disk.img.asc", None);
    row("boot.img/", None);
}

void TstUnwrap::knowsImagesByTheirNames()
{
    QFETCH(QByteArray, path);
    QFETCH(Likeness, likeness);
    QCOMPARE(likenessOf(path.toStdString(), 512), likeness);
    QCOMPARE(likenessOf(path.toStdString(), 511), Likeness::None);
}

void TstUnwrap::saysAWrongSumWithTheLastByte()
{
    CrcSource source(std::make_unique<MemorySource>("123456789"), 9, 0xcbf43926 ^ 1U);
    std::vector<std::byte> buffer(4);
    QVERIFY(source.read(buffer).has_value());
    QVERIFY(source.read(buffer).has_value());
    const auto last = source.read(std::span(buffer).first(1));
    QVERIFY(!last);
    QCOMPARE(last.error().code, ErrorCode::ImageCorrupt);
    // The check value of CRC-32/ISO-HDLC is right for the same bytes.
    CrcSource right(std::make_unique<MemorySource>("123456789"), 9, 0xcbf43926);
    QVERIFY(!readAll(right, 4).error);
}

void TstUnwrap::refusesAMemberOfAnotherLength()
{
    for (const Bytes claimed : {Bytes{8}, Bytes{10}}) {
        CrcSource source(std::make_unique<MemorySource>("123456789"), claimed, 0xcbf43926);
        const auto outcome = readAll(source, 1);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
    }
}

void TstUnwrap::peekingTakesNothingAway()
{
    const auto data = noise("peek", 5000);
    for (const std::size_t first : {std::size_t{1}, std::size_t{600}, std::size_t{5000}, std::size_t{9000}}) {
        for (const std::size_t step : {std::size_t{1}, std::size_t{777}, kMiB}) {
            PeekSource source(std::make_unique<MemorySource>(data));
            const auto small = source.peek(first);
            QVERIFY(small.has_value());
            QCOMPARE(small->size(), std::min<std::size_t>(first, 5000));
            const auto more = source.peek(first + 100);
            QVERIFY(more.has_value());
            QVERIFY(
                QByteArray(reinterpret_cast<const char*>(more->data()), static_cast<qsizetype>(more->size()))
                == data.first(static_cast<qsizetype>(more->size())));
            QCOMPARE(source.end().has_value(), first + 100 > 5000);
            const auto outcome = readAll(source, step);
            QVERIFY(!outcome.error);
            QVERIFY(outcome.data == data);
        }
    }
}

void TstUnwrap::findsAVirtualDiskByTheEndOfAStream()
{
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, std::size_t{512}, kMiB}) {
        const QByteArray footer = QByteArray("conectix").leftJustified(512, '\0');
        TailCheckSource vhd(std::make_unique<MemorySource>(noise("vhd", 3000) + footer), "gzip");
        const auto outcome = readAll(vhd, step);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageUnsupported);
        QCOMPARE(outcome.error->detail, std::string("VHD inside gzip"));
        TailCheckSource other(std::make_unique<MemorySource>(footer + noise("vhd", 3000)), "gzip");
        QVERIFY(!readAll(other, step).error);
    }
}

QTEST_APPLESS_MAIN(TstUnwrap)
#include "tst_unwrap.moc"
