// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
//
// Runs under umockdev-wrapper, which shows it a /sys and a /dev of its own.
#include "loopdevice.h"
#include "platform/drivewatcher.h"

#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

#undef signals
#include <umockdev.h>

using namespace burin;

class TestDriveWatcher : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void cleanup();
    void listsWhatIsThere();
    void noticesAStick();
    void noticesThatAStickWent();
    void noticesACard();
    void coalescesABurst();
    void saysNothingWhenNothingChanged();
    void keepsTheOthersWhenOneIsSick();

private:
    std::string addStick(const char* name, const char* number, const char* diskseq);
    void addDisk();
    [[nodiscard]] static std::vector<std::string> nodes(const DriveWatcher& watcher);

    struct Unref {
        void operator()(UMockdevTestbed* bed) const { g_object_unref(bed); }
    };
    std::unique_ptr<UMockdevTestbed, Unref> m_bed;
};

void TestDriveWatcher::init()
{
    m_bed.reset(umockdev_testbed_new());
    addDisk();
}

void TestDriveWatcher::cleanup()
{
    m_bed.reset();
}

void TestDriveWatcher::addDisk()
{
    umockdev_testbed_add_device(m_bed.get(), "block", "sda", nullptr, "dev", "8:0", "size", "1000000000",
                                "removable", "0", "ro", "0", "diskseq", "1", nullptr, "DEVNAME", "/dev/sda",
                                "DEVTYPE", "disk", "USEC_INITIALIZED", "1", nullptr);
    umockdev_testbed_set_attribute(m_bed.get(), "/sys/devices/sda", "device/model", "Samsung SSD");
}

std::string TestDriveWatcher::addStick(const char* name, const char* number, const char* diskseq)
{
    const auto usb = std::string("usb1/") + name + "-port";
    g_autofree gchar* port = umockdev_testbed_add_device(m_bed.get(), "usb", usb.c_str(), nullptr, "idVendor",
                                                         "0781", "speed", "480", "version", " 2.10", "serial",
                                                         name, nullptr, "DEVTYPE", "usb_device", nullptr);
    g_autofree gchar* disk = umockdev_testbed_add_device(
        m_bed.get(), "block", name, port, "dev", number, "size", "62500000", "removable", "1", "ro", "0",
        "diskseq", diskseq, nullptr, "DEVNAME", (std::string("/dev/") + name).c_str(), "DEVTYPE", "disk",
        "USEC_INITIALIZED", "1", nullptr);
    umockdev_testbed_set_attribute(m_bed.get(), disk, "device/vendor", "SanDisk");
    umockdev_testbed_set_attribute(m_bed.get(), disk, "device/model", "Ultra Fit");
    return disk;
}

std::vector<std::string> TestDriveWatcher::nodes(const DriveWatcher& watcher)
{
    std::vector<std::string> names;
    std::ranges::transform(watcher.drives(), std::back_inserter(names), &DriveInfo::node);
    return names;
}

