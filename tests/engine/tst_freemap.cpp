// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// The free maps of real file systems, made by mkfs, and what makes them doubtful.
#include "engine/freemap.h"
#include "engine/imageprobe.h"
#include "engine/rangelist.h"
#include "tests/support/fakes.h"

#include <QFile>
#include <QProcess>
#include <QRegularExpression>
#include <QTemporaryDir>
#include <QTest>

#include <functional>

using namespace burin;
using namespace Qt::StringLiterals;

namespace {

QString program(const QString& name)
{
    const QString inSbin = u"/usr/sbin/"_s + name;
    return QFile::exists(inSbin) ? inSbin : name;
}

QByteArray run(const QString& name, const QStringList& arguments)
{
    QProcess process;
    process.setProcessChannelMode(QProcess::SeparateChannels);
    process.start(program(name), arguments);
    if (!process.waitForFinished(60'000) || process.exitCode() != 0) {
        qWarning() << name << arguments << process.readAllStandardError();
        return {};
    }
    return process.readAllStandardOutput() + "\n";
}

class Image
{
public:
    explicit Image(Bytes size) : m_path(m_folder.filePath(u"disk.img"_s)), m_size(size)
    {
        QFile file(m_path);
        m_good = file.open(QIODevice::WriteOnly) && file.resize(static_cast<qint64>(size));
    }
    [[nodiscard]] bool make(const QString& maker, QStringList arguments) const
    {
        return m_good && !run(maker, arguments << m_path).isEmpty();
    }
    void change(Offset at, const QByteArray& bytes) const
    {
        QFile file(m_path);
        QVERIFY(file.open(QIODevice::ReadWrite) && file.seek(static_cast<qint64>(at)));
        QCOMPARE(file.write(bytes), bytes.size());
    }
    [[nodiscard]] QByteArray at(Offset offset, qint64 size) const
    {
        QFile file(m_path);
        return file.open(QIODevice::ReadOnly) && file.seek(static_cast<qint64>(offset)) ? file.read(size)
                                                                                        : QByteArray();
    }
    [[nodiscard]] FileRange range() const
    {
        return {.file = ImageFile::open(m_path.toStdString()).value(), .range = {.length = m_size}};
    }
    [[nodiscard]] const QString& path() const { return m_path; }
    [[nodiscard]] const QTemporaryDir& folder() const { return m_folder; }

private:
    QTemporaryDir m_folder;
    QString m_path;
    Bytes m_size;
    bool m_good = false;
};

QByteArray le16(unsigned value)
{
    return QByteArray(1, static_cast<char>(value & 0xffU)) + static_cast<char>(value >> 8U & 0xffU);
}
QByteArray le32(quint32 value)
{
    return le16(value & 0xffffU) + le16(value >> 16U);
}
unsigned u16(const QByteArray& bytes, qsizetype at = 0)
{
    return static_cast<unsigned char>(bytes[at])
        | static_cast<unsigned>(static_cast<unsigned char>(bytes[at + 1])) << 8U;
}

/// What dumpe2fs lists as free, runs of kLeastFree and more.
std::vector<Range> listedFree(const QString& path, Bytes block)
{
    std::vector<Range> free;
    const QString text = QString::fromLatin1(run(u"dumpe2fs"_s, {path}));
    static const QRegularExpression line(u"^  Free blocks: (.*)$"_s, QRegularExpression::MultilineOption);
    for (auto lines = line.globalMatch(text); lines.hasNext();) {
        for (const QString& run : lines.next().captured(1).split(u", "_s, Qt::SkipEmptyParts)) {
            const auto ends = run.split(u'-');
            const Bytes first = ends.front().toULongLong();
            const Bytes last = ends.back().toULongLong();
            addFree(free, {.offset = first * block, .length = (last - first + 1) * block});
        }
    }
    dropShortEnd(free);
    return free;
}

constexpr Bytes kExtSize = 64 * kMiB;
constexpr Offset kSuper = 1024;

} // namespace

class TestFreeMap : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void agreesWithDumpe2fs_data();
    void agreesWithDumpe2fs();
    void doubtsAnExt_data();
    void doubtsAnExt();
    void doubtsAnExtWithBrokenGroups();
    void readsAFat_data();
    void readsAFat();
    void doubtsAFat_data();
    void doubtsAFat();
    void survivesDamage_data();
    void survivesDamage();
    void keepsTheEndsOfAFileSystem();
    void countsWhatLiesOutsideAsUsed();
    void tellsWhyNothingIsLeftOut();
    void prefersTheBlockMapBeside();
};

