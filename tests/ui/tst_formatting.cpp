// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/windowstates.h"
#include "ui/formatting.h"

#include <QLocale>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace burin;

class FormattingTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void sizesHaveThreeDigits_data();
    void sizesHaveThreeDigits();
    void partsUseTheUnitOfTheWhole();
    void wholeIsNotSaidBeforeTheEnd();
    void ratesKeepTheirDigits();
    void durations_data();
    void durations();
    void timesTaken_data();
    void timesTaken();
    void percentNeverSaysHundredEarly();
    void numbersFollowTheLocale();
    void rowsReadAsInThePictures();
    void slowPortIsHinted();
    void summaryNamesPackingAndTable();
};

void FormattingTest::sizesHaveThreeDigits_data()
{
    QTest::addColumn<quint64>("bytes");
    QTest::addColumn<QString>("text");
    QTest::newRow("none") << quint64(0) << u"0 bytes"_s;
    QTest::newRow("one") << quint64(1) << u"1 byte"_s;
    QTest::newRow("bytes") << quint64(999) << u"999 bytes"_s;
    QTest::newRow("kilo") << quint64(1000) << u"1 kB"_s;
    QTest::newRow("kilo round up") << quint64(999'999) << u"1 MB"_s;
    QTest::newRow("mega") << quint64(512'000'000) << u"512 MB"_s;
    QTest::newRow("giga") << quint64(5'870'000'000) << u"5.87 GB"_s;
    QTest::newRow("trimmed") << quint64(32'010'000'000) << u"32 GB"_s;
    QTest::newRow("one digit") << quint64(5'300'000'000) << u"5.3 GB"_s;
    QTest::newRow("just below") << quint64(999'600'000) << u"1 GB"_s;
    QTest::newRow("tera") << quint64(1'000'204'886'016) << u"1 TB"_s;
    QTest::newRow("largest") << ~quint64(0) << u"18,446,744 TB"_s;
}

void FormattingTest::sizesHaveThreeDigits()
{
    QFETCH(quint64, bytes);
    QTEST(formatSize(bytes), "text");
}

void FormattingTest::partsUseTheUnitOfTheWhole()
{
    QCOMPARE(formatSizeOf(3'404'000'000, 5'870'000'000), u"3.40 of 5.87 GB"_s);
    QCOMPARE(formatSizeOf(0, 5'870'000'000), u"0.00 of 5.87 GB"_s);
    QCOMPARE(formatSizeOf(12'000'000, 512'000'000), u"12 of 512 MB"_s);
}

void FormattingTest::wholeIsNotSaidBeforeTheEnd()
{
    QCOMPARE(formatSizeOf(5'869'999'999, 5'870'000'000), u"5.86 of 5.87 GB"_s);
    QCOMPARE(formatSizeOf(5'870'000'000, 5'870'000'000), u"5.87 of 5.87 GB"_s);
}

void FormattingTest::ratesKeepTheirDigits()
{
    QCOMPARE(formatRate(41.23e6), u"41.2 MB/s"_s);
    QCOMPARE(formatRate(97e6), u"97.0 MB/s"_s);
    QCOMPARE(formatRate(431e6), u"431 MB/s"_s);
    QCOMPARE(formatRate(-1), u"0.0 MB/s"_s);
}

void FormattingTest::durations_data()
{
    QTest::addColumn<int>("seconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("negative") << -3 << u"0 s"_s;
    QTest::newRow("seconds") << 38 << u"38 s"_s;
    QTest::newRow("minute") << 60 << u"1 min"_s;
    QTest::newRow("both") << 62 << u"1 min 2 s"_s;
    QTest::newRow("almost an hour") << 3599 << u"59 min 59 s"_s;
    QTest::newRow("hours") << 7500 << u"2 h 5 min"_s;
    QTest::newRow("whole hours") << 7200 << u"2 h"_s;
}

void FormattingTest::durations()
{
    QFETCH(int, seconds);
    QTEST(formatDuration(std::chrono::seconds(seconds)), "text");
}

void FormattingTest::timesTaken_data()
{
    QTest::addColumn<int>("milliseconds");
    QTest::addColumn<QString>("text");
    QTest::newRow("nothing") << 0 << u"under 0.1 s"_s;
    QTest::newRow("too short") << 49 << u"under 0.1 s"_s;
    QTest::newRow("shortest") << 51 << u"0.1 s"_s;
    QTest::newRow("part of a second") << 430 << u"0.4 s"_s;
    QTest::newRow("whole") << 2000 << u"2.0 s"_s;
    QTest::newRow("last with a tenth") << 9949 << u"9.9 s"_s;
    QTest::newRow("rounds to ten") << 9960 << u"10 s"_s;
    QTest::newRow("minutes") << 61'600 << u"1 min 2 s"_s;
}

void FormattingTest::timesTaken()
{
    QFETCH(int, milliseconds);
    QTEST(formatTimeTaken(std::chrono::milliseconds(milliseconds)), "text");
}

void FormattingTest::percentNeverSaysHundredEarly()
{
    QCOMPARE(formatPercent(0.5809), u"58 %"_s);
    QCOMPARE(formatPercent(0.99999), u"99 %"_s);
    QCOMPARE(formatPercent(1), u"100 %"_s);
    QCOMPARE(formatPercent(-0.1), u"0 %"_s);
}

void FormattingTest::numbersFollowTheLocale()
{
    QLocale::setDefault(QLocale(QLocale::German));
    QCOMPARE(formatSize(5'870'000'000), u"5,87 GB"_s);
    QCOMPARE(formatSizeOf(3'400'000'000, 5'870'000'000), u"3,40 of 5,87 GB"_s);
    QCOMPARE(formatTimeTaken(std::chrono::milliseconds(400)), u"0,4 s"_s);
    QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates));
}

void FormattingTest::rowsReadAsInThePictures()
{
    QCOMPARE(driveTitle(test::stick()), u"SanDisk Ultra Fit · 32 GB"_s);
    QCOMPARE(driveSubtitle(test::stick()), u"sdb · USB 3 (5 Gb/s) · holds: BOOT, DATA (mounted)"_s);
    QCOMPARE(driveSubtitle(test::systemDisk()), u"nvme0n1 · this system runs from it (/, /boot/efi, swap)"_s);
}

void FormattingTest::slowPortIsHinted()
{
    QCOMPARE(driveSubtitle(test::cardReader()), u"sdc · USB 2 (480 Mb/s): use a USB 3 port for speed"_s);
    DriveInfo slow = test::cardReader();
    slow.deviceMbps = 480;
    QCOMPARE(driveSubtitle(slow), u"sdc · USB 2 (480 Mb/s)"_s);
}

void FormattingTest::summaryNamesPackingAndTable()
{
    ImageInfo image = test::pictureImage();
    QCOMPARE(imageSummary(image), u"5.87 GB image · 1.21 GB xz · MBR"_s);
    image.unpackedSize.reset();
    image.layers.push_back({.format = Format::Tar, .member = "disk.img"});
    QVERIFY(imageSummary(image).contains(u"tar.xz"_s));
    image.layers.clear();
    image.unpackedSize = 1'000'000'000;
    image.table = PartitionTable::None;
    image.fileSystem = "vfat";
    QCOMPARE(imageSummary(image), u"1 GB image · vfat, no partitions"_s);
}

QTEST_GUILESS_MAIN(FormattingTest)
#include "tst_formatting.moc"
