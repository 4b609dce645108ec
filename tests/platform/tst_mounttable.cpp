// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform/mounttable.h"

#include <QTest>

#include <sys/sysmacros.h>

using namespace burin;

class TestMountTable : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void readsEveryField();
    void decodesOctalEscapes();
    void countsLinesThatItCannotRead_data();
    void countsLinesThatItCannotRead();
    void readsALineWithoutSource();
    void findsTheMountThatHoldsAPath();
    void knowsTheRemovableFolders_data();
    void knowsTheRemovableFolders();
};

void TestMountTable::readsEveryField()
{
    const auto table = parseMountInfo(
        "36 35 98:3 /sub /mnt2 rw,noatime shared:7 master:1 - ext3 /dev/root rw,errors=continue\n");
    QCOMPARE(table.entries.size(), std::size_t{1});
    const MountEntry expected{.devno = makedev(98, 3),
                              .root = "/sub",
                              .mountPoint = "/mnt2",
                              .options = "rw,noatime",
                              .fileSystem = "ext3",
                              .source = "/dev/root",
                              .superOptions = "rw,errors=continue",
                              .id = 36};
    QVERIFY(table.entries.front() == expected);
}

void TestMountTable::decodesOctalEscapes()
{
    const auto table = parseMountInfo(
        R"(1 2 8:17 / /media/x/MY\040STICK\134\011\012\043 rw - vfat /dev/disk/by-label/A\040B rw)");
    QCOMPARE(table.entries.front().mountPoint, std::string("/media/x/MY STICK\\\t\n#"));
    QCOMPARE(table.entries.front().source, std::string("/dev/disk/by-label/A B"));
    QCOMPARE(decodeOctal("a\\04"), std::string("a\\04"));
    QCOMPARE(decodeOctal("a\\999"), std::string("a\\999"));
}

void TestMountTable::countsLinesThatItCannotRead_data()
{
    QTest::addColumn<QByteArray>("line");
    QTest::newRow("words") << QByteArray("nonsense");
    QTest::newRow("no dash") << QByteArray("36 35 98:0 / /mnt rw ext3 /dev/root rw");
    QTest::newRow("no type") << QByteArray("36 35 98:0 / /mnt rw -");
    QTest::newRow("no id") << QByteArray("x 35 98:0 / /mnt rw - ext3 /dev/root rw");
    QTest::newRow("bad number") << QByteArray("36 35 98 / /mnt rw - ext3 /dev/root rw");
    QTest::newRow("bad minor") << QByteArray("36 35 98:x / /mnt rw - ext3 /dev/root rw");
}

void TestMountTable::countsLinesThatItCannotRead()
{
    QFETCH(QByteArray, line);
    const auto table = parseMountInfo(line.toStdString());
    QVERIFY(table.entries.empty());
    QCOMPARE(table.unreadable, 1U);
}

void TestMountTable::readsALineWithoutSource()
{
    const auto table = parseMountInfo("36 35 0:40 / /x rw - tmpfs  rw,size=4k");
    QCOMPARE(table.entries.size(), std::size_t{1});
    QCOMPARE(table.entries.front().source, std::string());
    QCOMPARE(table.entries.front().superOptions, std::string("rw,size=4k"));
}

void TestMountTable::findsTheMountThatHoldsAPath()
{
    const auto table = parseMountInfo("1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
                                      "2 1 8:2 / /home rw - ext4 /dev/sda2 rw\n"
                                      "3 1 8:3 / /home rw - ext4 /dev/sda3 rw\n");
    QCOMPARE(mountsHolding(table, "/etc/x").size(), std::size_t{1});
    QCOMPARE(mountsHolding(table, "/homes/x").front()->mountPoint, std::string("/"));
    QCOMPARE(mountsHolding(table, "/home/x").size(), std::size_t{2});
    QVERIFY(mountsHolding(parseMountInfo("2 1 8:2 / /home rw - ext4 /dev/sda2 rw"), "/etc").empty());
}

void TestMountTable::knowsTheRemovableFolders_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<bool>("removable");
    QTest::newRow("media") << QByteArray("/media/me/STICK") << true;
    QTest::newRow("run media") << QByteArray("/run/media/me/STICK") << true;
    QTest::newRow("mnt itself") << QByteArray("/mnt") << true;
    QTest::newRow("mnt below") << QByteArray("/mnt/x") << true;
    QTest::newRow("mntx") << QByteArray("/mntx") << false;
    QTest::newRow("mediathek") << QByteArray("/mediathek") << false;
    QTest::newRow("root") << QByteArray("/") << false;
    QTest::newRow("home") << QByteArray("/home/media") << false;
    QTest::newRow("live") << QByteArray("/run/live/medium") << false;
}

void TestMountTable::knowsTheRemovableFolders()
{
    QFETCH(QByteArray, path);
    QTEST(isRemovableFolder(path.toStdString()), "removable");
}

QTEST_APPLESS_MAIN(TestMountTable)
#include "tst_mounttable.moc"