void TestFreeMap::agreesWithDumpe2fs_data()
{
    QTest::addColumn<QStringList>("options");
    QTest::addColumn<int>("block");
    const auto row = [](const char* name, const QString& options, int block) {
        QTest::newRow(name) << options.split(u' ') << block;
    };
    row("ext4", u"-t ext4 -b 4096"_s, 4096);
    row("ext4, 1 KiB blocks", u"-t ext4 -b 1024"_s, 1024);
    row("ext4, 2 KiB blocks, 32 bits", u"-t ext4 -b 2048 -O ^64bit"_s, 2048);
    row("ext4 without checksums", u"-t ext4 -b 1024 -O ^metadata_csum,^uninit_bg"_s, 1024);
    row("ext4, uninitialised groups", u"-t ext4 -b 1024 -O ^metadata_csum,uninit_bg"_s, 1024);
    row("ext4, bigalloc", u"-t ext4 -b 1024 -O bigalloc -C 16384"_s, 1024);
    row("ext4, meta_bg", u"-t ext4 -b 1024 -O meta_bg,^resize_inode"_s, 1024);
    row("ext4, sparse_super2", u"-t ext4 -b 1024 -O sparse_super2,^resize_inode"_s, 1024);
    row("ext4, no flex_bg, small groups", u"-t ext4 -b 1024 -O ^flex_bg -g 1024"_s, 1024);
    row("ext3", u"-t ext3 -b 1024"_s, 1024);
    row("ext2", u"-t ext2 -b 4096"_s, 4096);
}

