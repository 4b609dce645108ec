// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/virtualdisk.h"

#include "engine/bigendian.h"
#include "engine/crc32c.h"
#include "engine/littleendian.h"
#include "tests/support/fixtures.h"

#include <QFile>
#include <QMap>
#include <QTemporaryDir>
#include <QTest>

#include <lzma.h>

#include <functional>
#include <random>

using namespace burin;
using namespace burin::fixtures;

using Change = std::function<void(QByteArray&)>;

Q_DECLARE_METATYPE(burin::Format)
Q_DECLARE_METATYPE(Change)

namespace {

enum Order { Big, Little };

// The fixture's bytes, out of the xz file that holds it.
QByteArray fixture(const QByteArray& name)
{
    static QMap<QByteArray, QByteArray> unpacked;
    if (const auto known = unpacked.constFind(name); known != unpacked.constEnd()) {
        return *known;
    }
    QFile file(QString::fromStdString(path("virtual-disks/")) + QString::fromLatin1(name)
               + QStringLiteral(".xz"));
    if (!file.open(QIODevice::ReadOnly)) {
        return {};
    }
    const QByteArray packed = file.readAll();
    QByteArray data(16 * qsizetype{kMiB}, Qt::Uninitialized);
    std::uint64_t memory = 256 * kMiB;
    std::size_t in = 0;
    std::size_t out = 0;
    const lzma_ret result = lzma_stream_buffer_decode(
        &memory, 0, nullptr, reinterpret_cast<const std::uint8_t*>(packed.constData()), &in,
        static_cast<std::size_t>(packed.size()), reinterpret_cast<std::uint8_t*>(data.data()), &out,
        static_cast<std::size_t>(data.size()));
    if (result == LZMA_OK) {
        unpacked[name] = data.first(static_cast<qsizetype>(out));
    }
    return unpacked[name];
}

// What tests/data/make-virtual-disks calls make_disk(), as the format rounds it up.
QByteArray disk(Format format)
{
    constexpr qsizetype kBlock = 512;
    QByteArray all(1024 * 1024 + 3 * kBlock, '\0');
    all.replace(0, 700, noise("front", 700));
    all.replace(100 * 1024 + 300, 32'000, noise("repeated", 64).repeated(500));
    all.replace(512 * 1024, 128 * 1024, QByteArray(128 * 1024, '\xa5'));
    all.replace(800 * 1024, 600, noise("inside", 600));
    all.replace(all.size() - 650, 650, noise("back", 650));
    const qsizetype unit = format == Format::AndroidSparse ? 4096 : kBlock;
    return all + QByteArray((unit - all.size() % unit) % unit, '\0');
}

std::span<const std::byte> bytes(const QByteArray& data)
{
    return std::as_bytes(std::span(data.constData(), static_cast<std::size_t>(data.size())));
}

std::uint64_t number(const QByteArray& data, qsizetype at, int size, Order order)
{
    std::uint64_t value = 0;
    for (int i = 0; i < size; ++i) {
        value = value << 8U | static_cast<unsigned char>(data[at + (order == Big ? i : size - 1 - i)]);
    }
    return value;
}

void put(QByteArray& data, qsizetype at, int size, Order order, std::uint64_t value)
{
    for (int i = 0; i < size; ++i) {
        data[at + (order == Big ? size - 1 - i : i)] = static_cast<char>(value >> 8 * i);
    }
}

// A change of one number; `at` counts from the end if it is negative.
Change set(qsizetype at, int size, Order order, std::uint64_t value)
{
    return [=](QByteArray& data) { put(data, at < 0 ? data.size() + at : at, size, order, value); };
}
Change flip(qsizetype at)
{
    return [=](QByteArray& data) {
        char& c = data[at < 0 ? data.size() + at : at];
        c = static_cast<char>(c ^ 0x10);
    };
}
Change operator+(const Change& a, const Change& b)
{
    return [=](QByteArray& data) {
        a(data);
        b(data);
    };
}
Change chop(qsizetype size)
{
    return [=](QByteArray& data) { data.chop(size); };
}
Change replace(const QByteArray& before, const QByteArray& after)
{
    return [=](QByteArray& data) { data.replace(before, after); };
}

const QTemporaryDir& folder()
{
    static const QTemporaryDir dir;
    return dir;
}

FileRange write(const QByteArray& data)
{
    static int count = 0;
    QFile file(folder().filePath(QString::number(++count)));
    if (!file.open(QIODevice::WriteOnly) || file.write(data) != data.size() || !file.flush()) {
        return {};
    }
    const auto opened = ImageFile::open(QFile::encodeName(file.fileName()).toStdString());
    return opened ? FileRange{.file = *opened, .range = {.offset = 0, .length = (*opened)->size()}}
                  : FileRange{};
}

QString nameOf(const FileRange& place)
{
    return QFile::symLinkTarget(QStringLiteral("/proc/self/fd/%1").arg(place.file->fd()));
}

// Opens the disk and reads it all.
Outcome readDisk(Format format, const FileRange& place, std::size_t step = 65536)
{
    auto opened = openVirtualDisk(format, place);
    if (!opened) {
        return {.data = {}, .error = opened.error()};
    }
    VirtualDiskSource source(std::move(*opened), place);
    return readAll(source, step);
}

// --- VHD: sums made right again after a change

void vhdSum(QByteArray& data, qsizetype at, qsizetype size, qsizetype sumAt)
{
    put(data, at + sumAt, 4, Big, 0);
    std::uint32_t sum = 0;
    for (qsizetype i = 0; i < size; ++i) {
        sum += static_cast<unsigned char>(data[at + i]);
    }
    put(data, at + sumAt, 4, Big, ~sum);
}
Change footer(qsizetype at, int size, std::uint64_t value)
{
    return [=](QByteArray& data) {
        put(data, data.size() - 512 + at, size, Big, value);
        vhdSum(data, data.size() - 512, 512, 64);
    };
}
Change header(qsizetype at, int size, std::uint64_t value)
{
    return [=](QByteArray& data) {
        put(data, 512 + at, size, Big, value);
        vhdSum(data, 512, 1024, 36);
    };
}
// An entry of the dynamic disk's table.
Change vhdEntry(qsizetype block, std::uint64_t value)
{
    return [=](QByteArray& data) {
        put(data, static_cast<qsizetype>(number(data, 512 + 16, 8, Big)) + block * 4, 4, Big, value);
    };
}

// --- VHDX

void vhdxSum(QByteArray& data, qsizetype at, qsizetype size)
{
    put(data, at + 4, 4, Little, 0);
    Crc32c sum;
    sum.add(bytes(data).subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(size)));
    put(data, at + 4, 4, Little, sum.value());
}
Change headers(qsizetype at, const QByteArray& value)
{
    return [=](QByteArray& data) {
        for (const qsizetype start : {64 * 1024, 128 * 1024}) {
            data.replace(start + at, value.size(), value);
            vhdxSum(data, start, 4096);
        }
    };
}
Change regions(qsizetype at, int size, std::uint64_t value)
{
    return [=](QByteArray& data) {
        for (const qsizetype start : {192 * 1024, 256 * 1024}) {
            put(data, start + at, size, Little, value);
            vhdxSum(data, start, 64 * 1024);
        }
    };
}
const QByteArray kTableId = QByteArray::fromHex("6677c22d23f600429d64115e9bfd4a08");
const QByteArray kMetadataId = QByteArray::fromHex("06a27c8b90479a4bb8fe575f050f886e");
const QByteArray kParameters = QByteArray::fromHex("3767a1ca36fa434db3b633f0aa44e76b");
const QByteArray kSize = QByteArray::fromHex("2442a52f1bcd7648b2115dbed83bf4b8");

qsizetype region(const QByteArray& data, const QByteArray& id)
{
    return static_cast<qsizetype>(number(data, data.indexOf(id, 192 * 1024) + 16, 8, Little));
}
Change item(const QByteArray& id, qsizetype at, int size, std::uint64_t value)
{
    return [=](QByteArray& data) {
        const qsizetype metadata = region(data, kMetadataId);
        const auto offset = static_cast<qsizetype>(number(data, data.indexOf(id, metadata) + 16, 4, Little));
        put(data, metadata + offset + at, size, Little, value);
    };
}
Change vhdxEntry(qsizetype block, std::uint64_t value)
{
    return [=](QByteArray& data) { put(data, region(data, kTableId) + block * 8, 8, Little, value); };
}

// --- qcow2: entries of the first table and of the first table of the second level

Change first(qsizetype index, const std::function<std::uint64_t(std::uint64_t)>& change)
{
    return [=](QByteArray& data) {
        const qsizetype at = static_cast<qsizetype>(number(data, 40, 8, Big)) + index * 8;
        put(data, at, 8, Big, change(number(data, at, 8, Big)));
    };
}
Change second(qsizetype index, const std::function<std::uint64_t(std::uint64_t)>& change)
{
    return [=](QByteArray& data) {
        const auto table = number(data, static_cast<qsizetype>(number(data, 40, 8, Big)), 8, Big);
        const qsizetype at = static_cast<qsizetype>(table & 0x00fffffffffffe00) + index * 8;
        put(data, at, 8, Big, change(number(data, at, 8, Big)));
    };
}
std::function<std::uint64_t(std::uint64_t)> to(std::uint64_t value)
{
    return [=](std::uint64_t) { return value; };
}
std::function<std::uint64_t(std::uint64_t)> with(std::uint64_t bits)
{
    return [=](std::uint64_t old) { return old | bits; };
}

// --- VMDK: an entry of the first table of grains, and a grain's marker

qsizetype grains(const QByteArray& data)
{
    auto directory = number(data, 56, 8, Little);
    if (directory == ~std::uint64_t{0}) {
        directory = number(data, data.size() - 1024 + 56, 8, Little);
    }
    return static_cast<qsizetype>(number(data, static_cast<qsizetype>(directory * 512), 4, Little) * 512);
}
Change grain(qsizetype index, std::uint64_t value)
{
    return [=](QByteArray& data) { put(data, grains(data) + index * 4, 4, Little, value); };
}
Change inGrain(qsizetype index, qsizetype at)
{
    return [=](QByteArray& data) {
        const auto sector = number(data, grains(data) + index * 4, 4, Little);
        flip(static_cast<qsizetype>(sector * 512) + at)(data);
    };
}

} // namespace

