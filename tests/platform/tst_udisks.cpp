// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "loopdevice.h"
#include "platform/drivelist.h"
#include "platform/driveopener.h"
#include "platform/ejector.h"
#include "platform/sleepinhibitor.h"
#include "platform/udisks.h"

#include <QDBusArgument>
#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusObjectPath>
#include <QDBusUnixFileDescriptor>
#include <QDBusVariant>
#include <QDBusVirtualObject>
#include <QFile>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <atomic>
#include <functional>
#include <thread>

#include <sys/mount.h>
#include <sys/syscall.h>

using namespace burin;
using namespace Qt::StringLiterals;

namespace {

constexpr Bytes kSize = 16 * kMiB;
constexpr unsigned kNobody = 65534;

/// Stands in for udisksd and logind on a bus of the test's own.
class StubService : public QDBusVirtualObject
{
public:
    QString error;       ///< answers every call with this, if set
    QString failing;     ///< a method that fails, and no other
    QByteArray openPath; ///< what OpenDevice opens
    int openFlags = 0;   ///< instead of those that were asked for, if not 0
    bool neverAnswer = false;
    QMap<QString, QMap<QString, QVariant>> properties; ///< by object path
    QStringList driveNames;
    QStringList calls;
    std::function<void(const QString& method)> onCall; ///< before it is answered
    int lastFlags = 0;

    QString introspect(const QString& path) const override
    {
        QString nodes;
        if (path.endsWith("/drives"_L1)) {
            for (const auto& name : driveNames) {
                nodes += u"<node name=\"%1\"/>"_s.arg(name);
            }
        }
        return nodes;
    }

    bool handleMessage(const QDBusMessage& message, const QDBusConnection& bus) override
    {
        if (message.member() == "Introspect"_L1) {
            return false; // Qt answers from introspect()
        }
        calls += message.member();
        if (onCall) {
            onCall(message.member());
        }
        if (neverAnswer) {
            message.setDelayedReply(true);
            return true;
        }
        if (message.member() == failing) {
            return bus.send(message.createErrorReply(u"org.freedesktop.UDisks2.Error.Failed"_s, u"stub"_s));
        }
        if (!error.isEmpty()) {
            return bus.send(message.createErrorReply(error, u"stub"_s));
        }
        if (message.member() == "OpenDevice"_L1 || message.member() == "Inhibit"_L1) {
            return bus.send(answerWithDescriptor(message));
        }
        if (message.member() == "Get"_L1) {
            const auto value =
                properties.value(message.path()).value(message.arguments().value(1).toString());
            return bus.send(message.createReply(QVariant::fromValue(QDBusVariant(value))));
        }
        return bus.send(message.createReply());
    }

private:
    QDBusMessage answerWithDescriptor(const QDBusMessage& message)
    {
        lastFlags = qdbus_cast<QVariantMap>(message.arguments().value(1)).value(u"flags"_s).toInt();
        const bool write = message.arguments().value(0).toString() == "rw"_L1;
        const int flags = openFlags != 0 ? openFlags : lastFlags | (write ? O_RDWR : O_RDONLY);
        const UniqueFd fd(::open(openPath.constData(), flags, 0600));
        if (!fd) {
            return message.createErrorReply(u"org.freedesktop.UDisks2.Error.Failed"_s,
                                            u"Error opening device: "_s
                                                + QString::fromLocal8Bit(::strerror(errno)));
        }
        return message.createReply(QVariant::fromValue(QDBusUnixFileDescriptor(fd.get())));
    }
};

} // namespace

Q_DECLARE_METATYPE(ErrorCode)

class TestUdisks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanup();
    void namesObjectPaths();
    void translatesErrors_data();
    void translatesErrors();
    void opensThroughTheService();
    void endsWithTheServicesError_data();
    void endsWithTheServicesError();
    void refusesDescriptorsThatAreNotWhatWasAskedFor_data();
    void refusesDescriptorsThatAreNotWhatWasAskedFor();
    void stopsWhileAQuestionIsOpen();
    void mountsAgainWhenStopped_data();
    void mountsAgainWhenStopped();
    void ejects_data();
    void ejects();
    void hasNothingToEjectOnALoop();
    void inhibitsSleep();
    void saysThatTheServiceIsMissing();
    void cleanupTestCase();

