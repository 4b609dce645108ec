// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/imageprobe.h"

#include "engine/imageformat.h"
#include "engine/units.h"
#include "tests/support/fixtures.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>

using namespace burin;
using namespace burin::fixtures;

namespace {

struct Look {
    PartitionTable table = PartitionTable::None;
    QByteArray partitions = {}; ///< "offset MiB+size MiB type name/file system label;..."
    QByteArray fileSystem = {};
    QByteArray label = {};
    QList<ImageWarning> warnings = {};
    bool isoHybrid = false;
    std::uint32_t block = 512;
};

QByteArray describe(const std::vector<ImagePartition>& partitions)
{
    QByteArray all;
    for (const auto& p : partitions) {
        all += QByteArray::number(p.range.offset / kMiB) + '+' + QByteArray::number(p.range.length / kMiB)
            + ' ' + QByteArray::fromStdString(p.type + ' ' + p.name + '/' + p.fileSystem + ' ' + p.label)
            + ';';
    }
    return all;
}

// Unpacks a fixture, so that the same image is looked at raw and packed.
QByteArray unpacked(const char* name)
{
    const auto info = probeImage(path(name));
    const auto source = info ? openImage(*info) : std::unexpected(info.error());
    return source ? readAll(**source, kMiB).data : QByteArray();
}

std::string write(const QTemporaryDir& folder, const QByteArray& data,
                  const QString& name = QStringLiteral("image"))
{
    QFile file(folder.filePath(name));
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate) || file.write(data) != data.size()) {
        return {};
    }
    return QFile::encodeName(file.fileName()).toStdString();
}

QByteArray padded(const QByteArray& start, qsizetype size)
{
    return start + QByteArray(size - start.size(), '\0');
}

} // namespace

Q_DECLARE_METATYPE(Look)

class TstImageProbe : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void seesWhatIsInside_data();
    void seesWhatIsInside();
    void seesTheSameInARawImage_data();
    void seesTheSameInARawImage();
    void tellsCompressionAndSize_data();
    void tellsCompressionAndSize();
    void refuses_data();
    void refuses();
    void refusesForeignFormatsByContent_data();
    void refusesForeignFormatsByContent();
    void refusesWhatIsNoImage_data();
    void refusesWhatIsNoImage();
    void refusesWhatIsNoFile();
    void warnsOfAShortRawGpt();
    void warnsOfADamagedGpt_data();
    void warnsOfADamagedGpt();
    void tellsAnIsoThatStartsFromDiscsOnly();
    void warnsWithoutABootRecord();
    void takesAnyName();
    void opensOnlyWhatWasProbed();
    void readsTheMemberOfAContainer();
    void stopsWhenAsked();
    void saysThatANameDoesNotFit_data();
    void saysThatANameDoesNotFit();
    void namesAPartOfASplitFile();
    void warnsOfAShortUdfVolume();
    void takesAPipe();
};

void TstImageProbe::seesWhatIsInside_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Look>("expected");
    using enum ImageWarning;
    const QByteArray mbr = "1+2 FAT32 /vfat BOOT;8+4 Linux /ext4 rootfs;";
    const QByteArray gpt = "1+2 EFI system esp/vfat BOOT;8+4 Linux root fs/ext4 rootfs;";
    const auto row = [](const char* name, const Look& look) {
        QTest::newRow(name) << QByteArray(name) << look;
    };
    for (const auto* name : {"mbr.img.xz", "mbr.img.gz", "mbr.img.bz2", "mbr.img.zst"}) {
        row(name, {.table = PartitionTable::Mbr, .partitions = mbr});
    }
    row("mbr-short.img.xz",
        {.table = PartitionTable::Mbr, .partitions = mbr, .warnings = {ShorterThanItsTable}});
    row("logical.img.xz",
        {.table = PartitionTable::Mbr,
         .partitions =
             "1+2 FAT32 /vfat BOOT;5+4 Linux /ext4 rootfs;10+2 FAT32 /vfat BOOT;13+4 Linux /ext4 rootfs;"});
    row("gpt.img.xz", {.table = PartitionTable::Gpt, .partitions = gpt});
    row("gpt-short.img.xz",
        {.table = PartitionTable::Gpt, .partitions = gpt, .warnings = {ShorterThanItsTable}});
    row("gpt-4096.img.xz", {.table = PartitionTable::Gpt, .partitions = gpt, .block = 4096});
    row("ext4.img.xz", {.fileSystem = "ext4", .label = "rootfs", .warnings = {NoBootRecord}});
    row("vfat.img.xz", {.fileSystem = "vfat", .label = "BOOT"});
    row("iso.img.xz", {.fileSystem = "iso9660", .label = "PLAIN_VOLUME", .warnings = {NoBootRecord}});
    row("iso-short.img.xz",
        {.fileSystem = "iso9660", .label = "PLAIN_VOLUME", .warnings = {NoBootRecord, ShorterThanItsTable}});
    row("iso-hybrid.img.xz",
        {.table = PartitionTable::Mbr,
         .partitions = "0+1 Hidden NTFS or ISO 9660 /iso9660 PLAIN_VOLUME;",
         .label = "PLAIN_VOLUME",
         .isoHybrid = true});
    row("windows.img.xz",
        {.fileSystem = "iso9660", .label = "CCCOMA_X64FRE_DE-DE_DV9", .warnings = {WindowsInstaller}});
}