class TstVirtualDisk : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsTheDisk_data();
    void readsTheDisk();
    void readsAnywhere_data() { readsTheDisk_data(); }
    void readsAnywhere();
    void readsFarIn_data();
    void readsFarIn();
    void readsAPartOfAFile_data() { readsTheDisk_data(); }
    void readsAPartOfAFile();
    void noticesTheMissingEnd_data() { readsTheDisk_data(); }
    void noticesTheMissingEnd();
    void noticesAChange_data() { readsTheDisk_data(); }
    void noticesAChange();
    void readsDespite_data();
    void readsDespite();
    void refusesVhd_data();
    void refusesVhd() { refuses(); }
    void refusesVhdx_data();
    void refusesVhdx() { refuses(); }
    void refusesQcow2_data();
    void refusesQcow2() { refuses(); }
    void refusesVmdk_data();
    void refusesVmdk() { refuses(); }
    void refusesAndroidSparse_data();
    void refusesAndroidSparse() { refuses(); }
    void refusesDmg_data();
    void refusesDmg() { refuses(); }
    void saysWhereDataAreDamaged_data();
    void saysWhereDataAreDamaged();

private:
    static void refuses();
};

void TstVirtualDisk::readsTheDisk_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<bool>("checked");
    const auto row = [](const char* name, Format format, bool checked = false) {
        QTest::newRow(name) << QByteArray(name) << format << checked;
    };
    using enum Format;
    row("fixed.vhd", Vhd);
    row("dynamic.vhd", Vhd);
    row("fixed.vhdx", Vhdx);
    row("dynamic.vhdx", Vhdx);
    row("v2.qcow2", Qcow2);
    row("v3.qcow2", Qcow2);
    row("small.qcow2", Qcow2);
    row("changed.qcow2", Qcow2);
    row("deflate.qcow2", Qcow2);
    row("zstd.qcow2", Qcow2);
    row("sparse.vmdk", Vmdk);
    row("stream.vmdk", Vmdk, true);
    row("footer.vmdk", Vmdk, true);
    row("sparse.android", AndroidSparse);
    row("checksum.android", AndroidSparse, true);
    row("zlib.dmg", Dmg, true);
    row("mixed.dmg", Dmg, true);
}

