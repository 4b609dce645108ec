// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "platform/driveclassifier.h"

#include <QTest>

using namespace burin;

namespace {

constexpr Bytes kSize = 32'000'000'000;
constexpr auto kUsbPath =
    "/sys/devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/host6/target6:0:0/6:0:0:0/block/sdb";
constexpr auto kSataPath = "/sys/devices/pci0000:00/0000:00:17.0/ata1/host0/target0:0:0/0:0:0:0/block/sda";

DriveAttributes stick()
{
    return {.name = "sdb",
            .sysPath = kUsbPath,
            .devno = 0x810,
            .diskseq = 7,
            .size = kSize,
            .logicalBlock = 512,
            .hasDevice = true,
            .hasBacking = false,
            .removable = true,
            .readOnly = false,
            .rotational = true,
            .portRemovable = false,
            .vendor = "SanDisk ",
            .model = "Ultra Fit       ",
            .serial = {},
            .mmcType = {},
            .usbSpeed = "480",
            .usbVersion = " 2.10",
            .usbSerial = "4C530001",
            .usbSuperSpeed = false,
            .properties = {}};
}

DriveAttributes named(const std::string& name, const std::string& sysPath)
{
    auto a = stick();
    a.name = name;
    a.sysPath = sysPath;
    a.removable = false;
    a.usbSerial.clear();
    return a;
}

} // namespace

Q_DECLARE_METATYPE(DriveAttributes)
Q_DECLARE_METATYPE(Bus)

class TestDriveClassifier : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void neverLists_data();
    void neverLists();
    void knowsBusAndPlace_data();
    void knowsBusAndPlace();
    void knowsWhatRotates_data();
    void knowsWhatRotates();
    void describesAStick();
    void tellsWhatADeviceCouldDo_data();
    void tellsWhatADeviceCouldDo();
    void knowsCardReaders_data();
    void knowsCardReaders();
    void cleansNames_data();
    void cleansNames();
    void readsTheBosDescriptor();
};

void TestDriveClassifier::neverLists_data()
{
    QTest::addColumn<QString>("name");
    for (const auto* name :
         {"ram0", "zram0", "dm-0", "md0", "md127", "sr0", "fd0", "zd16", "mtdblock0", "bcache0",
          "mmcblk0boot0", "mmcblk0boot1", "mmcblk0rpmb", "mmcblk0gp0", "loop0", "nbd0", "drbd0"}) {
        QTest::newRow(name) << QString::fromLatin1(name);
    }
}

void TestDriveClassifier::neverLists()
{
    QFETCH(QString, name);
    QVERIFY(!classifyDrive(named(name.toStdString(), "/sys/devices/virtual/block/x")));
}

void TestDriveClassifier::knowsBusAndPlace_data()
{
    QTest::addColumn<DriveAttributes>("attributes");
    QTest::addColumn<Bus>("bus");
    QTest::addColumn<bool>("external");

    QTest::newRow("usb stick") << stick() << Bus::Usb << true;
    QTest::newRow("usb-sata bridge, removable=0") << named("sdb", kUsbPath) << Bus::Usb << true;
    QTest::newRow("sata") << named("sda", kSataPath) << Bus::Sata << false;
    QTest::newRow("nvme in a hot-plug slot")
        << named("nvme0n1", "/sys/devices/pci0000:00/0000:00:1d.0/0000:03:00.0/nvme/nvme0/nvme0n1")
        << Bus::Nvme << false;
    auto thunderbolt =
        named("nvme1n1", "/sys/devices/pci0000:00/0000:00:07.0/0000:2b:00.0/nvme/nvme1/nvme1n1");
    thunderbolt.portRemovable = true;
    QTest::newRow("nvme behind thunderbolt") << thunderbolt << Bus::Nvme << true;
    auto sd = named("mmcblk0", "/sys/devices/pci0000:00/0000:00:05.0/mmc_host/mmc0/mmc0:4567/block/mmcblk0");
    sd.mmcType = "SD";
    QTest::newRow("SD in a slot, removable=0") << sd << Bus::Mmc << true;
    auto emmc = sd;
    emmc.mmcType = "MMC";
    QTest::newRow("eMMC") << emmc << Bus::Mmc << false;
    QTest::newRow("virtio") << named("vda", "/sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda")
                            << Bus::Virtio << false;
    QTest::newRow("virtio-scsi") << named(
        "sdc", "/sys/devices/pci0000:00/0000:00:04.0/virtio1/host2/target2:0:0/2:0:0:0/block/sdc")
                                 << Bus::Virtio << false;
    QTest::newRow("sas") << named(
        "sdd",
        "/sys/devices/pci0000:00/0000:00:04.0/host2/port-2:0/end_device-2:0/target2:0:0/2:0:0:0/block/sdd")
                         << Bus::Scsi << false;
    QTest::newRow("firewire") << named(
        "sde", "/sys/devices/pci0000:00/0000:06:00.0/fw1/fw1.0/host9/target9:0:0/9:0:0:0/block/sde")
                              << Bus::FireWire << true;
    auto loop = named("loop0", "/sys/devices/virtual/block/loop0");
    loop.hasDevice = false;
    loop.hasBacking = true;
    QTest::newRow("loop") << loop << Bus::Loop << true;
}