static void compare(const ImageInfo& info, const Look& expected)
{
    QCOMPARE(info.table, expected.table);
    QCOMPARE(describe(info.partitions), expected.partitions);
    QCOMPARE(QByteArray::fromStdString(info.fileSystem), expected.fileSystem);
    QCOMPARE(QByteArray::fromStdString(info.label), expected.label);
    QCOMPARE(info.isoHybrid, expected.isoHybrid);
    QCOMPARE(info.tableBlock, expected.block);
    QCOMPARE(QList<ImageWarning>(info.warnings.begin(), info.warnings.end()), expected.warnings);
}

void TstImageProbe::seesWhatIsInside()
{
    QFETCH(QByteArray, name);
    QFETCH(Look, expected);
    const auto info = probeImage(path(name.constData()));
    QVERIFY2(info.has_value(), info ? "" : qPrintable(QString::number(static_cast<int>(info.error().code))));
    compare(*info, expected);
}

void TstImageProbe::seesTheSameInARawImage_data()
{
    seesWhatIsInside_data();
}

void TstImageProbe::seesTheSameInARawImage()
{
    QFETCH(QByteArray, name);
    QFETCH(Look, expected);
    const QTemporaryDir folder;
    const auto data = unpacked(name.constData());
    QVERIFY(!data.isEmpty());
    const auto info = probeImage(write(folder, data));
    QVERIFY(info.has_value());
    QVERIFY(info->layers.empty());
    QCOMPARE(info->unpackedSize, std::optional(static_cast<Bytes>(data.size())));
    compare(*info, expected);
}

void TstImageProbe::tellsCompressionAndSize_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<QByteArray>("layers");
    QTest::addColumn<qlonglong>("size"); // -1 for unknown
    QTest::addColumn<bool>("checked");
    const auto a = qlonglong{payloadA().size()};
    const auto row = [](const char* name, const char* layers, qlonglong size, bool checked = true) {
        QTest::newRow(name) << QByteArray(name) << QByteArray(layers) << size << checked;
    };
    row("good.gz", "gzip", a); // so small that the look reaches the end
    row("good.bz2", "bzip2", a);
    row("good.xz", "xz", a);
    row("good.zst", "zstd", a);
    row("good.lz4", "lz4", a);
    row("good.lz", "lzip", a);
    row("good.lzma", "lzma", a, false);
    row("skippable.zst", "zstd", a + payloadB().size());
    row("no-check.xz", "xz", a, false);
    row("no-check.zst", "zstd", a, false);
    row("one.zip", "zip", a);
    row("zip64.zip", "zip", 5000);
    row("lzma2.7z", "7z", a);
    row("plain.tar", "tar", 5000, false);
    row("tar.xz", "xz tar", 5000);
    row("mbr.img.xz", "xz", 16 * qlonglong{kMiB});
}

void TstImageProbe::tellsCompressionAndSize()
{
    QFETCH(QByteArray, name);
    QFETCH(QByteArray, layers);
    QFETCH(qlonglong, size);
    QFETCH(bool, checked);
    const auto info = probeImage(path(name.constData()));
    QVERIFY(info.has_value());
    QByteArrayList names;
    for (const auto& layer : info->layers) {
        names += QByteArray(nameOf(layer.format).data());
    }
    QCOMPARE(names.join(' '), layers);
    QCOMPARE(info->unpackedSize, size < 0 ? std::optional<Bytes>() : std::optional(static_cast<Bytes>(size)));
    QCOMPARE(info->checked, checked);
}