void TstVirtualDisk::readsTheDisk()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(bool, checked);
    const FileRange place = write(fixture(name));
    for (const std::size_t step : {std::size_t{1000}, std::size_t{65536}, 4 * kMiB}) {
        auto opened = openVirtualDisk(format, place);
        QVERIFY2(opened, opened ? "" : opened.error().detail.c_str());
        QCOMPARE((*opened)->checked(), checked);
        VirtualDiskSource source(std::move(*opened), place);
        QCOMPARE(source.unpackedSize(), static_cast<Bytes>(disk(format).size()));
        QCOMPARE(source.consumed(), Bytes{0});
        const Outcome outcome = readAll(source, step);
        QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
        QVERIFY(outcome.data == disk(format));
        QCOMPARE(source.consumed(), place.size());
    }
}

void TstVirtualDisk::readsAnywhere()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    auto opened = openVirtualDisk(format, write(fixture(name)));
    QVERIFY(opened);
    const QByteArray whole = disk(format);
    std::mt19937 random(1); // NOLINT(bugprone-random-generator-seed): the same places each time
    for (int i = 0; i < 300; ++i) {
        const auto at = static_cast<qsizetype>(random() % static_cast<std::uint32_t>(whole.size()));
        const auto longest = std::min<qsizetype>(whole.size() - at, i % 2 ? 3000 : 300'000);
        const auto size = static_cast<qsizetype>(random() % static_cast<std::uint32_t>(longest + 1));
        QByteArray part(size, '?');
        const std::span out(part.data(), static_cast<std::size_t>(size));
        const auto got = (*opened)->readAt(static_cast<Offset>(at), std::as_writable_bytes(out));
        QVERIFY(got);
        QVERIFY(part == whole.sliced(at, size));
    }
}

void TstVirtualDisk::readsFarIn_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<int>("mebibyte");
    QTest::newRow("VHD, many blocks") << QByteArray("far.vhd") << Format::Vhd << 9;
    QTest::newRow("VHDX, past an entry for a bitmap") << QByteArray("far.vhdx") << Format::Vhdx << 4099;
    QTest::newRow("qcow2, another table") << QByteArray("far.qcow2") << Format::Qcow2 << 9;
    QTest::newRow("VMDK, another table") << QByteArray("far.vmdk") << Format::Vmdk << 70;
}

void TstVirtualDisk::readsFarIn()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(int, mebibyte);
    auto opened = openVirtualDisk(format, write(fixture(name)));
    QVERIFY(opened);
    const Offset at = static_cast<Offset>(mebibyte) * kMiB;
    QCOMPARE((*opened)->size(), at + kMiB);
    std::vector<char> end(2 * kMiB, '?');
    QVERIFY((*opened)->readAt(at - kMiB, std::as_writable_bytes(std::span(end))));
    const QByteArray expected =
        QByteArray(kMiB + 300, '\0') + noise("far", 900) + QByteArray(kMiB - 1200, '\0');
    QVERIFY(std::ranges::equal(end, expected));
}

void TstVirtualDisk::readsAPartOfAFile()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    const QByteArray data = fixture(name);
    FileRange place = write(QByteArray(777, 'x') + data + QByteArray(999, 'y'));
    place.range = {.offset = 777, .length = static_cast<Bytes>(data.size())};
    const Outcome outcome = readDisk(format, place);
    QVERIFY(!outcome.error);
    QVERIFY(outcome.data == disk(format));
}

void TstVirtualDisk::noticesTheMissingEnd()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    const QByteArray data = fixture(name);
    const QByteArray whole = disk(format);
    const FileRange uncut = write(data);
    QList<qsizetype> sizes = {data.size() - 1, data.size() - 512, data.size() - 513, 512, 511, 27, 1};
    for (qsizetype i = 1; i < 40; ++i) {
        sizes.append(data.size() * i / 40);
    }
    std::ranges::sort(sizes, std::greater());
    for (const qsizetype size : std::as_const(sizes)) {
        QVERIFY(QFile::resize(nameOf(uncut), size));
        const auto file = ImageFile::open(nameOf(uncut).toStdString());
        QVERIFY(file);
        const Outcome outcome =
            readDisk(format, {.file = *file, .range = {.offset = 0, .length = (*file)->size()}});
        if (!outcome.error) {
            // Some files have more at their end than the disk needs.
            QVERIFY2(outcome.data == whole && size > data.size() / 2, QByteArray::number(size).constData());
            continue;
        }
        QCOMPARE(outcome.error->code, ErrorCode::ImageTruncated);
        QVERIFY(whole.startsWith(outcome.data));
    }
}

