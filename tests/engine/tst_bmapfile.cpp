// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/bmapfile.h"
#include "engine/digest.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>

#include <cerrno>

using namespace burin;
using namespace Qt::StringLiterals;

namespace {

/// A map with a sum of its own that is right, whatever else is changed in it.
QByteArray withOwnSum(QByteArray text, DigestKind kind = DigestKind::Sha256)
{
    const QByteArray zeros(static_cast<qsizetype>(hexLength(kind)), '0');
    text.replace("OWNSUM", zeros);
    auto digest = Digest::create(kind);
    digest->add(std::as_bytes(std::span(text.constData(), static_cast<std::size_t>(text.size()))));
    const qsizetype at = text.indexOf(zeros);
    return at < 0 ? text : text.replace(at, zeros.size(), QByteArray::fromStdString(digest->hex()));
}

QByteArray sum(char c)
{
    return QByteArray(64, c);
}

/// An image of 821752 bytes, which is 200 blocks and a bit.
QByteArray good()
{
    return "<?xml version=\"1.0\" ?>\n<!-- says <BlocksCount> and more -->\n<bmap version=\"2.0\">\n"
           "    <!-- Image size in bytes: 802.5 KiB -->\n    <ImageSize> 821752 </ImageSize>\n"
           "    <BlockSize> 4096 </BlockSize>\n    <BlocksCount> 201 </BlocksCount>\n"
           "    <MappedBlocksCount> 5     </MappedBlocksCount>\n    <ChecksumType> sha256 </ChecksumType>\n"
           "    <BmapFileChecksum> OWNSUM </BmapFileChecksum>\n    <BlockMap>\n"
           "        <Range chksum=\""
        + sum('a')
        + "\"> 0-1 </Range>\n"
          "        <Range chksum=\""
        + sum('B')
        + "\"> 3 </Range>\n"
          "        <Range chksum=\""
        + sum('c')
        + "\"> 199-200 </Range>\n"
          "    </BlockMap>\n</bmap>\n";
}

Result<UsedBlocks> parse(const QByteArray& text)
{
    return parseBmap(std::string_view(text.constData(), static_cast<std::size_t>(text.size())));
}

} // namespace

class TestBmapFile : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsAMap();
    void readsTheOlderVersions();
    void readsAMapWithoutRangeSums();
    void refuses_data();
    void refuses();
    void noticesEveryFlippedBit();
    void survivesEveryCut();
    void refusesWhatIsNoFile();
    void looksBesideTheImage();
    void readsWhatItWrites();
};

void TestBmapFile::readsAMap()
{
    const auto used = parse(withOwnSum(good()));
    QVERIFY2(used, used ? "" : used.error().detail.c_str());
    QCOMPARE(used->imageSize, Bytes(821752));
    QVERIFY(
        (used->ranges == std::vector<Range>{{0, 8192}, {12288, 4096}, {199 * 4096, 821752 - 199 * 4096}}));
    QCOMPARE(used->sums.size(), std::size_t(3));
    QCOMPARE(used->sums[1], std::string(64, 'b'));
    QVERIFY(used->sumKind == DigestKind::Sha256);
    QVERIFY(used->source == UsedBlocksSource::Bmap);
}

void TestBmapFile::readsTheOlderVersions()
{
    QVERIFY(parse(withOwnSum(good().replace("2.0", "1.4"))));
    QByteArray old = good().replace("2.0", "1.3").replace("BmapFileChecksum", "BmapFileSHA1");
    old.replace("    <ChecksumType> sha256 </ChecksumType>\n", "").replace("chksum", "sha1");
    for (const char c : {'a', 'B', 'c'}) {
        old.replace(sum(c), QByteArray(40, c));
    }
    const auto used = parse(withOwnSum(old, DigestKind::Sha1));
    QVERIFY2(used, used ? "" : used.error().detail.c_str());
    QVERIFY(used->sumKind == DigestKind::Sha1);
    QByteArray oldest = good().replace("2.0", "1.2");
    oldest.replace("    <BmapFileChecksum> OWNSUM </BmapFileChecksum>\n", "");
    const auto without = parse(oldest);
    QVERIFY2(without, without ? "" : without.error().detail.c_str());
    QVERIFY(without->sums.empty());
}

void TestBmapFile::readsAMapWithoutRangeSums()
{
    QByteArray text = good();
    for (const char c : {'a', 'B', 'c'}) {
        text.replace(" chksum=\"" + sum(c) + "\"", "");
    }
    const auto used = parse(withOwnSum(text));
    QVERIFY(used);
    QVERIFY(used->sums.empty());
    QCOMPARE(used->ranges.size(), std::size_t(3));
}