void TstImageProbe::refuses_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<ErrorCode>("error");
    QTest::addColumn<QByteArray>("detail");
    const auto row = [](const char* name, ErrorCode error, const char* detail = nullptr) {
        QTest::newRow(name) << QByteArray(name) << error << QByteArray(detail);
    };
    using enum ErrorCode;
    row("truncated.gz", ImageTruncated);
    row("truncated.bz2", ImageTruncated);
    row("truncated.xz", ImageTruncated);
    row("truncated.zst", ImageTruncated);
    row("corrupt.xz", ImageCorrupt);
    row("trailing.gz", ImageCorrupt);
    row("trailing.xz", ImageCorrupt);
    row("encrypted.zip", ImageEncrypted, "disk.img");
    row("no-image.zip", ImageNoMember);
    row("cut.zip", ImageTruncated);
    row("bad-crc.zip", ImageCorrupt);
}

void TstImageProbe::refuses()
{
    QFETCH(QByteArray, name);
    QFETCH(ErrorCode, error);
    QFETCH(QByteArray, detail);
    const auto info = probeImage(path(name.constData()));
    QVERIFY(!info);
    QCOMPARE(info.error().code, error);
    if (!detail.isEmpty()) {
        QCOMPARE(QByteArray::fromStdString(info.error().detail), detail);
    }
}

void TstImageProbe::refusesForeignFormatsByContent_data()
{
    QTest::addColumn<QByteArray>("start");
    QTest::addColumn<QByteArray>("end");
    QTest::addColumn<QByteArray>("format");
    const auto row = [](const char* format, const QByteArray& start, const QByteArray& end = {}) {
        QTest::addRow("%s %s", format, start.left(4).toHex().constData())
            << start << end << QByteArray(format);
    };
    row("RAR", "Rar!\x1a\x07\x01");
    row("lz4 of the old kind", "\x02\x21\x4c\x18");
    row("WIM", QByteArray("MSWIM\0\0\0", 8));
    row("CAB", QByteArray("MSCF\0\0\0\0", 8));
    row("split zip", "PK\x07\x08PK\x03\x04");
    row("VMDK in several files", "# Disk DescriptorFile\nversion=1\n");
    row("VDI", padded("<<< Oracle VM VirtualBox Disk Image >>>\n", 64) + "\x7f\x10\xda\xbe");
}

void TstImageProbe::refusesForeignFormatsByContent()
{
    QFETCH(QByteArray, start);
    QFETCH(QByteArray, end);
    QFETCH(QByteArray, format);
    const QTemporaryDir folder;
    const auto info = probeImage(write(folder, padded(start, 8192) + end, QStringLiteral("disk.img")));
    QVERIFY(!info);
    QCOMPARE(info.error().code, ErrorCode::ImageUnsupported);
    QCOMPARE(QByteArray::fromStdString(info.error().detail), format);
}

void TstImageProbe::refusesWhatIsNoImage_data()
{
    QTest::addColumn<QByteArray>("content");
    QTest::newRow("text") << QByteArray("Hello, this is a text.\n").repeated(100);
    QTest::newRow("html")
        << QByteArray("<!DOCTYPE html><html><body>404 Not Found</body></html>\n").repeated(30);
    QTest::newRow("short html") << QByteArray("<html>404");
    QTest::newRow("pdf") << padded("%PDF-1.7\n", 4000);
    QTest::newRow("elf") << padded("\x7f"
                                   "ELF",
                                   4000);
    QTest::newRow("png") << padded("\x89PNG\r\n\x1a\n", 4000);
    QTest::newRow("jpeg") << padded("\xff\xd8\xff", 4000);
    QTest::newRow("deb") << padded("!<arch>\n", 4000);
    QTest::newRow("signature") << QByteArray("-----BEGIN PGP SIGNATURE-----\n").repeated(40);
    QTest::newRow("less than a boot record") << noise("short", 511);
}

void TstImageProbe::refusesWhatIsNoImage()
{
    QFETCH(QByteArray, content);
    const QTemporaryDir folder;
    const auto info = probeImage(write(folder, content, QStringLiteral("disk.img")));
    QVERIFY(!info);
    QCOMPARE(info.error().code, ErrorCode::ImageFormatUnknown);
}