void TstVirtualDisk::noticesAChange()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    for (const bool shorter : {true, false}) {
        const FileRange place = write(fixture(name));
        auto opened = openVirtualDisk(format, place);
        QVERIFY(opened);
        VirtualDiskSource source(std::move(*opened), place);
        QFile file(nameOf(place));
        QVERIFY(file.open(QIODevice::ReadWrite));
        QVERIFY(file.resize(shorter ? 1000 : file.size() + 1));
        const Outcome outcome = readAll(source, 65536);
        QVERIFY(outcome.error);
        QCOMPARE(outcome.error->code, ErrorCode::ImageChanged);
    }
}

void TstVirtualDisk::readsDespite_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<Change>("change");
    const auto row = [](const char* tag, const char* name, Format format, const Change& change) {
        QTest::newRow(tag) << QByteArray(name) << format << change;
    };
    using enum Format;
    row("a footer of 511 bytes", "dynamic.vhd", Vhd, chop(1));
    // 1 MiB and three sectors can't be expressed in it; qemu-img itself goes by the creator's name.
    row("another geometry", "dynamic.vhd", Vhd, footer(56, 4, 0x00010101));
    row("a geometry that counts elsewhere", "fixed.vhd", Vhd, footer(28, 4, 0x76706320)); // "vpc "
    row("rubbish where the bitmap says zero", "dynamic.vhd", Vhd, [](QByteArray& data) {
        const auto place = static_cast<qsizetype>(number(data, 1536, 4, Big) * 512);
        data[place + 50] = '\0'; // sectors 400 to 407, which are zero
        data.replace(place + 512 + 400 * 512, 8, "rubbish!");
    });
    row("one bad header", "dynamic.vhdx", Vhdx, flip(128 * 1024 + 20));
    row("the other bad header", "dynamic.vhdx", Vhdx, flip(64 * 1024 + 20));
    row("one bad region table", "dynamic.vhdx", Vhdx, flip(192 * 1024 + 20));
    row("a log without entries", "dynamic.vhdx", Vhdx, headers(48, QByteArray(16, 'g')));
    row("a dirty file", "v3.qcow2", Qcow2, flip(79) + set(72, 8, Big, 1));
    row("an unclean shutdown", "sparse.vmdk", Vmdk, set(72, 1, Little, 1));
    row("padding", "sparse.android", AndroidSparse, [](QByteArray& data) { data.append(70'000, '\0'); });
    row("no checksums", "mixed.dmg", Dmg, set(-512 + 352, 4, Big, 0));
}

void TstVirtualDisk::readsDespite()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(Change, change);
    QByteArray data = fixture(name);
    change(data);
    const Outcome outcome = readDisk(format, write(data));
    QVERIFY2(!outcome.error, outcome.error ? outcome.error->detail.c_str() : "");
    QVERIFY(outcome.data == disk(format));
}

namespace {

void addRefusalColumns()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<Change>("change");
    QTest::addColumn<ErrorCode>("code");
    QTest::addColumn<QByteArray>("detail");
}

// Rows of one format; a detail only where it is part of what people are told.
auto refusals(Format format)
{
    addRefusalColumns();
    return [format](const char* tag, const char* name, const Change& change, ErrorCode code,
                    const QByteArray& detail = {}) {
        QTest::newRow(tag) << QByteArray(name) << format << change << code << detail;
    };
}

} // namespace

void TstVirtualDisk::refuses()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(Change, change);
    QFETCH(ErrorCode, code);
    QFETCH(QByteArray, detail);
    QByteArray data = fixture(name);
    if (change) {
        change(data);
    }
    auto opened = openVirtualDisk(format, write(data));
    QVERIFY(!opened); // all of this is seen before anything is written
    QCOMPARE(opened.error().code, code);
    if (!detail.isEmpty()) {
        QCOMPARE(QByteArray::fromStdString(opened.error().detail), detail);
    }
}