private:
    using Opened = Result<std::unique_ptr<BlockDevice>>;
    /// Runs in a thread of its own while the stub answers in this one.
    static void inThread(const std::function<void()>& work);
    static Opened openAsNobody(const DriveInfo& drive, std::stop_token stop = {});
    DriveInfo driveOf(const LoopDevice& loop) const;

    QTemporaryDir m_folder;
    QProcess m_daemon;
    StubService m_stub;
    std::unique_ptr<LoopDevice> m_loop;
};

void TestUdisks::initTestCase()
{
    // Like a system bus: it lets other users in.
    QFile config(m_folder.filePath(u"bus.conf"_s));
    QVERIFY(config.open(QIODevice::WriteOnly));
    config.write(
        "<busconfig><type>session</type><listen>unix:tmpdir=/tmp</listen><auth>EXTERNAL</auth>"
        "<policy context=\"default\"><allow user=\"*\"/><allow own=\"*\"/><allow send_destination=\"*\"/>"
        "<allow eavesdrop=\"true\"/></policy></busconfig>");
    config.close();
    m_daemon.start(u"dbus-daemon"_s,
                   {u"--config-file="_s + config.fileName(), u"--print-address"_s, u"--nofork"_s});
    QVERIFY(m_daemon.waitForReadyRead());
    const auto address = m_daemon.readLine().trimmed();
    qputenv("DBUS_SYSTEM_BUS_ADDRESS", address);
    auto bus = QDBusConnection::connectToBus(QString::fromLatin1(address), u"stub"_s);
    QVERIFY(bus.isConnected());
    QVERIFY(bus.registerService(u"org.freedesktop.UDisks2"_s));
    QVERIFY(bus.registerService(u"org.freedesktop.login1"_s));
    QVERIFY(bus.registerVirtualObject(u"/org/freedesktop/UDisks2"_s, &m_stub, QDBusConnection::SubPath));
    QVERIFY(bus.registerVirtualObject(u"/org/freedesktop/login1"_s, &m_stub, QDBusConnection::SubPath));
}

void TestUdisks::init()
{
    m_stub.error.clear();
    m_stub.failing.clear();
    m_stub.openPath.clear();
    m_stub.openFlags = 0;
    m_stub.neverAnswer = false;
    m_stub.properties.clear();
    m_stub.driveNames.clear();
    m_stub.calls.clear();
    m_stub.onCall = {};
    const QByteArrayView function(QTest::currentTestFunction());
    const bool pure =
        function.startsWith("translates") || function.startsWith("names") || function.startsWith("inhibits");
    if (pure) {
        return;
    }
    if (!LoopDevice::isPossible()) {
        fputs("SKIPPED-LISTED: loop devices need root and /dev/loop-control\n", stdout);
        QSKIP("loop devices need root");
    }
    m_loop = std::make_unique<LoopDevice>(m_folder.filePath(u"drive"_s).toStdString(), kSize);
    QVERIFY(m_loop->isAttached());
    m_stub.openPath = QByteArray::fromStdString(m_loop->path());
}

void TestUdisks::cleanup()
{
    m_loop.reset();
}

void TestUdisks::cleanupTestCase()
{
    QDBusConnection::disconnectFromBus(u"stub"_s);
    m_daemon.terminate();
    m_daemon.waitForFinished();
}

void TestUdisks::inThread(const std::function<void()>& work)
{
    std::atomic<bool> done = false;
    std::jthread thread([&] {
        work();
        done = true;
    });
    constexpr int kPatienceMs = 30'000;
    QVERIFY(QTest::qWaitFor([&] { return done.load(); }, kPatienceMs));
}

TestUdisks::Opened TestUdisks::openAsNobody(const DriveInfo& drive, std::stop_token stop)
{
    Opened opened;
    inThread([&] {
        // The bare system call changes this thread only, and the thread ends here.
        if (::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0) {
            opened = openDrive({.drive = drive, .write = true, .keptFiles = {}}, stop);
        }
    });
    return opened;
}