void TestBmapFile::refuses_data()
{
    QTest::addColumn<QByteArray>("before");
    QTest::addColumn<QByteArray>("after");
    const auto row = [](const char* name, const QByteArray& before, const QByteArray& after) {
        QTest::newRow(name) << before << after;
    };
    row("version 1.1", "2.0", "1.1");
    row("version 3.0", "2.0", "3.0");
    row("no version", " version=\"2.0\"", "");
    row("another root", "bmap version", "map version");
    row("overlap", "> 3 <", "> 1 <");
    row("out of order", "> 3 <", "> 200 <");
    row("backwards", "> 0-1 <", "> 1-0 <");
    row("beyond the end", "199-200", "200-201");
    row("negative", "> 3 <", "> -3 <");
    row("huge", "> 3 <", "> 99999999999999999999 <");
    row("beyond 2^64 bytes", "199-200", "4503599627370496-4503599627370497");
    row("a range of words", "> 3 <", "> three <");
    row("two dashes", "0-1", "0-1-2");
    row("hexadecimal", "> 3 <", "> 0x3 <");
    row("block size 0", "> 4096 <", "> 0 <");
    row("block size 5000", "> 4096 <", "> 5000 <");
    row("image size 0", "821752", "0");
    row("another count of blocks", "> 201 <", "> 200 <");
    row("another count of mapped blocks", "> 5 ", "> 6 ");
    row("an unknown checksum", "sha256", "crc32");
    row("a short range sum", "cccc\"", "\"");
    row("one range without its sum", " chksum=\"" + sum('a') + "\"", "");
    row("no map", "<BlockMap>", "<Blockmap>");
    row("two sizes", "<BlocksCount>", "<ImageSize> 5 </ImageSize><BlocksCount>");
    row("an unknown element", "<BlocksCount>", "<Holes> 5 </Holes><BlocksCount>");
    row("a second map", "</bmap>", "<BlockMap></BlockMap></bmap>");
    row("a second document", "</bmap>", "</bmap><bmap version=\"2.0\"/>");
    row("text between", "<BlocksCount>", "what <BlocksCount>");
    row("a document type", "<bmap", "<!DOCTYPE bmap [<!ENTITY a \"aaaa\">]><bmap");
    row("an entity", "> 3 <", "> &a; <");
    row("its own sum missing", "    <BmapFileChecksum> OWNSUM </BmapFileChecksum>\n", "");
    row("its own sum cut short", "OWNSUM", "0123456789");
}

void TestBmapFile::refuses()
{
    QFETCH(QByteArray, before);
    QFETCH(QByteArray, after);
    QByteArray text = good();
    QVERIFY(text.contains(before));
    const auto used = parse(withOwnSum(text.replace(before, after)));
    QVERIFY(!used);
    QCOMPARE(used.error().code, ErrorCode::BlockMapBad);
    QVERIFY(!used.error().detail.empty());
}

void TestBmapFile::noticesEveryFlippedBit()
{
    const QByteArray right = withOwnSum(good());
    for (qsizetype i = 0; i < right.size(); ++i) {
        QByteArray text = right;
        text[i] = static_cast<char>(text[i] ^ 1);
        QVERIFY2(!parse(text), QByteArray::number(i).constData());
    }
}

void TestBmapFile::survivesEveryCut()
{
    const QByteArray right = withOwnSum(good());
    for (qsizetype i = 0; i < right.size() - 1; ++i) {
        QVERIFY(!parse(right.first(i)));
    }
}

void TestBmapFile::refusesWhatIsNoFile()
{
    const QTemporaryDir folder;
    const std::string name = folder.path().toStdString();
    QCOMPARE(readBmap(name).error().code, ErrorCode::BlockMapBad);
    QCOMPARE(readBmap(name + "/missing").error().sysErrno, ENOENT);
    QCOMPARE(::mkfifo((name + "/fifo").c_str(), 0600), 0);
    QCOMPARE(readBmap(name + "/fifo").error().code, ErrorCode::BlockMapBad);
    QFile big(folder.filePath(u"big"_s));
    QVERIFY(big.open(QIODevice::WriteOnly) && big.resize(static_cast<qint64>(kMostBmapBytes) + 1));
    QCOMPARE(readBmap(name + "/big").error().detail, std::string("it is too large"));
}

void TestBmapFile::looksBesideTheImage()
{
    QCOMPARE(bmapPathsFor("/a.xz/x.img.xz"),
             (std::vector<std::string>{"/a.xz/x.img.xz.bmap", "/a.xz/x.img.bmap"}));
    QCOMPARE(bmapPathsFor("x.img"), (std::vector<std::string>{"x.img.bmap"}));
}

void TestBmapFile::readsWhatItWrites()
{
    auto used = parse(withOwnSum(good())).value();
    used.ranges.pop_back();
    used.ranges.push_back({200 * 4096, 821752 - 200 * 4096}); // one block, cut short
    const auto text = bmapText(used, 4096);
    QVERIFY(text);
    const auto again = parseBmap(*text);
    QVERIFY2(again, again ? "" : again.error().detail.c_str());
    QVERIFY(*again == used);
}

QTEST_APPLESS_MAIN(TestBmapFile)
#include "tst_bmapfile.moc"