void TstVirtualDisk::refusesVhd_data()
{
    const auto row = refusals(Format::Vhd);
    using enum ErrorCode;
    row("no footer", "fixed.vhd", chop(512), ImageTruncated);
    row("no footer, but its copy", "dynamic.vhd", chop(512), ImageTruncated);
    row("a bad footer", "fixed.vhd", flip(-512 + 24), ImageCorrupt);
    row("a bad header", "dynamic.vhd", flip(512 + 600), ImageCorrupt);
    row("a difference", "dynamic.vhd", footer(60, 4, 4), ImageUnsupported,
        "VHD that is a difference of another");
    row("an unknown type", "dynamic.vhd", footer(60, 4, 9), ImageCorrupt);
    row("an unknown version", "dynamic.vhd", footer(12, 4, 0x00020000), ImageUnsupported);
    row("size 0", "fixed.vhd", footer(48, 8, 0), ImageEmpty);
    row("size 2^63", "dynamic.vhd", footer(48, 8, std::uint64_t{1} << 63U), ImageCorrupt);
    row("size 2^40", "dynamic.vhd", footer(48, 8, std::uint64_t{1} << 40U), ImageCorrupt);
    row("longer than its file", "fixed.vhd", footer(48, 8, 1024 * 1024 + 4 * 512), ImageTruncated);
    row("a header beyond the end", "dynamic.vhd", footer(16, 8, ~std::uint64_t{0}), ImageTruncated);
    row("a table beyond the end", "dynamic.vhd", header(16, 8, std::uint64_t{1} << 62U), ImageTruncated);
    row("a huge table", "dynamic.vhd", header(28, 4, 0xffffffff), ImageTruncated);
    row("an empty table", "dynamic.vhd", header(28, 4, 0), ImageCorrupt);
    row("blocks of 0", "dynamic.vhd", header(32, 4, 0), ImageCorrupt);
    row("blocks of 2^31", "dynamic.vhd", header(32, 4, 0x80000000), ImageCorrupt);
    row("blocks of an odd size", "dynamic.vhd", header(32, 4, 0x200200), ImageCorrupt);
    row("a block beyond the end", "dynamic.vhd", vhdEntry(0, 4000), ImageTruncated);
    row("a block far beyond the end", "dynamic.vhd", vhdEntry(0, 0xfffffffe), ImageTruncated);
    row("a block on the header", "dynamic.vhd", vhdEntry(0, 1), ImageCorrupt);
    const Change small = header(28, 4, 3) + header(32, 4, 512 * 1024);
    row("two blocks in one place", "dynamic.vhd", small + vhdEntry(0, 4) + vhdEntry(1, 4), ImageCorrupt);
    row("two blocks that overlap", "dynamic.vhd", small + vhdEntry(0, 4) + vhdEntry(1, 1000), ImageCorrupt);
}

void TstVirtualDisk::refusesVhdx_data()
{
    const auto row = refusals(Format::Vhdx);
    using enum ErrorCode;
    constexpr std::uint64_t kPresent = 6;
    const auto at = [](std::uint64_t mebibyte) { return mebibyte << 20U | kPresent; };
    row("bad headers", "fixed.vhdx", flip(64 * 1024 + 9) + flip(128 * 1024 + 9), ImageCorrupt);
    row("bad region tables", "fixed.vhdx", flip(192 * 1024 + 9) + flip(256 * 1024 + 9), ImageCorrupt);
    row("an unknown version", "fixed.vhdx", headers(66, "\2"), ImageUnsupported);
    row(
        "changes in the log", "fixed.vhdx",
        headers(48, QByteArray(16, 'g')) +
            [](QByteArray& data) {
                const auto log = static_cast<qsizetype>(number(data, 64 * 1024 + 72, 8, Little));
                data.replace(log + 8192, 4, "loge").replace(log + 8192 + 32, 16, QByteArray(16, 'g'));
            },
        ImageUnsupported, "VHDX with unfinished changes in its log");
    row("a log beyond the end", "fixed.vhdx", headers(72, QByteArray("\0\0\0\0\0\0\0\x40", 8)),
        ImageTruncated);
    row("a difference", "fixed.vhdx", item(kParameters, 4, 4, 2), ImageUnsupported,
        "VHDX that is a difference of another");
    row("no tables", "fixed.vhdx", regions(8, 4, 0), ImageCorrupt);
    row("too many regions", "fixed.vhdx", regions(8, 4, 0xffffffff), ImageCorrupt);
    row("an unknown region", "fixed.vhdx", regions(16, 8, 1) + regions(44, 4, 1), ImageUnsupported);
    row("a region at 2^63", "fixed.vhdx", regions(32, 8, std::uint64_t{1} << 63U), ImageTruncated);
    row("blocks of 0", "fixed.vhdx", item(kParameters, 0, 4, 0), ImageCorrupt);
    row("blocks of 512 MiB", "fixed.vhdx", item(kParameters, 0, 4, 0x20000000), ImageCorrupt);
    row("size 0", "fixed.vhdx", item(kSize, 0, 8, 0), ImageEmpty);
    row("size 2^63", "fixed.vhdx", item(kSize, 0, 8, std::uint64_t{1} << 63U), ImageCorrupt);
    row("size 2^49", "fixed.vhdx", item(kSize, 0, 8, std::uint64_t{1} << 49U), ImageCorrupt);
    row("a block beyond the end", "fixed.vhdx", vhdxEntry(0, at(4000)), ImageTruncated);
    row("a block far beyond the end", "fixed.vhdx", vhdxEntry(0, ~std::uint64_t{0} << 20U | kPresent),
        ImageTruncated);
    row("a block on the header", "fixed.vhdx", vhdxEntry(0, at(0)), ImageCorrupt);
    row("a block on the log", "fixed.vhdx", vhdxEntry(0, at(1)), ImageCorrupt);
    row(
        "two blocks in one place", "fixed.vhdx",
        [=](QByteArray& data) {
            const qsizetype table = region(data, kTableId);
            put(data, table + 8, 8, Little, number(data, table, 8, Little));
        },
        ImageCorrupt);
    row("a block of two disks", "fixed.vhdx", vhdxEntry(1, at(5) | 7U), ImageCorrupt);
    row("an impossible state", "fixed.vhdx", vhdxEntry(1, at(5) & ~std::uint64_t{2}), ImageCorrupt);
}