DriveInfo TestUdisks::driveOf(const LoopDevice& loop) const
{
    return findDrive(loop.path(), listDrives({.loops = true, .keptFiles = {}, .files = {}}))
        .value_or(DriveInfo());
}

void TestUdisks::namesObjectPaths()
{
    QCOMPARE(udisksBlockPath("sdb1"), u"/org/freedesktop/UDisks2/block_devices/sdb1"_s);
    QCOMPARE(udisksBlockPath("dm-0"), u"/org/freedesktop/UDisks2/block_devices/dm_2d0"_s);
}

void TestUdisks::translatesErrors_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<QString>("message");
    QTest::addColumn<ErrorCode>("code");
    const auto udisks = u"org.freedesktop.UDisks2.Error."_s;
    const auto dbus = u"org.freedesktop.DBus.Error."_s;
    const auto row = [](const char* title, const QString& name, const QString& message, ErrorCode code) {
        QTest::newRow(title) << name << message << code;
    };
    row("dismissed", udisks + u"NotAuthorizedDismissed"_s, {}, ErrorCode::AuthDismissed);
    row("no agent", udisks + u"NotAuthorizedCanObtain"_s, {}, ErrorCode::AuthNoAgent);
    row("denied", udisks + u"NotAuthorized"_s, {}, ErrorCode::AuthDenied);
    row("policy", dbus + u"AccessDenied"_s, {}, ErrorCode::AuthDenied);
    row("no service", dbus + u"ServiceUnknown"_s, {}, ErrorCode::ServiceMissing);
    row("cannot start", dbus + u"Spawn.ExecFailed"_s, {}, ErrorCode::ServiceMissing);
    row("masked", u"org.freedesktop.systemd1.UnitMasked"_s, {}, ErrorCode::ServiceMissing);
    row("old udisks", dbus + u"UnknownMethod"_s, {}, ErrorCode::ServiceMissing);
    row("no answer", dbus + u"NoReply"_s, {}, ErrorCode::AuthDismissed);
    row("busy unmount", udisks + u"DeviceBusy"_s, {}, ErrorCode::DriveBusy);
    row("busy open", udisks + u"Failed"_s, u"Error opening device /dev/sdb: Device or resource busy"_s,
        ErrorCode::DriveBusy);
    row("write-protected", udisks + u"Failed"_s, u"Error opening: Read-only file system"_s,
        ErrorCode::DriveReadOnly);
    row("no medium", udisks + u"Failed"_s, u"Error opening: No medium found"_s, ErrorCode::DriveNoMedium);
    row("no O_DIRECT", udisks + u"Failed"_s, u"Error opening: Invalid argument"_s,
        ErrorCode::DriveNoDirectIo);
    row("anything else", udisks + u"Failed"_s, u"odd"_s, ErrorCode::Internal);
    row("foreign", u"com.example.Odd"_s, u"odd"_s, ErrorCode::Internal);
}

void TestUdisks::translatesErrors()
{
    QFETCH(QString, name);
    QFETCH(QString, message);
    const auto error = udisksError(name, message);
    QTEST(error.code, "code");
    QVERIFY(QString::fromStdString(error.detail).contains(name));
}

void TestUdisks::opensThroughTheService()
{
    const auto device = openAsNobody(driveOf(*m_loop));
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    QVERIFY(*device);
    QCOMPARE((*device)->size(), kSize);
    QCOMPARE(m_stub.lastFlags, O_EXCL | O_DIRECT | O_CLOEXEC);
    QCOMPARE(m_stub.calls.count(u"OpenDevice"_s), 1);
}

