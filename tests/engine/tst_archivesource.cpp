// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/archivesource.h"
#include "tests/support/fixtures.h"

#include <QTest>

#include <algorithm>
#include <memory>
#include <optional>

using namespace burin;
using namespace burin::fixtures;

namespace {

// Delivers bytes from memory; what the decorator is put around.
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

} // namespace

class TstArchiveSource : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void deliversTheChosenMember_data();
    void deliversTheChosenMember();
    void refusesAtTheDirectory_data();
    void refusesAtTheDirectory();
    void findsDamageWhileReading_data();
    void findsDamageWhileReading();
    void saysAWrongSumWithTheLastByte();
    void refusesAMemberOfAnotherLength();
};

void TstArchiveSource::deliversTheChosenMember_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Container>("container");
    QTest::addColumn<std::string>("member");
    QTest::addColumn<int>("candidates");
    QTest::addColumn<QByteArray>("expected");
    const auto a = payloadA();
    const auto row = [](const char* name, Container container, const char* member, int candidates,
                        const QByteArray& data) {
        QTest::newRow(name) << QByteArray(name) << container << std::string(member) << candidates << data;
    };
    row("one.zip", Container::Zip, "disk.img", 1, a);
    row("several.zip", Container::Zip, "boot/disk.img", 2, a);
    row("stored.zip", Container::Zip, "disk.img", 1, a.first(5000));
    row("streamed.zip", Container::Zip, "disk.img", 1, a);
    row("zip64.zip", Container::Zip, "disk.img", 1, a.first(5000));
    row("plain.tar", Container::Tar, "out/disk.img", 2, a.first(5000));
}

void TstArchiveSource::deliversTheChosenMember()
{
    QFETCH(QByteArray, name);
    QFETCH(Container, container);
    QFETCH(std::string, member);
    QFETCH(int, candidates);
    QFETCH(QByteArray, expected);
    const auto file = ImageFile::open(path(name.constData()));
    QVERIFY(file.has_value());
    const auto choice = chooseMember(**file, container);
    QVERIFY(choice.has_value());
    QCOMPARE(choice->member.path, member);
    QCOMPARE(choice->candidates, static_cast<std::size_t>(candidates));
    QCOMPARE(choice->member.size, static_cast<Bytes>(expected.size()));
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, std::size_t{4096}, kMiB}) {
        const auto source = openMember(*file, container, choice->member);
        QVERIFY(source.has_value());
        QCOMPARE((*source)->unpackedSize(), std::optional(static_cast<Bytes>(expected.size())));
        const auto outcome = readAll(**source, step);
        QVERIFY(!outcome.error);
        QVERIFY(outcome.data == expected);
        QCOMPARE((*source)->consumed(), (*source)->fileSize());
    }
}

void TstArchiveSource::refusesAtTheDirectory_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Container>("container");
    QTest::addColumn<ErrorCode>("error");
    const auto row = [](const char* name, Container container, ErrorCode error) {
        QTest::newRow(name) << QByteArray(name) << container << error;
    };
    using enum ErrorCode;
    row("no-image.zip", Container::Zip, ImageNoMember);
    row("empty.zip", Container::Zip, ImageNoMember);
    row("encrypted.zip", Container::Zip, ImageEncrypted);
    row("encrypted-local.zip", Container::Zip, ImageEncrypted);
    row("lzma.zip", Container::Zip, ImageUnsupported);
    row("cut.zip", Container::Zip, ImageTruncated);
    row("bad-directory.zip", Container::Zip, ImageCorrupt);
    row("no-image.tar", Container::Tar, ImageNoMember);
    row("cut.tar", Container::Tar, ImageTruncated);
    row("sparse.tar", Container::Tar, ImageUnsupported);
}

void TstArchiveSource::refusesAtTheDirectory()
{
    QFETCH(QByteArray, name);
    QFETCH(Container, container);
    QFETCH(ErrorCode, error);
    const auto file = ImageFile::open(path(name.constData()));
    QVERIFY(file.has_value());
    const auto choice = chooseMember(**file, container);
    QVERIFY(!choice);
    QCOMPARE(choice.error().code, error);
}

void TstArchiveSource::findsDamageWhileReading_data()
{
    QTest::addColumn<QByteArray>("name");
    for (const auto* name : {"corrupt.zip", "bad-crc.zip", "bad-size.zip", "stored-corrupt.zip"}) {
        QTest::newRow(name) << QByteArray(name);
    }
}

void TstArchiveSource::findsDamageWhileReading()
{
    QFETCH(QByteArray, name);
    const auto file = ImageFile::open(path(name.constData()));
    QVERIFY(file.has_value());
    const auto choice = chooseMember(**file, Container::Zip);
    QVERIFY(choice.has_value());
    for (const std::size_t step : {std::size_t{1}, std::size_t{511}, kMiB}) {
        const auto source = openMember(*file, Container::Zip, choice->member);
        QVERIFY(source.has_value());
        const auto outcome = readAll(**source, step);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
        QVERIFY(outcome.error->offset.has_value());
    }
}

void TstArchiveSource::saysAWrongSumWithTheLastByte()
{
    ArchiveSource source(std::make_unique<MemorySource>("123456789"), 9, 0xcbf43926 ^ 1U);
    std::vector<std::byte> buffer(4);
    QVERIFY(source.read(buffer).has_value());
    QVERIFY(source.read(buffer).has_value());
    const auto last = source.read(std::span(buffer).first(1));
    QVERIFY(!last);
    QCOMPARE(last.error().code, ErrorCode::ImageCorrupt);
    // The check value of CRC-32/ISO-HDLC is right for the same bytes.
    ArchiveSource right(std::make_unique<MemorySource>("123456789"), 9, 0xcbf43926);
    QVERIFY(!readAll(right, 4).error);
}

void TstArchiveSource::refusesAMemberOfAnotherLength()
{
    for (const Bytes claimed : {Bytes{8}, Bytes{10}}) {
        ArchiveSource source(std::make_unique<MemorySource>("123456789"), claimed, 0xcbf43926);
        const auto outcome = readAll(source, 1);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
    }
}

QTEST_APPLESS_MAIN(TstArchiveSource)
#include "tst_archivesource.moc"