void TstVirtualDisk::refusesQcow2_data()
{
    const auto row = refusals(Format::Qcow2);
    using enum ErrorCode;
    row("a backing file", "backing.qcow2", {}, ImageUnsupported, "qcow2 with a backing file");
    row("another file's data", "external.qcow2", {}, ImageUnsupported,
        "qcow2 whose data lie in another file");
    row("subclusters", "subclusters.qcow2", {}, ImageUnsupported, "qcow2 with subclusters");
    row("encrypted with LUKS", "encrypted.qcow2", {}, ImageEncrypted);
    row("encrypted with AES", "v2.qcow2", set(32, 4, Big, 1), ImageEncrypted);
    row("unknown features", "v3.qcow2", set(72, 8, Big, 0x20), ImageUnsupported);
    row("marked as damaged", "v3.qcow2", set(72, 8, Big, 2), ImageCorrupt);
    row("version 1", "v2.qcow2", set(4, 4, Big, 1), ImageUnsupported);
    row("version 4", "v2.qcow2", set(4, 4, Big, 4), ImageUnsupported);
    row("tiny clusters", "v2.qcow2", set(20, 4, Big, 8), ImageCorrupt);
    row("huge clusters", "v2.qcow2", set(20, 4, Big, 0xffffffff), ImageCorrupt);
    row("size 0", "v2.qcow2", set(24, 8, Big, 0), ImageEmpty);
    row("size 2^63", "v2.qcow2", set(24, 8, Big, std::uint64_t{1} << 63U), ImageCorrupt);
    row("size 2^49", "v2.qcow2", set(24, 8, Big, std::uint64_t{1} << 49U), ImageCorrupt);
    row("no first table", "v2.qcow2", set(36, 4, Big, 0), ImageCorrupt);
    row("a huge first table", "v2.qcow2", set(36, 4, Big, 0xffffffff), ImageCorrupt);
    row("a first table of 32 MiB", "v2.qcow2", set(36, 4, Big, 4 << 20), ImageTruncated);
    row("a first table beyond the end", "v2.qcow2", set(40, 8, Big, std::uint64_t{1} << 62U), ImageTruncated);
    row("a first table at an odd place", "v2.qcow2", set(40, 8, Big, 0x3100), ImageCorrupt);
    row("a short header", "v3.qcow2", set(100, 4, Big, 72), ImageCorrupt);
    row("an unknown packing", "zstd.qcow2", set(104, 1, Big, 2), ImageUnsupported);
    row("a packing without its mark", "zstd.qcow2", set(72, 8, Big, 0), ImageCorrupt);
    row("a table beyond the end", "v2.qcow2", first(0, to(0x7ffffffff000)), ImageTruncated);
    row(
        "a table on the header's clusters", "v2.qcow2",
        [](QByteArray& data) {
            const auto at = number(data, 40, 8, Big);
            put(data, static_cast<qsizetype>(at), 8, Big, at);
        },
        ImageCorrupt);
    row("a table at an odd place", "v2.qcow2", first(0, with(0x200)), ImageCorrupt);
    row(
        "one table twice", "small.qcow2",
        [](QByteArray& data) {
            const auto at = static_cast<qsizetype>(number(data, 40, 8, Big));
            put(data, at + 8, 8, Big, number(data, at, 8, Big));
        },
        ImageCorrupt);
    row("a first entry with unknown bits", "v2.qcow2", first(0, with(1)), ImageCorrupt);
    row("a second entry with unknown bits", "v3.qcow2", second(0, with(std::uint64_t{1} << 57U)),
        ImageCorrupt);
    row("a zero cluster in version 2", "v2.qcow2", second(3, to(1)), ImageCorrupt);
    row("a cluster beyond the end", "v3.qcow2", second(0, to(0x7ffffffff000)), ImageTruncated);
    row(
        "a cluster on the first table", "v3.qcow2",
        [](QByteArray& data) { second(0, to(number(data, 40, 8, Big)))(data); }, ImageCorrupt);
    row(
        "a cluster on the reference counts", "v3.qcow2",
        [](QByteArray& data) { second(0, to(number(data, 48, 8, Big)))(data); }, ImageCorrupt);
    row(
        "a cluster on its own table", "v3.qcow2",
        [](QByteArray& data) {
            const auto at = static_cast<qsizetype>(number(data, 40, 8, Big));
            second(0, to(number(data, at, 8, Big)))(data);
        },
        ImageCorrupt);
    row("a cluster at an odd place", "v3.qcow2", second(0, with(0x200)), ImageCorrupt);
    row(
        "two clusters in one place", "v3.qcow2",
        [](QByteArray& data) {
            std::uint64_t place = 0;
            second(0, [&](std::uint64_t old) { return place = old; })(data);
            second(1, to(place))(data);
        },
        ImageCorrupt);
    constexpr std::uint64_t kPacked = std::uint64_t{1} << 62U;
    row("a packed cluster beyond the end", "deflate.qcow2", second(0, to(kPacked | 0x7ffffff000)),
        ImageTruncated);
    row("a packed cluster on the header", "deflate.qcow2", second(0, to(kPacked | 0x100)), ImageCorrupt);
}