void TestDriveClassifier::knowsBusAndPlace()
{
    QFETCH(DriveAttributes, attributes);
    const auto drive = classifyDrive(attributes);
    QVERIFY(drive);
    QTEST(drive->bus, "bus");
    QTEST(drive->external, "external");
}

void TestDriveClassifier::knowsWhatRotates_data()
{
    QTest::addColumn<DriveAttributes>("attributes");
    QTest::addColumn<bool>("rotates");

    QTest::newRow("a stick, of which the kernel knows nothing better") << stick() << false;
    auto disk = named("sdb", kUsbPath);
    QTest::newRow("a fixed medium on USB that tells nothing") << disk << true;
    disk.properties["ID_ATA_ROTATION_RATE_RPM"] = "5400";
    QTest::newRow("a disk on USB") << disk << true;
    disk.properties["ID_ATA_ROTATION_RATE_RPM"] = "0";
    QTest::newRow("an SSD on USB behind a bridge that hides it") << disk << false;
    auto ssd = named("sda", kSataPath);
    ssd.rotational = false;
    QTest::newRow("an SSD") << ssd << false;
    QTest::newRow("virtio") << named("vda", "/sys/devices/pci0000:00/0000:00:04.0/virtio1/block/vda")
                            << false;
}

void TestDriveClassifier::knowsWhatRotates()
{
    QFETCH(DriveAttributes, attributes);
    QTEST(classifyDrive(attributes).value().rotational, "rotates");
}

void TestDriveClassifier::describesAStick()
{
    const auto drive = classifyDrive(stick());
    QVERIFY(drive);
    QCOMPARE(drive->path, std::string("/dev/sdb"));
    QCOMPARE(driveName(*drive), std::string("SanDisk Ultra Fit"));
    QCOMPARE(drive->serial, std::string("4C530001"));
    QCOMPARE(drive->size, kSize);
    QVERIFY(drive->hasMedium());
    QVERIFY(!drive->cardReader);
    auto ata = named("sda", kSataPath);
    ata.vendor = "ATA     ";
    ata.properties["ID_SERIAL_SHORT"] = "WD-1";
    QCOMPARE(classifyDrive(ata)->vendor, std::string());
    QCOMPARE(classifyDrive(ata)->serial, std::string("WD-1"));
}

void TestDriveClassifier::tellsWhatADeviceCouldDo_data()
{
    QTest::addColumn<QByteArray>("speed");
    QTest::addColumn<QByteArray>("version");
    QTest::addColumn<unsigned>("link");
    QTest::addColumn<unsigned>("ability");
    QTest::newRow("USB 2 stick") << QByteArray("480") << QByteArray(" 2.00") << 480U << 480U;
    QTest::newRow("USB 3 stick on a USB 2 port") << QByteArray("480") << QByteArray(" 2.10") << 480U << 5000U;
    QTest::newRow("USB 3 stick") << QByteArray("5000") << QByteArray(" 3.00") << 5000U << 5000U;
    QTest::newRow("10 Gbit/s") << QByteArray("10000") << QByteArray(" 3.20") << 10000U << 10000U;
    QTest::newRow("USB 1") << QByteArray("12") << QByteArray(" 1.10") << 12U << 12U;
    QTest::newRow("unknown") << QByteArray("") << QByteArray("") << 0U << 0U;
}