void TestFreeMap::agreesWithDumpe2fs()
{
    QFETCH(QStringList, options);
    QFETCH(int, block);
    const Image image(kExtSize);
    QTemporaryDir files;
    for (int i = 0; i < 20; ++i) {
        QFile file(files.filePath(QString::number(i)));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(QByteArray(200'000 * (i % 5 + 1), static_cast<char>('a' + i)));
    }
    QVERIFY(image.make(u"mkfs.ext4"_s, QStringList{u"-q"_s, u"-F"_s, u"-d"_s, files.path()} + options));

    const auto free = freeInExt(image.range(), {});

    QVERIFY2(free, free ? "" : QByteArray::number(static_cast<int>(free.error())).constData());
    const auto expected = listedFree(image.path(), static_cast<Bytes>(block));
    QVERIFY(totalLength(expected) > kExtSize / 4);
    QVERIFY(*free == expected);
}

void TestFreeMap::doubtsAnExt_data()
{
    QTest::addColumn<qulonglong>("at");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("doubt");
    const auto row = [](const char* name, Offset at, const QByteArray& bytes, UsedDoubt doubt) {
        QTest::newRow(name) << qulonglong(kSuper + at) << bytes << static_cast<int>(doubt);
    };
    row("mounted", 58, le16(0), UsedDoubt::NotClean);
    row("with errors", 58, le16(3), UsedDoubt::NotClean);
    row("orphans", 58, le16(5), UsedDoubt::NotClean);
    row("an orphan list", 232, le32(12), UsedDoubt::NotClean);
    row("recorded errors", 404, le32(1), UsedDoubt::NotClean);
    row("journal to be replayed", 96, le32(0x2c6), UsedDoubt::NotClean);
    row("external journal", 96, le32(0x2ca), UsedDoubt::UnknownFeature);
    row("unknown incompatible", 96, le32(0x800002c2), UsedDoubt::UnknownFeature);
    row("unknown compatible", 92, le32(0x8000003c), UsedDoubt::UnknownFeature);
    row("shared blocks", 100, le32(0x446b), UsedDoubt::UnknownFeature);
    row("multiple mounts", 96, le32(0x3c2), UsedDoubt::UnknownFeature);
    row("no blocks", 4, le32(0), UsedDoubt::Contradiction);
    row("larger than its partition", 4, le32(65537), UsedDoubt::Contradiction);
    row("blocks of 1 TiB", 24, le32(30), UsedDoubt::Contradiction);
    row("groups of 8 blocks", 32, le32(8), UsedDoubt::Contradiction);
    row("a wrong checksum", 1020, le32(0), UsedDoubt::Contradiction);
    row("no magic", 56, le16(0xef52), UsedDoubt::Contradiction);
}

void TestFreeMap::doubtsAnExt()
{
    QFETCH(qulonglong, at);
    QFETCH(QByteArray, bytes);
    QFETCH(int, doubt);
    const Image image(kExtSize);
    QVERIFY(image.make(u"mkfs.ext4"_s, {u"-q"_s, u"-F"_s, u"-b"_s, u"1024"_s}));
    QVERIFY(freeInExt(image.range(), {}));
    image.change(at, bytes);
    const auto free = freeInExt(image.range(), {});
    QVERIFY(!free);
    QCOMPARE(static_cast<int>(free.error()), doubt);
}

void TestFreeMap::doubtsAnExtWithBrokenGroups()
{
    // Without checksums only the counts can tell: a bit in the bitmap, a count of a group.
    for (const bool inBitmap : {true, false}) {
        const Image image(kExtSize);
        QVERIFY(image.make(
            u"mkfs.ext4"_s,
            {u"-q"_s, u"-F"_s, u"-b"_s, u"1024"_s, u"-O"_s, u"^metadata_csum,^uninit_bg,^64bit,^flex_bg"_s}));
        QVERIFY(freeInExt(image.range(), {}));
        const QByteArray descriptor = image.at(2048, 32);
        const Offset bitmap = (u16(descriptor, 0) | u16(descriptor, 2) << 16U) * Offset{1024};
        if (inBitmap) {
            const QByteArray bits = image.at(bitmap + 1000, 1);
            image.change(bitmap + 1000, QByteArray(1, static_cast<char>(bits[0] ^ 4)));
        } else {
            image.change(2048 + 12, le16(u16(descriptor, 12) + 1));
        }
        const auto free = freeInExt(image.range(), {});
        QVERIFY(!free);
        QCOMPARE(static_cast<int>(free.error()), static_cast<int>(UsedDoubt::Contradiction));
    }
}

/// The places in a FAT that the tests change.
struct Fat {
    unsigned bits;
    Offset first;
    Bytes size;
    Offset data;
    Bytes cluster;
    Offset end; ///< of the last cluster
};

Fat fatOf(const Image& image, unsigned bits)
{
    const QByteArray boot = image.at(0, 512);
    const Bytes sector = u16(boot, 11);
    const Bytes sectors = bits == 32 ? u16(boot, 36) | u16(boot, 38) << 16U : u16(boot, 22);
    const Offset first = u16(boot, 14) * sector;
    const Offset data = first + 2 * sectors * sector + u16(boot, 17) * Bytes{32};
    const Bytes cluster = static_cast<unsigned char>(boot[13]) * sector;
    const Bytes all = (u16(boot, 19) != 0 ? u16(boot, 19) : u16(boot, 32) | u16(boot, 34) << 16U) * sector;
    return {.bits = bits,
            .first = first,
            .size = sectors * sector,
            .data = data,
            .cluster = cluster,
            .end = data + (all - data) / cluster * cluster};
}

/// Sets entries 1000 to 1199 to "last of a file", in both FATs, and the count of FSInfo.
void allocate(const Image& image, const Fat& fat)
{
    const Offset at = Offset{1000} * fat.bits / 8;
    const QByteArray entries = fat.bits == 12 ? QByteArray(300, '\xff')
        : fat.bits == 16                      ? QByteArray(400, '\xff')
                                              : le32(0x0fffffff).repeated(200);
    image.change(fat.first + at, entries);
    image.change(fat.first + fat.size + at, entries);
    if (fat.bits == 32) {
        const QByteArray count = image.at(512 + 488, 4);
        image.change(512 + 488, le32((u16(count, 0) | u16(count, 2) << 16U) - 200));
    }
}

void TestFreeMap::readsAFat_data()
{
    QTest::addColumn<unsigned>("bits");
    QTest::addColumn<int>("mebibytes");
    QTest::addColumn<QStringList>("options");
    QTest::newRow("FAT12") << 12U << 12 << QStringList{u"-s"_s, u"8"_s};
    QTest::newRow("FAT16") << 16U << 64 << QStringList{u"-s"_s, u"8"_s};
    QTest::newRow("FAT16, large sectors") << 16U << 64 << QStringList{u"-s"_s, u"1"_s, u"-S"_s, u"4096"_s};
    QTest::newRow("FAT32") << 32U << 300 << QStringList{u"-s"_s, u"8"_s};
}

void TestFreeMap::readsAFat()
{
    QFETCH(unsigned, bits);
    QFETCH(int, mebibytes);
    QFETCH(QStringList, options);
    const Image image(static_cast<Bytes>(mebibytes) * kMiB);
    QVERIFY(image.make(u"mkfs.vfat"_s, QStringList{u"-F"_s, QString::number(bits)} + options));
    const Fat fat = fatOf(image, bits);
    allocate(image, fat);
    const auto free = freeInFat(image.range(), 0, {});
    QVERIFY2(free, free ? "" : QByteArray::number(static_cast<int>(free.error())).constData());
    const Offset first = fat.data + (bits == 32 ? 1 : 0) * fat.cluster; // FAT32's root takes a cluster
    QCOMPARE(free->size(), std::size_t(2));
    QCOMPARE((*free)[0].offset, first);
    QCOMPARE((*free)[0].end(), fat.data + 998 * fat.cluster);
    QCOMPARE((*free)[1].offset, fat.data + 1198 * fat.cluster);
    QCOMPARE((*free)[1].end(), fat.end);
}

void TestFreeMap::doubtsAFat_data()
{
    QTest::addColumn<unsigned>("bits");
    QTest::addColumn<qulonglong>("at");
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<int>("doubt");
    const auto row = [](const char* name, unsigned bits, Offset at, const QByteArray& bytes,
                        UsedDoubt doubt) {
        QTest::newRow(name) << bits << qulonglong(at) << bytes << static_cast<int>(doubt);
    };
    constexpr Offset kFat = 32 * 512;  // of the FAT32 that is made below
    constexpr Offset kFat16 = 8 * 512; // of the FAT16
    const auto odd = UsedDoubt::Contradiction;
    row("Linux's dirty bit, FAT16", 16, 37, "\x01", UsedDoubt::NotClean);
    row("Linux's dirty bit, FAT32", 32, 65, "\x01", UsedDoubt::NotClean);
    row("Windows' dirty bit, FAT16", 16, kFat16 + 2, le16(0x7fff), UsedDoubt::NotClean);
    row("Windows' dirty bit, FAT32", 32, kFat + 4, le32(0x07ffffff), UsedDoubt::NotClean);
    row("a hard error", 32, kFat + 4, le32(0x0bffffff), UsedDoubt::NotClean);
    row("another medium", 32, kFat, le32(0x0ffffff0), odd);
    row("the mirror differs", 32, kFat + 4096 * 4, le32(0x0fffffff), odd);
    row("hidden sectors of another place", 32, 28, le32(2048), odd);
    row("hidden sectors of another place, FAT16", 16, 28, le32(63), odd);
    row("not mirrored", 32, 40, le16(0x81), UsedDoubt::UnknownFeature);
    row("another version", 32, 42, le16(1), UsedDoubt::UnknownFeature);
    row("root outside", 32, 44, le32(0x0ffffff0), odd);
    row("FSInfo counts otherwise", 32, 512 + 488, le32(5), odd);
    row("FSInfo without its mark", 32, 512, le32(0), odd);
    row("larger than its partition", 32, 32, le32(300 * 2048 + 1), odd);
    row("no jump", 32, 0, "\x01", odd);
    row("no signature", 32, 510, le16(0), odd);
    row("sectors of 500", 32, 11, le16(500), odd);
    row("clusters of 0", 32, 13, QByteArray(1, '\0'), odd);
    row("clusters of 3", 32, 13, "\x03", odd);
    row("3 FATs", 32, 16, "\x03", odd);
    row("FATs too small", 32, 36, le32(10), odd);
    row("huge FATs", 32, 36, le32(0xffffffff), odd);
    row("as many sectors as FAT16 has", 32, 32, le32(60'000), odd);
}

void TestFreeMap::doubtsAFat()
{
    QFETCH(unsigned, bits);
    QFETCH(qulonglong, at);
    QFETCH(QByteArray, bytes);
    QFETCH(int, doubt);
    const Image image(Bytes{bits == 32 ? 300U : 64U} * kMiB);
    QVERIFY(image.make(
        u"mkfs.vfat"_s,
        {u"-F"_s, QString::number(bits), u"-s"_s, u"8"_s, u"-R"_s, bits == 32 ? u"32"_s : u"8"_s}));
    const auto sound = freeInFat(image.range(), 0, {});
    QVERIFY(sound);
    image.change(at, bytes);
    if (at >= 8 * 512 && doubt == static_cast<int>(UsedDoubt::NotClean)) {
        image.change(at + fatOf(image, bits).size, bytes); // the mirror agrees
    }
    const auto free = freeInFat(image.range(), 0, {});
    QVERIFY(!free);
    QCOMPARE(static_cast<int>(free.error()), doubt);
}

void TestFreeMap::survivesDamage_data()
{
    QTest::addColumn<QStringList>("options");
    QTest::newRow("ext4") << QStringList{u"mkfs.ext4"_s, u"-q"_s, u"-F"_s, u"-b"_s, u"1024"_s};
    QTest::newRow("ext4 without checksums") << QStringList{
        u"mkfs.ext4"_s, u"-q"_s, u"-F"_s, u"-b"_s, u"1024"_s, u"-O"_s, u"^metadata_csum,uninit_bg"_s};
    QTest::newRow("FAT16") << QStringList{u"mkfs.vfat"_s, u"-F"_s, u"16"_s};
}

/// Whatever stands there, it ends soon and without harm (run it under the sanitizers).
void TestFreeMap::survivesDamage()
{
    QFETCH(QStringList, options);
    const Image image(32 * kMiB);
    const QString maker = options.takeFirst();
    QVERIFY(image.make(maker, options));
    const bool isFat = options.first() == u"-F"_s && options.at(1) == u"16"_s;
    const auto noise = test::noise(8192, 7);
    for (std::size_t i = 0; i < 300; ++i) {
        const auto place =
            (std::to_integer<unsigned>(noise[i * 8]) | std::to_integer<unsigned>(noise[i * 8 + 1]) << 8U)
            % 4096;
        const Offset at = isFat ? place % 600 : 1024 + place % 1500;
        const QByteArray before = image.at(at, 4);
        image.change(at, QByteArray(reinterpret_cast<const char*>(&noise[i * 8 + 2]), 4));
        const auto free = isFat ? freeInFat(image.range(), 0, {}) : freeInExt(image.range(), {});
        QVERIFY(!free || free->empty() || free->back().end() <= 32 * kMiB);
        image.change(at, before);
    }
    QVERIFY(isFat ? freeInFat(image.range(), 0, {}) : freeInExt(image.range(), {}));
}

void TestFreeMap::keepsTheEndsOfAFileSystem()
{
    const Image image(kExtSize);
    QVERIFY(image.make(u"mkfs.ext4"_s, {u"-q"_s, u"-F"_s}));
    const auto info = probeImage(image.path().toStdString());
    QVERIFY(info && info->used);
    const auto& ranges = info->used->ranges;
    QVERIFY(ranges.front().offset == 0 && ranges.front().length >= kMiB);
    QVERIFY(ranges.back().end() == kExtSize && ranges.back().length >= kMiB);
    QVERIFY(totalLength(ranges) < kExtSize / 2);
    QVERIFY(!info->usedDoubt);
}

void TestFreeMap::countsWhatLiesOutsideAsUsed()
{
    // A table with a file system from 8 to 40 MiB; noise behind it.
    const Image part(32 * kMiB);
    QVERIFY(part.make(u"mkfs.ext4"_s, {u"-q"_s, u"-F"_s}));
    const Image image(kExtSize);
    QByteArray entry = QByteArray(4, '\0') + '\x83' + QByteArray(3, '\0') + le32(8 * 2048) + le32(32 * 2048);
    image.change(446, entry);
    image.change(510, le16(0xaa55));
    QFile file(part.path());
    QVERIFY(file.open(QIODevice::ReadOnly));
    image.change(8 * kMiB, file.readAll());
    const auto info = probeImage(image.path().toStdString());
    QVERIFY(info && info->used);
    const auto gaps = gapsWithin(info->used->ranges, {0, kExtSize});
    QVERIFY(!gaps.empty());
    QVERIFY(gaps.front().offset >= 9 * kMiB && gaps.back().end() <= 39 * kMiB);
}

void TestFreeMap::tellsWhyNothingIsLeftOut()
{
    const Image image(kExtSize);
    // Without a checksum, or libblkid would find no file system.
    QVERIFY(image.make(u"mkfs.ext4"_s, {u"-q"_s, u"-F"_s, u"-O"_s, u"^metadata_csum"_s}));
    image.change(kSuper + 58, le16(0));
    auto info = probeImage(image.path().toStdString());
    QVERIFY(info && !info->used);
    QCOMPARE(info->usedDoubt, UsedDoubt::NotClean);
    QVERIFY(!run(u"gzip"_s, {u"-1"_s, u"-k"_s, u"-v"_s, image.path()}).isEmpty());
    info = probeImage(image.path().toStdString() + ".gz");
    QVERIFY(info && !info->used);
    QCOMPARE(info->usedDoubt, UsedDoubt::Packed);
}

void TestFreeMap::prefersTheBlockMapBeside()
{
    const Image image(kExtSize);
    QVERIFY(image.make(u"mkfs.ext4"_s, {u"-q"_s, u"-F"_s}));
    QVERIFY(!run(u"bmaptool"_s, {u"create"_s, u"-o"_s, image.path() + u".bmap"_s, image.path()}).isEmpty());
    auto info = probeImage(image.path().toStdString());
    QVERIFY(info && info->bmap && info->used);
    QVERIFY(usedBlocksOf(*info) == info->bmap);
    QVERIFY(!info->bmap->sums.empty());

    QFile map(image.path() + u".bmap"_s);
    QVERIFY(map.open(QIODevice::ReadWrite) && map.resize(map.size() / 2));
    info = probeImage(image.path().toStdString());
    QVERIFY(info && !info->bmap && info->bmapError);
    QCOMPARE(info->bmapError->code, ErrorCode::BlockMapBad);
}

QTEST_APPLESS_MAIN(TestFreeMap)
#include "tst_freemap.moc"