void TstVirtualDisk::refusesVmdk_data()
{
    const auto row = refusals(Format::Vmdk);
    using enum ErrorCode;
    for (const auto* name : {"monolithicFlat.vmdk", "twoGbMaxExtentSparse.vmdk", "extent.vmdk"}) {
        row(name, name, {}, ImageUnsupported, "VMDK in several files");
    }
    row("from ESX", "sparse.vmdk", replace("KDMV", "COWD"), ImageUnsupported, "VMDK of VMware ESX");
    row("no mark", "sparse.vmdk", flip(0), ImageCorrupt);
    row("a difference", "sparse.vmdk", replace("parentCID=ffffffff", "parentCID=01234567"), ImageUnsupported,
        "VMDK that is a difference of another");
    row("of another kind", "sparse.vmdk", replace("monolithicSparse", "vmfsThinProvided"), ImageUnsupported);
    row("encrypted", "sparse.vmdk", replace("ddb.adapterType", "encryption.data"), ImageEncrypted);
    row("transferred as text", "sparse.vmdk", set(75, 1, Little, '\n'), ImageCorrupt);
    row("an unknown version", "sparse.vmdk", set(4, 4, Little, 9), ImageUnsupported);
    row("an unknown packing", "stream.vmdk", set(77, 2, Little, 2), ImageUnsupported);
    row("no footer", "footer.vmdk", chop(1024), ImageTruncated);
    row("a footer of another disk", "footer.vmdk", set(-1024 + 12, 8, Little, 4), ImageCorrupt);
    row("size 0", "sparse.vmdk", set(12, 8, Little, 0), ImageEmpty);
    row("size 2^63", "sparse.vmdk", set(12, 8, Little, std::uint64_t{1} << 54U), ImageCorrupt);
    row("size 2^64", "sparse.vmdk", set(12, 8, Little, std::uint64_t{1} << 55U), ImageCorrupt);
    row("size 2^49", "sparse.vmdk", set(12, 8, Little, std::uint64_t{1} << 40U), ImageTruncated);
    row("grains of 0", "sparse.vmdk", set(20, 8, Little, 0), ImageCorrupt);
    row("grains of 2^63", "sparse.vmdk", set(20, 8, Little, std::uint64_t{1} << 54U), ImageCorrupt);
    row("tables of 0", "sparse.vmdk", set(44, 4, Little, 0), ImageCorrupt);
    row("tables of 2^32", "sparse.vmdk", set(44, 4, Little, 0xffffffff), ImageCorrupt);
    row("no directory", "sparse.vmdk", set(56, 8, Little, 0), ImageCorrupt);
    row("a directory beyond the end", "sparse.vmdk", set(56, 8, Little, std::uint64_t{1} << 60U),
        ImageTruncated);
    row("a huge descriptor", "sparse.vmdk", set(36, 8, Little, std::uint64_t{1} << 60U), ImageCorrupt);
    row("a descriptor beyond the end", "sparse.vmdk", set(28, 8, Little, ~std::uint64_t{0}), ImageTruncated);
    row(
        "a table beyond the end", "sparse.vmdk",
        [](QByteArray& data) {
            put(data, static_cast<qsizetype>(number(data, 56, 8, Little) * 512), 4, Little, 0xfffffff0);
        },
        ImageTruncated);
    row("a grain beyond the end", "sparse.vmdk", grain(0, 0x7fffffff), ImageTruncated);
    row("a packed grain beyond the end", "stream.vmdk", grain(0, 0x7fffffff), ImageTruncated);
    row("a grain on the descriptor", "sparse.vmdk", grain(0, 1), ImageCorrupt);
    row(
        "two grains in one place", "sparse.vmdk",
        [](QByteArray& data) { grain(1, number(data, grains(data), 4, Little))(data); }, ImageCorrupt);
    row(
        "a last grain cut off", "footer.vmdk",
        [](QByteArray& data) {
            const auto last = number(data, grains(data) + 16 * 4, 4, Little) * 512;
            put(data, static_cast<qsizetype>(last) + 8, 4, Little, 65536);
        },
        ImageTruncated);
}

void TstVirtualDisk::refusesAndroidSparse_data()
{
    const auto row = refusals(Format::AndroidSparse);
    using enum ErrorCode;
    row("no mark", "sparse.android", flip(0), ImageCorrupt);
    row("an unknown version", "sparse.android", set(4, 2, Little, 2), ImageUnsupported);
    row("blocks of 0", "sparse.android", set(12, 4, Little, 0), ImageCorrupt);
    row("blocks of 3", "sparse.android", set(12, 4, Little, 3), ImageCorrupt);
    row("blocks of 2^31", "sparse.android", set(12, 4, Little, 0x80000000), ImageCorrupt);
    row("size 0", "sparse.android", set(16, 4, Little, 0), ImageEmpty);
    row("size 2^58", "sparse.android", set(12, 8, Little, 0xffffffff04000000), ImageCorrupt);
    row("a longer disk", "sparse.android", set(16, 4, Little, 4000), ImageCorrupt);
    row("a shorter disk", "sparse.android", set(16, 4, Little, 40), ImageCorrupt);
    row("more parts", "sparse.android", set(20, 4, Little, 0xffffffff), ImageTruncated);
    row(
        "a part more", "checksum.android",
        [](QByteArray& data) { put(data, 20, 4, Little, number(data, 20, 4, Little) + 1); }, ImageTruncated);
    row(
        "a part less", "checksum.android",
        [](QByteArray& data) { put(data, 20, 4, Little, number(data, 20, 4, Little) - 1); }, ImageCorrupt);
    row("an unknown part", "sparse.android", set(28, 2, Little, 0xcac9), ImageUnsupported);
    row("a part without a header", "sparse.android", set(36, 4, Little, 5), ImageCorrupt);
    row("a part of another length", "sparse.android", set(36, 4, Little, 4096), ImageCorrupt);
    row("a part beyond the end", "sparse.android", set(36, 4, Little, 0xfffffff0), ImageTruncated);
    row("a part beyond the disk", "sparse.android", set(32, 4, Little, 0xffffffff), ImageCorrupt);
    row("more data", "sparse.android", [](QByteArray& data) { data.append("more"); }, ImageCorrupt);
}