void TestUdisks::endsWithTheServicesError_data()
{
    QTest::addColumn<QString>("name");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("dismissed") << u"org.freedesktop.UDisks2.Error.NotAuthorizedDismissed"_s
                               << ErrorCode::AuthDismissed;
    QTest::newRow("no agent") << u"org.freedesktop.UDisks2.Error.NotAuthorizedCanObtain"_s
                              << ErrorCode::AuthNoAgent;
    QTest::newRow("denied") << u"org.freedesktop.UDisks2.Error.NotAuthorized"_s << ErrorCode::AuthDenied;
    QTest::newRow("gone") << u"org.freedesktop.DBus.Error.ServiceUnknown"_s << ErrorCode::ServiceMissing;
    QTest::newRow("odd") << u"org.freedesktop.UDisks2.Error.Failed"_s << ErrorCode::Internal;
}

void TestUdisks::endsWithTheServicesError()
{
    QFETCH(QString, name);
    m_stub.error = name;
    const auto device = openAsNobody(driveOf(*m_loop));
    QVERIFY(!device);
    QTEST(device.error().code, "code");
}

void TestUdisks::refusesDescriptorsThatAreNotWhatWasAskedFor_data()
{
    QTest::addColumn<QByteArray>("path");
    QTest::addColumn<int>("flags");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("/dev/null") << QByteArray("/dev/null") << O_RDWR << ErrorCode::DriveChanged;
    QTest::newRow("a regular file") << QByteArray("FILE") << (O_RDWR | O_DIRECT | O_CREAT)
                                    << ErrorCode::DriveChanged;
    QTest::newRow("read-only") << QByteArray() << (O_RDONLY | O_DIRECT) << ErrorCode::DriveReadOnly;
    QTest::newRow("without O_DIRECT") << QByteArray() << O_RDWR << ErrorCode::DriveNoDirectIo;
    QTest::newRow("another drive") << QByteArray("OTHER") << (O_RDWR | O_DIRECT) << ErrorCode::DriveChanged;
}

void TestUdisks::refusesDescriptorsThatAreNotWhatWasAskedFor()
{
    QFETCH(QByteArray, path);
    QFETCH(int, flags);
    const LoopDevice other(m_folder.filePath(u"other"_s).toStdString(), kSize);
    if (path == "OTHER") {
        path = QByteArray::fromStdString(other.path());
    } else if (path == "FILE") {
        path = m_folder.filePath(u"regular"_s).toUtf8();
    }
    m_stub.openPath = path.isEmpty() ? m_stub.openPath : path;
    m_stub.openFlags = flags | O_CLOEXEC;
    const auto device = openAsNobody(driveOf(*m_loop));
    QVERIFY(!device);
    QTEST(device.error().code, "code");
}

void TestUdisks::stopsWhileAQuestionIsOpen()
{
    m_stub.neverAnswer = true;
    std::stop_source stop;
    const auto drive = driveOf(*m_loop);
    Opened opened;
    std::atomic<bool> done = false;
    std::jthread thread([&] {
        if (::syscall(SYS_setresuid, kNobody, kNobody, kNobody) == 0) {
            opened = openDrive({.drive = drive, .write = true, .keptFiles = {}}, stop.get_token());
        }
        done = true;
    });
    QVERIFY(QTest::qWaitFor([&] { return m_stub.calls.contains(u"OpenDevice"_s); }));
    stop.request_stop();
    QVERIFY(QTest::qWaitFor([&] { return done.load(); }));
    QVERIFY(!opened);
    QCOMPARE(opened.error().code, ErrorCode::AuthDismissed);
}

void TestUdisks::mountsAgainWhenStopped_data()
{
    QTest::addColumn<QString>("during");
    QTest::newRow("while unmounting") << u"Unmount"_s;
    QTest::newRow("while opening") << u"OpenDevice"_s;
}