void TstImageProbe::refusesWhatIsNoFile()
{
    const QTemporaryDir folder;
    const auto name = QFile::encodeName(folder.path()).toStdString();
    const auto directory = probeImage(name);
    QVERIFY(!directory);
    QCOMPARE(directory.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(directory.error().sysErrno, EISDIR);
    const auto missing = probeImage(name + "/missing");
    QVERIFY(!missing);
    QCOMPARE(missing.error().sysErrno, ENOENT);
    const auto fifo = name + "/fifo";
    QCOMPARE(::mkfifo(fifo.c_str(), 0600), 0);
    QCOMPARE(probeImage(fifo).error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(probeImage("/dev/null").error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(probeImage(write(folder, {})).error().code, ErrorCode::ImageEmpty);
}

void TstImageProbe::warnsOfAShortRawGpt()
{
    const QTemporaryDir folder;
    const auto whole = unpacked("gpt.img.xz");
    // One byte less than the backup header's block needs is enough.
    for (const qsizetype size : {whole.size(), whole.size() - 1, whole.size() / 2, qsizetype{20'000}}) {
        const auto info = probeImage(write(folder, whole.first(size)));
        QVERIFY(info.has_value());
        QCOMPARE(info->table, PartitionTable::Gpt);
        QCOMPARE(info->partitions.size(), std::size_t{2});
        QCOMPARE(std::ranges::contains(info->warnings, ImageWarning::ShorterThanItsTable),
                 size < whole.size());
    }
}

void TstImageProbe::warnsOfADamagedGpt_data()
{
    QTest::addColumn<qsizetype>("flipped"); // from the end if negative
    QTest::addColumn<bool>("warns");
    QTest::newRow("nothing") << qsizetype{-1} << false; // padding of the backup's block
    QTest::newRow("header") << qsizetype{512 + 57} << true;
    QTest::newRow("header's CRC") << qsizetype{512 + 16} << true;
    QTest::newRow("entry") << qsizetype{1024 + 56} << true;
    QTest::newRow("last entry") << qsizetype{1024 + 127 * 128} << true;
    QTest::newRow("backup") << qsizetype{-512 + 57} << true;
    QTest::newRow("a partition's data") << qsizetype{kMiB + 12'345} << false;
}

void TstImageProbe::warnsOfADamagedGpt()
{
    QFETCH(qsizetype, flipped);
    QFETCH(bool, warns);
    const QTemporaryDir folder;
    auto data = unpacked("gpt.img.xz");
    const bool inBackup = flipped < 0;
    auto& byte = data[inBackup ? data.size() + flipped : flipped];
    byte = static_cast<char>(byte ^ 1);
    const auto raw = probeImage(write(folder, data));
    QVERIFY(raw.has_value());
    QCOMPARE(std::ranges::contains(raw->warnings, ImageWarning::DamagedTable), warns);
    if (!inBackup) { // which isn't looked at in packed data
        const auto name = folder.path().toStdString() + "/disk.img.gz";
        auto* const file = gzopen(name.c_str(), "wb");
        gzwrite(file, data.constData(), static_cast<unsigned>(data.size()));
        QCOMPARE(gzclose(file), Z_OK);
        const auto packed = probeImage(name);
        QVERIFY(packed.has_value());
        QCOMPARE(std::ranges::contains(packed->warnings, ImageWarning::DamagedTable), warns);
    }
}

void TstImageProbe::tellsAnIsoThatStartsFromDiscsOnly()
{
    const QTemporaryDir folder;
    auto data = unpacked("iso.img.xz");
    constexpr std::string_view kBootRecord("\0CD001\1EL TORITO SPECIFICATION", 30);
    std::ranges::copy(kBootRecord, data.begin() + qsizetype{17} * 2048);
    auto info = probeImage(write(folder, data));
    QVERIFY(info.has_value());
    QCOMPARE(info->warnings, std::vector{ImageWarning::StartsFromDiscOnly});
    data[510] = '\x55';
    data[511] = '\xaa';
    info = probeImage(write(folder, data));
    QVERIFY(info.has_value());
    QVERIFY(info->warnings.empty());
}

void TstImageProbe::warnsWithoutABootRecord()
{
    const QTemporaryDir folder;
    auto data = noise("nothing known", 100'000);
    const auto without = probeImage(write(folder, data));
    QVERIFY(without.has_value());
    QVERIFY(std::ranges::contains(without->warnings, ImageWarning::NoBootRecord));
    data[510] = '\x55';
    data[511] = '\xaa';
    std::fill_n(data.begin() + 446, 64, '\0');
    const auto with = probeImage(write(folder, data));
    QVERIFY(with.has_value());
    QVERIFY(!std::ranges::contains(with->warnings, ImageWarning::NoBootRecord));
}

void TstImageProbe::takesAnyName()
{
    const QTemporaryDir folder;
    QFile fixture(QFile::decodeName(path("plain.tar").c_str()));
    QVERIFY(fixture.open(QIODevice::ReadOnly));
    const auto content = fixture.readAll();
    // A name in Latin-1, which is no valid UTF-8, with a newline; and a lying suffix.
    const auto name = QFile::encodeName(folder.path()).toStdString() + "/WITH \xfc #%\n.iso";
    FILE* const file = std::fopen(name.c_str(), "wb");
    QVERIFY(file);
    QCOMPARE(std::fwrite(content.constData(), 1, static_cast<std::size_t>(content.size()), file),
             static_cast<std::size_t>(content.size()));
    QCOMPARE(std::fclose(file), 0);
    const auto info = probeImage(name);
    QVERIFY(info.has_value());
    QCOMPARE(info->layers.size(), std::size_t{1});
    QCOMPARE(info->layers[0].format, Format::Tar);
    QVERIFY(std::ranges::contains(info->warnings, ImageWarning::OtherSuffix));
    QCOMPARE(info->path, name);
    const auto source = openImage(*info);
    QVERIFY(source.has_value());
    QVERIFY(readAll(**source, 4096).data == payloadA().first(5000));
}

void TstImageProbe::opensOnlyWhatWasProbed()
{
    const QTemporaryDir folder;
    const auto name = write(folder, unpacked("vfat.img.xz"));
    const auto info = probeImage(name);
    QVERIFY(info.has_value());
    QVERIFY(openImage(*info).has_value());
    QFile file(QFile::decodeName(name.c_str()));
    QVERIFY(file.open(QIODevice::Append));
    QCOMPARE(file.write("x"), 1);
    file.close();
    const auto changed = openImage(*info);
    QVERIFY(!changed);
    QCOMPARE(changed.error().code, ErrorCode::ImageChanged);
}

void TstImageProbe::readsTheMemberOfAContainer()
{
    const auto info = probeImage(path("several.zip"));
    QVERIFY(info.has_value());
    QCOMPARE(info->layers[0].member, std::string("boot/disk.img"));
    QVERIFY(std::ranges::contains(info->warnings, ImageWarning::ManyMembers));
    const auto source = openImage(*info);
    QVERIFY(source.has_value());
    QVERIFY(readAll(**source, 4096).data == payloadA());
}

// The head is always read; what lies behind it is given up.
void TstImageProbe::stopsWhenAsked()
{
    std::stop_source stop;
    stop.request_stop();
    const auto info = probeImage(path("mbr.img.xz"), stop.get_token());
    QVERIFY(info.has_value());
    QCOMPARE(describe(info->partitions), QByteArray("1+2 FAT32 /vfat BOOT;8+4 Linux / ;"));
}

void TstImageProbe::saysThatANameDoesNotFit_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QByteArray>("fixture");
    QTest::addColumn<int>("warning"); // -1 for none
    const auto row = [](const char* name, const char* fixture, int warning) {
        QTest::newRow(name) << QString::fromUtf8(name) << QByteArray(fixture) << warning;
    };
    const int other = int(ImageWarning::OtherSuffix);
    row("disk.img", "vfat.img.xz", other);
    row("disk.iso", "vfat.img.xz", other);
    row("disk.gz", "vfat.img.xz", other);
    row("disk.zip", "vfat.img.xz", other);
    row("disk.img.xz", "vfat.img.xz", -1);
    row("disk.IMG.XZ", "vfat.img.xz", -1);
    row("disk", "vfat.img.xz", -1);
    row("disk.iso.download", "vfat.img.xz", -1);
    row("disk.txz", "tar.xz", -1);
    row("disk.tgz", "tar.xz", other);
    row("disk.img.xz.part", "vfat.img.xz", int(ImageWarning::UnfinishedDownload));
    row("disk.iso.crdownload", "vfat.img.xz", int(ImageWarning::UnfinishedDownload));
}

void TstImageProbe::saysThatANameDoesNotFit()
{
    QFETCH(QString, name);
    QFETCH(QByteArray, fixture);
    QFETCH(int, warning);
    const QTemporaryDir folder;
    QVERIFY(QFile::copy(QFile::decodeName(path(fixture.constData()).c_str()), folder.filePath(name)));
    const auto info = probeImage(QFile::encodeName(folder.filePath(name)).toStdString());
    QVERIFY(info.has_value());
    for (const auto kind : {ImageWarning::OtherSuffix, ImageWarning::UnfinishedDownload}) {
        QCOMPARE(std::ranges::contains(info->warnings, kind), int(kind) == warning);
    }
}

void TstImageProbe::namesAPartOfASplitFile()
{
    const QTemporaryDir folder;
    QFile fixture(QFile::decodeName(path("mbr.img.xz").c_str()));
    QVERIFY(fixture.open(QIODevice::ReadOnly));
    const auto half = fixture.readAll().first(fixture.size() / 2);
    for (const auto* name : {"p.img.xzaa", "p.img.xz.aa", "disk.7z.001", "disk.z01", "p.img.gzaa"}) {
        const auto part = probeImage(write(folder, half, QString::fromUtf8(name)));
        QVERIFY(!part);
        QCOMPARE(part.error().code, ErrorCode::ImageUnsupported);
        QCOMPARE(part.error().detail, std::string("a part of a split file"));
    }
    for (const auto* name : {"disk.vhd", "disk.DMG"}) {
        const auto cut = probeImage(write(folder, unpacked("vfat.img.xz"), QString::fromUtf8(name)));
        QVERIFY(!cut);
        QCOMPARE(cut.error().code, ErrorCode::ImageTruncated);
    }
    // A whole image may be called as it likes.
    QVERIFY(probeImage(write(folder, unpacked("vfat.img.xz"), QStringLiteral("my.backup.001"))).has_value());
    QCOMPARE(probeImage(write(folder, half, QStringLiteral("p.img.xz"))).error().code,
             ErrorCode::ImageTruncated);
}

void TstImageProbe::warnsOfAShortUdfVolume()
{
    const QTemporaryDir folder;
    auto data = unpacked("windows.img.xz");
    data.append(QByteArray(2 * qsizetype{kMiB} - data.size(), '\0'));
    const auto put = [&data](qsizetype at, quint32 value, int bytes) {
        for (int i = 0; i < bytes; ++i) {
            data[at + i] = static_cast<char>(value >> (8 * i));
        }
    };
    constexpr qsizetype kSector = 2048;
    put(256 * kSector, 2, 2);             // the anchor
    put(256 * kSector + 16, 4 * 2048, 4); // its descriptors, four
    put(256 * kSector + 20, 257, 4);
    put(257 * kSector, 1, 2);
    put(258 * kSector, 5, 2); // a partition of 700 sectors from 300 on
    put(258 * kSector + 188, 300, 4);
    put(258 * kSector + 192, 700, 4);
    put(259 * kSector, 8, 2);
    for (const qsizetype size : {1000 * kSector, 1000 * kSector - 1}) {
        const auto info = probeImage(write(folder, data.first(size)));
        QVERIFY(info.has_value());
        QCOMPARE(info->claimedEnd, Bytes{1000 * kSector});
        QCOMPARE(std::ranges::contains(info->warnings, ImageWarning::ShorterThanItsTable),
                 size < 1000 * kSector);
    }
}

void TstImageProbe::takesAPipe()
{
    QFile fixture(QFile::decodeName(path("mbr.img.xz").c_str()));
    QVERIFY(fixture.open(QIODevice::ReadOnly));
    const auto packed = fixture.readAll();
    int ends[2] = {-1, -1};
    QCOMPARE(::pipe(ends), 0);
    QVERIFY(packed.size() < 60'000); // goes into the pipe at once
    QCOMPARE(::write(ends[1], packed.constData(), static_cast<std::size_t>(packed.size())), packed.size());
    QCOMPARE(::close(ends[1]), 0);
    const auto streamed = openStream(UniqueFd(ends[0]), "-");
    QVERIFY(streamed.has_value());
    QCOMPARE(streamed->info.table, PartitionTable::Mbr);
    QVERIFY(readAll(*streamed->source, 4096).data == unpacked("mbr.img.xz"));
}

QTEST_APPLESS_MAIN(TstImageProbe)
#include "tst_imageprobe.moc"