void TstVirtualDisk::refusesDmg_data()
{
    const auto row = refusals(Format::Dmg);
    using enum ErrorCode;
    constexpr qsizetype kTrailer = -512;
    row("encrypted", "zlib.dmg", [](QByteArray& data) { data.replace(0, 8, "encrcdsa"); }, ImageEncrypted);
    row("encrypted of old", "zlib.dmg", [](QByteArray& data) { data.append("cdsaencr"); }, ImageEncrypted);
    row("ADC", "adc.dmg", {}, ImageUnsupported, "DMG packed with ADC");
    row("LZFSE", "lzfse.dmg", {}, ImageUnsupported, "DMG packed with LZFSE");
    row("no trailer", "zlib.dmg", chop(512), ImageTruncated);
    row("an unknown version", "zlib.dmg", set(kTrailer + 4, 4, Big, 5), ImageUnsupported);
    row("several files", "zlib.dmg", set(kTrailer + 60, 4, Big, 2), ImageUnsupported, "DMG in several files");
    row("no property list", "zlib.dmg", set(kTrailer + 224, 8, Big, 0), ImageUnsupported);
    row("a property list beyond the end", "zlib.dmg", set(kTrailer + 216, 8, Big, ~std::uint64_t{0}),
        ImageTruncated);
    row("a huge property list", "zlib.dmg", set(kTrailer + 224, 8, Big, std::uint64_t{1} << 62U),
        ImageTruncated);
    row("size 0", "zlib.dmg", set(kTrailer + 492, 8, Big, 0), ImageEmpty);
    row("size 2^63", "zlib.dmg", set(kTrailer + 492, 8, Big, std::uint64_t{1} << 54U), ImageCorrupt);
    row("size 2^64", "zlib.dmg", set(kTrailer + 492, 8, Big, std::uint64_t{1} << 55U), ImageCorrupt);
    row("a longer disk", "zlib.dmg", set(kTrailer + 492, 8, Big, 9999), ImageCorrupt);
    row("a shorter disk", "zlib.dmg", set(kTrailer + 492, 8, Big, 9), ImageCorrupt);
    row("a bad checksum of the tables", "zlib.dmg", flip(kTrailer + 360), ImageCorrupt);
    row("data beyond the end", "zlib.dmg", set(kTrailer + 24, 8, Big, std::uint64_t{1} << 63U),
        ImageTruncated);
    row("no tables", "zlib.dmg", replace("<key>blkx</key>", "<key>blky</key>"), ImageCorrupt);
    row("tables in no base64", "zlib.dmg", replace("<data>\n\tbWlz", "<data>\n\tbW:z"), ImageCorrupt);
    row("a table without its mark", "zlib.dmg", replace("<data>\n\tbWlz", "<data>\n\tcWlz"), ImageCorrupt);
    row(
        "one table only", "zlib.dmg",
        [](QByteArray& data) {
            const qsizetype last = data.lastIndexOf("<key>Data</key>");
            data.replace(last, 15, "<key>Else</key>");
        },
        ImageCorrupt);
}

void TstVirtualDisk::saysWhereDataAreDamaged_data()
{
    QTest::addColumn<QByteArray>("name");
    QTest::addColumn<Format>("format");
    QTest::addColumn<Change>("change");
    QTest::addColumn<Offset>("offset");
    const auto row = [](const char* tag, const char* name, Format format, const Change& change, Offset at) {
        QTest::newRow(tag) << QByteArray(name) << format << change << at;
    };
    using enum Format;
    constexpr Offset kGrain = 65536;
    const auto inside = [](const QByteArray& mark, qsizetype at) {
        return [=](QByteArray& data) { flip(data.indexOf(mark) + at)(data); };
    };
    row("a grain", "stream.vmdk", Vmdk, inGrain(12, 40), 12 * kGrain);
    row(
        "a grain's checksum", "footer.vmdk", Vmdk,
        [](QByteArray& data) {
            const auto at = static_cast<qsizetype>(number(data, grains(data), 4, Little) * 512);
            flip(at + 12 + static_cast<qsizetype>(number(data, at + 8, 4, Little)) - 1)(data);
        },
        0);
    row(
        "another grain's data", "footer.vmdk", Vmdk,
        [](QByteArray& data) {
            const qsizetype at = grains(data);
            const auto one = number(data, at, 4, Little);
            put(data, at, 4, Little, number(data, at + 12 * 4, 4, Little));
            put(data, at + 12 * 4, 4, Little, one);
        },
        0);
    row("a grain's length", "stream.vmdk", Vmdk, inGrain(12, 11), 12 * kGrain);
    row("a zstd cluster", "zstd.qcow2", Qcow2, inside(QByteArray::fromHex("28b52ffd"), 0), 0);
    row("a deflate cluster", "deflate.qcow2", Qcow2, second(1, [](std::uint64_t old) { return old + 1; }),
        kGrain);
    row("the whole", "checksum.android", AndroidSparse, inside(noise("inside", 600), 5), 0);
    row("the checksum itself", "checksum.android", AndroidSparse, flip(-1), 0);
    constexpr Offset kSecond = 1000 * 512;
    row("a raw part", "mixed.dmg", Dmg, inside(noise("inside", 600), 5), kSecond);
    row("a zlib part", "zlib.dmg", Dmg, flip(100), 0);
    row("a bzip2 part", "mixed.dmg", Dmg, flip(100), 0);
}

void TstVirtualDisk::saysWhereDataAreDamaged()
{
    QFETCH(QByteArray, name);
    QFETCH(Format, format);
    QFETCH(Change, change);
    QFETCH(Offset, offset);
    QByteArray data = fixture(name);
    change(data);
    const Outcome outcome = readDisk(format, write(data));
    QVERIFY(outcome.error);
    QCOMPARE(outcome.error->code, ErrorCode::ImageCorrupt);
    QCOMPARE(outcome.error->offset, std::optional(offset));
}

QTEST_GUILESS_MAIN(TstVirtualDisk)
#include "tst_virtualdisk.moc"