void TestDriveWatcher::listsWhatIsThere()
{
    addStick("sdb", "8:16", "7");
    const DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    QCOMPARE(nodes(watcher), (std::vector<std::string>{"sdb", "sda"}));
    const auto& stick = watcher.drives().front();
    QCOMPARE(driveName(stick), std::string("SanDisk Ultra Fit"));
    QCOMPARE(stick.bus, Bus::Usb);
    QCOMPARE(stick.serial, std::string("sdb"));
    QCOMPARE(stick.linkMbps, 480U);
    QCOMPARE(stick.deviceMbps, 5000U);
    QCOMPARE(stick.size, Bytes{32'000'000'000});
    QCOMPARE(stick.diskseq, std::uint64_t{7});
    QVERIFY(stick.external);
    QVERIFY(!watcher.drives().back().external);
}

void TestDriveWatcher::noticesAStick()
{
    DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    QCOMPARE(nodes(watcher), (std::vector<std::string>{"sda"}));
    QSignalSpy changed(&watcher, &DriveWatcher::drivesChanged);
    addStick("sdb", "8:16", "7"); // umockdev sends `add`
    QVERIFY(changed.wait());
    QCOMPARE(nodes(watcher), (std::vector<std::string>{"sdb", "sda"}));
}

void TestDriveWatcher::noticesThatAStickWent()
{
    const auto stick = addStick("sdb", "8:16", "7");
    DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    QSignalSpy changed(&watcher, &DriveWatcher::drivesChanged);
    umockdev_testbed_uevent(m_bed.get(), stick.c_str(), "remove");
    umockdev_testbed_remove_device(m_bed.get(), stick.c_str());
    QVERIFY(changed.wait());
    QCOMPARE(nodes(watcher), (std::vector<std::string>{"sda"}));
}

void TestDriveWatcher::noticesACard()
{
    const auto reader = addStick("sdb", "8:16", "7");
    umockdev_testbed_set_attribute(m_bed.get(), reader.c_str(), "size", "0");
    DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    const auto drive = [&] {
        return *std::ranges::find(watcher.drives(), std::string("sdb"), &DriveInfo::node);
    };
    QVERIFY(!drive().hasMedium());
    QCOMPARE(drive().access, Access::None);
    QVERIFY(drive().cardReader);
    QSignalSpy changed(&watcher, &DriveWatcher::drivesChanged);
    umockdev_testbed_set_attribute(m_bed.get(), reader.c_str(), "size", "62500000");
    umockdev_testbed_set_attribute(m_bed.get(), reader.c_str(), "diskseq", "8");
    umockdev_testbed_uevent(m_bed.get(), reader.c_str(), "change");
    QVERIFY(changed.wait());
    QVERIFY(drive().hasMedium());
    QCOMPARE(drive().diskseq, std::uint64_t{8});
}

void TestDriveWatcher::coalescesABurst()
{
    const auto stick = addStick("sdb", "8:16", "7");
    DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    QSignalSpy changed(&watcher, &DriveWatcher::drivesChanged);
    umockdev_testbed_set_attribute(m_bed.get(), stick.c_str(), "ro", "1");
    constexpr int kEvents = 5; // as many as its socket holds
    for (int i = 0; i < kEvents; ++i) {
        umockdev_testbed_uevent(m_bed.get(), stick.c_str(), "change");
    }
    QVERIFY(changed.wait());
    QCOMPARE(changed.count(), 1);
}

void TestDriveWatcher::saysNothingWhenNothingChanged()
{
    DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    QSignalSpy changed(&watcher, &DriveWatcher::drivesChanged);
    watcher.refresh();
    watcher.setOptions({.loops = false, .keptFiles = {}, .files = {}});
    addStick("sdb", "8:16", "7");
    QVERIFY(changed.wait());
    QCOMPARE(changed.count(), 1); // the stick's
}

void TestDriveWatcher::keepsTheOthersWhenOneIsSick()
{
    addStick("sdb", "8:16", "7");
    umockdev_testbed_add_device(m_bed.get(), "block", "sdc", nullptr, "size", "rubbish", nullptr, "DEVNAME",
                                "/dev/sdc", nullptr);
    umockdev_testbed_add_device(m_bed.get(), "block", "sdd", nullptr, "dev", "8:48", "size", "-5x", nullptr,
                                "DEVNAME", "/dev/sdd", nullptr);
    umockdev_testbed_set_attribute(m_bed.get(), "/sys/devices/sdd", "device/model", "Sick");
    const DriveWatcher watcher({.loops = false, .keptFiles = {}, .files = {}});
    const auto all = nodes(watcher);
    QVERIFY(std::ranges::find(all, "sdb") != all.end());
    QVERIFY(std::ranges::find(all, "sda") != all.end());
    const auto sick = std::ranges::find(watcher.drives(), std::string("sdd"), &DriveInfo::node);
    QVERIFY(sick != watcher.drives().end());
    QCOMPARE(sick->access, Access::None);
}

QTEST_GUILESS_MAIN(TestDriveWatcher)
#include "tst_drivewatcher.moc"