void TestUdisks::mountsAgainWhenStopped()
{
    QFETCH(QString, during);
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const auto folder = place.path().toUtf8();
    QCOMPARE(
        QProcess::execute(u"mke2fs"_s, {u"-q"_s, u"-t"_s, u"ext4"_s, QString::fromStdString(m_loop->path())}),
        0);
    QCOMPARE(::mount(m_loop->path().c_str(), folder.constData(), "ext4", 0, ""), 0);
    std::stop_source stop;
    m_stub.onCall = [&](const QString& method) {
        if (method == "Unmount"_L1) {
            ::umount2(folder.constData(), 0);
        }
        // The call in which the stop comes does its work, but nobody hears of it.
        m_stub.neverAnswer = method == during;
        if (method == during) {
            stop.request_stop();
        }
    };
    const auto device = openAsNobody(driveOf(*m_loop), stop.get_token());
    ::umount2(folder.constData(), MNT_DETACH);
    QVERIFY(!device);
    QVERIFY(m_stub.calls.contains(during));
    QCOMPARE(m_stub.calls.last(), u"Mount"_s);
}

void TestUdisks::ejects_data()
{
    QTest::addColumn<bool>("reader");
    QTest::addColumn<bool>("sibling");
    QTest::addColumn<QString>("failing");
    QTest::addColumn<QStringList>("done");
    const QStringList off{u"PowerOff"_s};
    const QStringList eject{u"Eject"_s};
    QTest::newRow("stick") << false << false << QString() << off;
    QTest::newRow("stick that can't be powered off") << false << false << u"PowerOff"_s << off + eject;
    QTest::newRow("card reader") << true << false << QString() << eject;
    QTest::newRow("one of two in a housing") << false << true << QString() << eject;
}

void TestUdisks::ejects()
{
    QFETCH(bool, reader);
    QFETCH(bool, sibling);
    QFETCH(QString, failing);
    m_stub.failing = failing;
    // A loop device in a stick's clothes.
    auto drive = driveOf(*m_loop);
    drive.bus = Bus::Usb;
    drive.cardReader = reader;
    const auto path = u"/org/freedesktop/UDisks2/drives/A"_s;
    m_stub.driveNames = {u"A"_s, u"B"_s};
    m_stub.properties[udisksBlockPath(drive.node)][u"Drive"_s] = QVariant::fromValue(QDBusObjectPath(path));
    m_stub.properties[path] = {
        {u"Ejectable"_s, true}, {u"CanPowerOff"_s, true}, {u"SiblingId"_s, u"usb-1"_s}};
    m_stub.properties[u"/org/freedesktop/UDisks2/drives/B"_s] = {
        {u"SiblingId"_s, sibling ? u"usb-1"_s : u"usb-2"_s}};
    EjectOutcome outcome;
    inThread([&] { outcome = ejectDrive(drive, {}); });
    QCOMPARE(outcome.result, EjectResult::SafeToRemove);
    m_stub.calls.removeAll(u"Get"_s);
    QTEST(m_stub.calls, "done");
}

void TestUdisks::hasNothingToEjectOnALoop()
{
    QCOMPARE(ejectDrive(driveOf(*m_loop), {}).result, EjectResult::NothingToEject);
    QVERIFY(m_stub.calls.isEmpty());
}

void TestUdisks::inhibitsSleep()
{
    m_stub.openPath = "/dev/null";
    m_stub.openFlags = O_RDONLY | O_CLOEXEC;
    bool active = false;
    inThread([&] { active = SleepInhibitor("Writing").isActive(); });
    QVERIFY(active);
    QVERIFY(m_stub.calls.contains(u"Inhibit"_s));
    m_stub.error = u"org.freedesktop.DBus.Error.AccessDenied"_s;
    inThread([&] { active = SleepInhibitor("Writing").isActive(); });
    QVERIFY(!active);
}

void TestUdisks::saysThatTheServiceIsMissing()
{
    const auto drive = driveOf(*m_loop);
    auto bus = QDBusConnection(u"stub"_s);
    QVERIFY(bus.unregisterService(u"org.freedesktop.UDisks2"_s));
    const auto device = openAsNobody(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::ServiceMissing);
    auto stick = drive;
    stick.bus = Bus::Usb;
    EjectOutcome outcome;
    inThread([&] { outcome = ejectDrive(stick, {}); });
    QCOMPARE(outcome.result, EjectResult::SafeToRemove); // closed, and nothing is mounted
}

QTEST_GUILESS_MAIN(TestUdisks)
#include "tst_udisks.moc"