void TestDriveClassifier::tellsWhatADeviceCouldDo()
{
    QFETCH(QByteArray, speed);
    QFETCH(QByteArray, version);
    auto a = stick();
    a.usbSpeed = speed.toStdString();
    a.usbVersion = version.toStdString();
    QTEST(classifyDrive(a)->linkMbps, "link");
    QTEST(classifyDrive(a)->deviceMbps, "ability");
}

void TestDriveClassifier::knowsCardReaders_data()
{
    QTest::addColumn<DriveAttributes>("attributes");
    QTest::addColumn<bool>("reader");
    QTest::newRow("stick") << stick() << false;
    auto byName = stick();
    byName.vendor = "Generic-";
    byName.model = "SD/MMC";
    QTest::newRow("by its name") << byName << true;
    auto empty = stick();
    empty.size = 0;
    QTest::newRow("removable and empty") << empty << true;
    auto flash = stick();
    flash.properties["ID_DRIVE_FLASH_SD"] = "1";
    QTest::newRow("udev says so") << flash << true;
    QTest::newRow("usb disk") << named("sdb", kUsbPath) << false;
    auto sd = named("mmcblk0", "/x");
    sd.mmcType = "SD";
    QTest::newRow("SD slot") << sd << true;
}

void TestDriveClassifier::knowsCardReaders()
{
    QFETCH(DriveAttributes, attributes);
    QTEST(classifyDrive(attributes)->cardReader, "reader");
}

void TestDriveClassifier::cleansNames_data()
{
    QTest::addColumn<QByteArray>("raw");
    QTest::addColumn<QByteArray>("clean");
    QTest::newRow("plain") << QByteArray("Ultra Fit       ") << QByteArray("Ultra Fit");
    QTest::newRow("controls") << QByteArray("A\x1b[31mB\x07\x7f\n") << QByteArray("A[31mB");
    QTest::newRow("bidi override") << QByteArray("\u202Egnp.exe\u2066x\u200F") << QByteArray("gnp.exex");
    QTest::newRow("zero width") << QByteArray("Kin\u200Bgston\uFEFF") << QByteArray("Kingston");
    QTest::newRow("broken UTF-8") << QByteArray("A\xff\xfe"
                                                "B")
                                  << QByteArray("AB");
    QTest::newRow("Chinese stays") << QByteArray("\u91D1\u58EB\u987F") << QByteArray("\u91D1\u58EB\u987F");
    QTest::newRow("only blanks") << QByteArray("   ") << QByteArray("");
}

void TestDriveClassifier::cleansNames()
{
    QFETCH(QByteArray, raw);
    QFETCH(QByteArray, clean);
    QCOMPARE(QByteArray::fromStdString(cleanedName(raw.toStdString())), clean);
}

void TestDriveClassifier::readsTheBosDescriptor()
{
    using namespace std::string_view_literals;
    QVERIFY(hasSuperSpeedCapability(
        "\x05\x0f\x16\x00\x02\x07\x10\x02\x06\x00\x00\x00\x0a\x10\x03\x00\x0e\x00\x01\x0a\xff\x07"sv));
    QVERIFY(!hasSuperSpeedCapability("\x05\x0f\x0c\x00\x01\x07\x10\x02\x06\x00\x00\x00"sv));
    QVERIFY(!hasSuperSpeedCapability("\x00\x00\x00"sv));
    QVERIFY(!hasSuperSpeedCapability(""sv));
}

QTEST_APPLESS_MAIN(TestDriveClassifier)
#include "tst_driveclassifier.moc"
