// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/alignedbuffer.h"
#include "loopdevice.h"
#include "platform/drivelist.h"
#include "platform/driveopener.h"
#include "platform/drivewatcher.h"

#include <QFileInfo>
#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <fstream>
#include <thread>

#include <linux/blkpg.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

using namespace burin;
using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr Bytes kSize = 16 * kMiB;

/// Mounted while it lives.
class Mounted
{
public:
    Mounted(const std::string& node, const QString& folder, unsigned long flags = 0)
        : m_folder(folder.toStdString())
    {
        m_mounted = ::mount(node.c_str(), m_folder.c_str(), "ext4", flags, "") == 0;
    }
    Mounted(const Mounted&) = delete;
    Mounted& operator=(const Mounted&) = delete;
    ~Mounted()
    {
        if (isStill()) {
            ::umount2(m_folder.c_str(), MNT_DETACH);
        }
    }
    [[nodiscard]] bool isMounted() const { return m_mounted; }
    [[nodiscard]] bool isStill() const
    {
        std::ifstream table("/proc/self/mountinfo");
        const std::string all((std::istreambuf_iterator<char>(table)), {});
        return all.contains(' ' + m_folder + ' ');
    }

private:
    std::string m_folder;
    bool m_mounted = false;
};

bool makeExt4(const std::string& path)
{
    QProcess process;
    process.start(u"mke2fs"_s, {u"-q"_s, u"-F"_s, u"-t"_s, u"ext4"_s, QString::fromStdString(path)});
    return process.waitForFinished() && process.exitCode() == 0;
}

/// Whether this process has a drive open for a job. Looking at one's contents needs no O_DIRECT.
bool hasDriveOpen()
{
    constexpr int kMost = 256;
    for (int fd = 0; fd < kMost; ++fd) {
        const int flags = ::fcntl(fd, F_GETFL);
        struct stat status = {};
        if (flags >= 0 && (flags & O_DIRECT) != 0 && ::fstat(fd, &status) == 0 && S_ISBLK(status.st_mode)) {
            return true;
        }
    }
    return false;
}

std::string contentOf(const std::string& file)
{
    std::ifstream stream(file, std::ios::binary);
    return {(std::istreambuf_iterator<char>(stream)), {}};
}

} // namespace

class TestDriveOpener : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void init();
    void opensALoopForWriting_data();
    void opensALoopForWriting();
    void refusesWhatIsMountedInTheSystem();
    void unmountsWhatADesktopMounted();
    void unmountsWhatIsMountedTwiceOnOnePlace();
    void leavesAnotherDriveOnTopAlone();
    void unmountsWhatLiesOnTopOfAnotherDrive();
    void mountsAgainWhenItCannotBegin();
    void mountsAgainWhenStoppedAfterTheUnmount();
    void mountsAgainUnlessItWasWritten_data();
    void mountsAgainUnlessItWasWritten();
    void mountsABoundFolderAgain();
    void refusesWhatAnotherHasLocked();
    void saysWhatKeepsADriveBusy();
    void endsWaitingWhenStopped();
    void refusesANodeThatWasGivenToAnotherFile();
    void refusesAPartition();
    void refusesTheSystemDisk();
    void readsAProtectedDrive();
    void refusesAReadOnlyLoop();
    void refusesTheDriveOfTheImage();
    void refusesADriveWithoutDiskseq();
    void noticesAnotherDriveUnderTheDescriptor();
    void writesInRequestsWhereTheMediumMayBeSwapped();
    void tellsADriveThatIsBeingPulledFromASwappedOne_data();
    void tellsADriveThatIsBeingPulledFromASwappedOne();
    void watcherNoticesALoopAndAMount();
    void opensAFile();
    void refusesFilesThatAreNotTheChosenOne();

private:
    QString path(const char* name) const { return m_folder.filePath(QLatin1StringView(name)); }
    std::string file(const char* name) const { return path(name).toStdString(); }
    static DriveInfo driveOf(const LoopDevice& loop, const std::vector<std::string>& kept = {});
    static Result<std::unique_ptr<BlockDevice>> open(const DriveInfo& drive, bool write = true,
                                                     const std::vector<std::string>& kept = {})
    {
        return openDrive({.drive = drive, .write = write, .keptFiles = kept}, {});
    }
    /// Opens and asks to stop once that is in the way.
    static Result<std::unique_ptr<BlockDevice>> openAndStop(const DriveInfo& drive);
    QTemporaryDir m_folder;
};

void TestDriveOpener::init()
{
    const bool needsLoop = !QByteArrayView(QTest::currentTestFunction()).contains("File")
        || QByteArrayView(QTest::currentTestFunction()).contains("AnotherFile");
    if (needsLoop && !LoopDevice::isPossible()) {
        fputs("SKIPPED-LISTED: loop devices need root and /dev/loop-control\n", stdout);
        QSKIP("loop devices need root");
    }
}

DriveInfo TestDriveOpener::driveOf(const LoopDevice& loop, const std::vector<std::string>& kept)
{
    const auto drives = listDrives({.loops = true, .keptFiles = kept, .files = {}});
    return findDrive(loop.path(), drives).value_or(DriveInfo());
}

Result<std::unique_ptr<BlockDevice>> TestDriveOpener::openAndStop(const DriveInfo& drive)
{
    std::stop_source stop;
    std::optional<Result<std::unique_ptr<BlockDevice>>> result;
    std::atomic<bool> done = false;
    std::jthread thread([&] {
        result = openDrive({.drive = drive, .write = true, .keptFiles = {}}, stop.get_token());
        done = true;
    });
    // Long enough for at least one attempt; the outcome is the same whenever the stop comes.
    QTest::qWait(300);
    stop.request_stop();
    thread.join();
    return std::move(*result);
}

void TestDriveOpener::opensALoopForWriting_data()
{
    QTest::addColumn<unsigned>("block");
    QTest::newRow("512") << 512U;
    QTest::newRow("4096") << 4096U;
}

void TestDriveOpener::opensALoopForWriting()
{
    QFETCH(unsigned, block);
    const LoopDevice loop(file("a"), kSize, block);
    QVERIFY(loop.isAttached());
    auto device = open(driveOf(loop));
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    QCOMPARE((*device)->size(), kSize);
    QCOMPARE((*device)->logicalBlock(), block);
    const AlignedBuffer out(8192);
    std::ranges::fill(out.span(), std::byte{0xa5});
    QVERIFY((*device)->writeAt(kSize - 8192, out.span()));
    QVERIFY((*device)->flush());
    const AlignedBuffer in(8192);
    QVERIFY((*device)->readAt(kSize - 8192, in.span()));
    QVERIFY(std::ranges::equal(in.span(), out.span()));
    QVERIFY((*device)->checkIdentity());

    const UniqueFd exclusive(::open(loop.path().c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
    QVERIFY(!exclusive);
    const UniqueFd other(::open(loop.path().c_str(), O_RDONLY | O_CLOEXEC));
    QCOMPARE(::flock(other.get(), LOCK_SH | LOCK_NB), -1);
    device->reset();
    QCOMPARE(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
}

void TestDriveOpener::refusesWhatIsMountedInTheSystem()
{
    const LoopDevice loop(file("b"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place;
    const Mounted mounted(loop.path(), place.path());
    QVERIFY(mounted.isMounted());
    const auto drive = driveOf(loop);
    QCOMPARE(drive.access, Access::ReadOnly);
    const auto device = open(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveIsSystem);
    QVERIFY(QByteArray::fromStdString(device.error().detail).contains(place.path().toUtf8()));
    QVERIFY(mounted.isStill());
}

void TestDriveOpener::unmountsWhatADesktopMounted()
{
    const LoopDevice loop(file("c"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir one(u"/mnt/burin-XXXXXX"_s);
    const QTemporaryDir two(u"/mnt/burin-XXXXXX"_s);
    const Mounted first(loop.path(), one.path());
    const Mounted second(loop.path(), two.path());
    QVERIFY(first.isMounted() && second.isMounted());
    const auto drive = driveOf(loop);
    QCOMPARE(drive.mountPoints.size(), std::size_t{2});
    QCOMPARE(drive.access, Access::Write);
    const auto device = open(drive);
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    QVERIFY(!first.isStill() && !second.isStill());
}

void TestDriveOpener::unmountsWhatIsMountedTwiceOnOnePlace()
{
    const LoopDevice loop(file("twice"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted first(loop.path(), place.path());
    const Mounted second(place.path().toStdString(), place.path(), MS_BIND);
    QVERIFY(first.isMounted() && second.isMounted());
    const auto device = open(driveOf(loop));
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    QVERIFY(!first.isStill());
}

void TestDriveOpener::leavesAnotherDriveOnTopAlone()
{
    const LoopDevice below(file("below"), kSize);
    const LoopDevice above(file("above"), kSize);
    QVERIFY(makeExt4(below.path()) && makeExt4(above.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted first(below.path(), place.path());
    const Mounted second(above.path(), place.path());
    QVERIFY(first.isMounted() && second.isMounted());
    const auto device = openAndStop(driveOf(below));
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveBusy);
    QVERIFY(QByteArray::fromStdString(device.error().detail).contains(place.path().toUtf8()));
    QCOMPARE(driveOf(below).mountPoints.size(), std::size_t{1});
    QCOMPARE(driveOf(above).mountPoints.size(), std::size_t{1});
}

void TestDriveOpener::unmountsWhatLiesOnTopOfAnotherDrive()
{
    const LoopDevice below(file("below"), kSize);
    const LoopDevice above(file("above"), kSize);
    QVERIFY(makeExt4(below.path()) && makeExt4(above.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted first(below.path(), place.path());
    const Mounted second(above.path(), place.path());
    QVERIFY(first.isMounted() && second.isMounted());
    const auto device = open(driveOf(above));
    QVERIFY(device);
    QCOMPARE(driveOf(below).mountPoints.size(), std::size_t{1});
    QVERIFY(driveOf(above).mountPoints.empty());
}

void TestDriveOpener::mountsAgainWhenItCannotBegin()
{
    const LoopDevice loop(file("d"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted mounted(loop.path(), place.path());
    QVERIFY(mounted.isMounted());
    const auto drive = driveOf(loop);
    const UniqueFd other(::open(loop.path().c_str(), O_RDONLY | O_CLOEXEC));
    QCOMPARE(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
    const auto device = openAndStop(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveBusy);
    QVERIFY(mounted.isStill());
}

void TestDriveOpener::mountsAgainWhenStoppedAfterTheUnmount()
{
    const LoopDevice loop(file("n"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    bool seen = false;
    // The stop has to come while it is open already and not yet handed out, which a machine that is busy with
    // other things may not manage at once.
    for (int i = 0; i < 50 && !seen; ++i) {
        const Mounted mounted(loop.path(), place.path());
        QVERIFY(mounted.isMounted());
        const auto drive = driveOf(loop);
        std::stop_source stop;
        const std::jthread watcher([&](const std::stop_token& end) {
            while (!hasDriveOpen() && !end.stop_requested()) { }
            stop.request_stop();
        });
        const auto device = openDrive({.drive = drive, .write = true, .keptFiles = {}}, stop.get_token());
        if (!stop.stop_requested()) {
            continue;
        }
        QVERIFY(!device);
        QVERIFY(mounted.isStill());
        seen = device.error().code == ErrorCode::AuthDismissed;
    }
    QVERIFY(seen);
}

void TestDriveOpener::mountsAgainUnlessItWasWritten_data()
{
    QTest::addColumn<bool>("written");
    QTest::newRow("a job that ends before its first write") << false;
    QTest::newRow("a job that has written") << true;
}

void TestDriveOpener::mountsAgainUnlessItWasWritten()
{
    QFETCH(bool, written);
    const LoopDevice loop(file("u"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted mounted(loop.path(), place.path());
    QVERIFY(mounted.isMounted());
    auto device = open(driveOf(loop));
    QVERIFY(device);
    QVERIFY(!mounted.isStill());
    if (written) {
        const AlignedBuffer zeros(4096);
        QVERIFY((*device)->writeAt(kSize - 4096, zeros.span()));
    }
    device->reset();
    QCOMPARE(mounted.isStill(), !written);
}

void TestDriveOpener::mountsABoundFolderAgain()
{
    const LoopDevice loop(file("v"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const QTemporaryDir bound(u"/mnt/burin-XXXXXX"_s);
    const Mounted whole(loop.path(), place.path());
    QVERIFY(QDir().mkpath(place.filePath(u"sub/inside"_s)));
    QCOMPARE(::mount(place.filePath(u"sub"_s).toUtf8().constData(), bound.path().toUtf8().constData(),
                     nullptr, MS_BIND, nullptr),
             0);
    {
        auto device = open(driveOf(loop));
        QVERIFY(device);
        QVERIFY(!whole.isStill());
    }
    QVERIFY(whole.isStill());
    QCOMPARE(QDir(bound.path()).entryList(QDir::AllEntries | QDir::NoDotAndDotDot), QStringList{u"inside"_s});
    QCOMPARE(::umount2(bound.path().toUtf8().constData(), 0), 0);
    QVERIFY(QDir(bound.path()).isEmpty()); // and there is nothing below it
}

void TestDriveOpener::refusesWhatAnotherHasLocked()
{
    const LoopDevice loop(file("w"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const auto drive = driveOf(loop);
    const UniqueFd other(::open(loop.path().c_str(), O_RDWR | O_EXCL | O_CLOEXEC)); // as another Burin has it
    QCOMPARE(::flock(other.get(), LOCK_EX | LOCK_NB), 0);
    const auto device = open(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveBusy);
    QCOMPARE(device.error().sysErrno, EWOULDBLOCK); // and not EBUSY: it did not come to an open
    QCOMPARE(QString::fromStdString(device.error().detail), u"tst_driveopener (%1)"_s.arg(::getpid()));
}

void TestDriveOpener::saysWhatKeepsADriveBusy()
{
    const LoopDevice loop(file("e"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted mounted(loop.path(), place.path());
    const auto drive = driveOf(loop);
    const UniqueFd inside(
        ::open(place.filePath(u"file"_s).toUtf8().constData(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    QVERIFY(static_cast<bool>(inside));
    const auto device = openAndStop(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveBusy);
    QVERIFY(QByteArray::fromStdString(device.error().detail).contains(place.path().toUtf8()));
    QVERIFY(mounted.isStill());
}

void TestDriveOpener::endsWaitingWhenStopped()
{
    const LoopDevice loop(file("f"), kSize);
    const auto drive = driveOf(loop);
    const UniqueFd holder(::open(loop.path().c_str(), O_RDWR | O_EXCL | O_CLOEXEC));
    QVERIFY(static_cast<bool>(holder));
    const auto device = openAndStop(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveBusy);
}

void TestDriveOpener::refusesANodeThatWasGivenToAnotherFile()
{
    LoopDevice loop(file("chosen"), kSize);
    const auto drive = driveOf(loop);
    QVERIFY(drive.diskseq != 0);
    std::ofstream(file("other"), std::ios::binary) << std::string(kSize, 'B');
    QVERIFY(loop.reattach(file("other")));
    QCOMPARE(driveOf(loop).devno, drive.devno);
    const auto device = open(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveChanged);
    QVERIFY(contentOf(file("other")) == std::string(kSize, 'B'));
    QVERIFY(open(drive, false).error().code == ErrorCode::DriveChanged);

    // And nothing of the other one is unmounted on the way: an attempt would meet the open file, and be busy.
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted mounted(loop.path(), place.path());
    const auto inside = place.filePath(u"file"_s).toStdString();
    const UniqueFd user(::open(inside.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    QVERIFY(static_cast<bool>(user));
    QCOMPARE(open(drive).error().code, ErrorCode::DriveChanged);
}

void TestDriveOpener::refusesAPartition()
{
    const LoopDevice loop(file("parted"), kSize, 512, LO_FLAGS_PARTSCAN);
    QVERIFY(loop.isAttached());
    // As partx(8) does it: some kernels are built without any partition table.
    blkpg_partition entry = {};
    entry.start = kMiB;
    entry.length = kMiB;
    entry.pno = 1;
    blkpg_ioctl_arg argument{.op = BLKPG_ADD_PARTITION, .flags = 0, .datalen = sizeof entry, .data = &entry};
    const UniqueFd whole(::open(loop.path().c_str(), O_RDWR | O_CLOEXEC));
    QCOMPARE(::ioctl(whole.get(), BLKPG, &argument), 0);
    const auto partition = loop.path() + "p1";
    QVERIFY(QTest::qWaitFor([&] { return ::access(partition.c_str(), F_OK) == 0; }));
    const auto drives = listDrives({.loops = true, .keptFiles = {}, .files = {}});
    const auto found = findDrive(partition, drives);
    QVERIFY(!found);
    QCOMPARE(found.error().code, ErrorCode::DriveIsPartition);
    QCOMPARE(found.error().detail, loop.path());
    QVERIFY(std::ranges::none_of(drives, [&](const DriveInfo& drive) { return drive.path == partition; }));

    // Even a forged request for one is refused.
    auto forged = driveOf(loop);
    struct stat status = {};
    QCOMPARE(::stat(partition.c_str(), &status), 0);
    forged.devno = status.st_rdev;
    forged.path = partition;
    QVERIFY(!open(forged));
    QVERIFY(!open(forged, false));
}

void TestDriveOpener::refusesTheSystemDisk()
{
    const auto drives = listDrives({.loops = false, .keptFiles = {}, .files = {}});
    // Which disk / lies on is found without the guard, which is what this tests.
    struct stat root = {};
    QCOMPARE(::stat("/", &root), 0);
    const auto number = QString::number(major(root.st_dev)) + u':' + QString::number(minor(root.st_dev));
    const auto sys = QFileInfo(u"/sys/dev/block/"_s + number).canonicalFilePath();
    const auto disk = QFile::exists(sys + u"/partition"_s) ? QFileInfo(sys).path() : sys;
    const auto system = std::ranges::find(drives, QFileInfo(disk).fileName().toStdString(), &DriveInfo::node);
    if (sys.isEmpty() || system == drives.end()) {
        fputs("SKIPPED-LISTED: the disk of / is none that can be listed\n", stdout);
        QSKIP("no system disk");
    }
    QCOMPARE(system->access, Access::ReadOnly);
    // Every way of naming it ends at the guard. Nothing is opened for writing: the guard comes before.
    QVERIFY(QFile::link(QString::fromStdString(system->path), path("link")));
    for (const auto& name : {system->node, system->path, file("link")}) {
        const auto found = findDrive(name, drives);
        QVERIFY(found);
        const auto device = open(*found);
        QVERIFY(!device);
        QCOMPARE(device.error().code, ErrorCode::DriveIsSystem);
    }
    // What the caller believes of the drive doesn't count.
    auto forged = *system;
    forged.access = Access::Write;
    forged.protections.clear();
    forged.bus = Bus::Loop;
    QCOMPARE(open(forged).error().code, ErrorCode::DriveIsSystem);
    forged.bus = Bus::File;
    QVERIFY(!open(forged));
}

void TestDriveOpener::readsAProtectedDrive()
{
    const LoopDevice loop(file("g"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place;
    const Mounted mounted(loop.path(), place.path());
    auto device = open(driveOf(loop), false);
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    const AlignedBuffer buffer(4096);
    QVERIFY((*device)->readAt(0, buffer.span()));
    QVERIFY(!(*device)->writeAt(0, buffer.span()));
    QVERIFY(mounted.isStill());
}

void TestDriveOpener::refusesAReadOnlyLoop()
{
    const LoopDevice loop(file("h"), kSize, 512, LO_FLAGS_READ_ONLY);
    QVERIFY(loop.isAttached());
    auto drive = driveOf(loop);
    QCOMPARE(open(drive).error().code, ErrorCode::DriveReadOnly);
    QVERIFY(open(drive, false));
}

void TestDriveOpener::refusesTheDriveOfTheImage()
{
    const LoopDevice loop(file("i"), kSize);
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    const Mounted mounted(loop.path(), place.path());
    const auto image = place.filePath(u"image"_s).toStdString();
    std::ofstream(image) << "image";
    const auto device = open(driveOf(loop), true, {image});
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveHoldsImage);
    QCOMPARE(device.error().detail, image);
    QVERIFY(mounted.isStill());

    const LoopDevice itself(file("j"), kSize);
    QCOMPARE(open(driveOf(itself), true, {file("j")}).error().code, ErrorCode::DriveHoldsImage);
}

void TestDriveOpener::refusesADriveWithoutDiskseq()
{
    const LoopDevice loop(file("k"), kSize);
    auto drive = driveOf(loop);
    drive.diskseq = 0;
    QCOMPARE(open(drive).error().code, ErrorCode::DriveProtected);
}

void TestDriveOpener::noticesAnotherDriveUnderTheDescriptor()
{
    const LoopDevice loop(file("l"), kSize);
    auto device = open(driveOf(loop));
    QVERIFY(device);
    QCOMPARE(::truncate(file("l").c_str(), kSize / 2), 0);
    const UniqueFd fd(::open(loop.path().c_str(), O_RDWR | O_CLOEXEC));
    QCOMPARE(::ioctl(fd.get(), LOOP_SET_CAPACITY), 0);
    QCOMPARE((*device)->checkIdentity().error().code, ErrorCode::DriveChanged);
    const AlignedBuffer buffer(4096);
    const auto beyond = (*device)->writeAt(kSize - 4096, buffer.span());
    QCOMPARE(beyond.error().code, ErrorCode::DriveChanged);
    QCOMPARE(*beyond.error().offset, kSize - 4096);
}

void TestDriveOpener::writesInRequestsWhereTheMediumMayBeSwapped()
{
    const LoopDevice loop(file("pieces"), kSize);
    auto drive = driveOf(loop);
    drive.removable = true;
    auto device = open(drive);
    QVERIFY(device);
    const AlignedBuffer buffer(8 * kMiB);
    std::ranges::fill(buffer.span(), std::byte{'p'});
    const auto stat = u"/sys/block/%1/stat"_s.arg(QString::fromStdString(drive.node));
    const auto figures = [&] {
        QFile found(stat);
        return found.open(QFile::ReadOnly) ? found.readAll().simplified().split(' ') : QByteArrayList();
    };
    const auto before = figures();
    QVERIFY((*device)->writeAt(kMiB, buffer.span()));
    const auto after = figures();
    QVERIFY(contentOf(file("pieces")).substr(kMiB, 8 * kMiB) == std::string(8 * kMiB, 'p'));
    // Requests that were merged from others (field 6 of block/stat.rst) mean that some had to wait.
    QVERIFY(after.size() > 6);
    QCOMPARE(after[5], before[5]);
    QVERIFY(after[4].toLongLong() - before[4].toLongLong() >= 3);

    QCOMPARE(::truncate(file("pieces").c_str(), kSize / 2), 0);
    const UniqueFd fd(::open(loop.path().c_str(), O_RDWR | O_CLOEXEC));
    QCOMPARE(::ioctl(fd.get(), LOOP_SET_CAPACITY), 0);
    std::ranges::fill(buffer.span(), std::byte{'q'});
    const auto swapped = (*device)->writeAt(0, buffer.span());
    QVERIFY(!swapped);
    QCOMPARE(swapped.error().code, ErrorCode::DriveChanged);
    QVERIFY(!contentOf(file("pieces")).contains('q'));
}

void TestDriveOpener::tellsADriveThatIsBeingPulledFromASwappedOne_data()
{
    QTest::addColumn<qint64>("size");
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("no size left") << qint64{0} << ErrorCode::DriveGone;
    QTest::newRow("another size") << static_cast<qint64>(kSize / 2) << ErrorCode::DriveChanged;
}

/// As the kernel takes a drive away: its size first, the node later.
void TestDriveOpener::tellsADriveThatIsBeingPulledFromASwappedOne()
{
    QFETCH(const qint64, size);
    QFETCH(const ErrorCode, code);
    const LoopDevice loop(file("pulled"), kSize);
    const auto drive = driveOf(loop);
    auto before = open(drive);
    QVERIFY(before);
    QCOMPARE(::truncate(file("pulled").c_str(), size), 0);
    {
        const UniqueFd fd(::open(loop.path().c_str(), O_RDWR | O_CLOEXEC));
        QCOMPARE(::ioctl(fd.get(), LOOP_SET_CAPACITY), 0);
    }
    QCOMPARE((*before)->checkIdentity().error().code, code);
    before->reset();
    const auto device = open(drive);
    QVERIFY(!device);
    QCOMPARE(device.error().code, code);
}

void TestDriveOpener::watcherNoticesALoopAndAMount()
{
    DriveWatcher watcher({.loops = true, .keptFiles = {}, .files = {}});
    LoopDevice loop(file("watched"), kSize);
    const auto drive = [&] {
        const auto found = std::ranges::find(watcher.drives(), loop.path(), &DriveInfo::path);
        return found == watcher.drives().end() ? DriveInfo() : *found;
    };
    QVERIFY(QTest::qWaitFor([&] { return drive().hasMedium(); }));
    QVERIFY(makeExt4(loop.path()));
    const QTemporaryDir place(u"/mnt/burin-XXXXXX"_s);
    {
        const Mounted mounted(loop.path(), place.path());
        QVERIFY(QTest::qWaitFor([&] { return !drive().mountPoints.empty(); }));
    }
    QVERIFY(QTest::qWaitFor([&] { return drive().mountPoints.empty(); }));
    const auto path = loop.path();
    loop.detach();
    QVERIFY(QTest::qWaitFor([&] {
        return std::ranges::none_of(watcher.drives(),
                                    [&](const DriveInfo& other) { return other.path == path; });
    }));
}

void TestDriveOpener::opensAFile()
{
    std::ofstream(file("drive"), std::ios::binary) << std::string(kMiB + 100, 'x');
    const auto drives = listDrives({.loops = false, .keptFiles = {}, .files = {file("drive")}});
    const auto drive = findDrive(file("drive"), drives);
    QVERIFY(drive);
    QCOMPARE(drive->bus, Bus::File);
    auto device = open(*drive);
    QVERIFY2(device, device ? "" : device.error().detail.c_str());
    QCOMPARE((*device)->size(), Bytes{kMiB});
    const AlignedBuffer buffer(4096);
    QVERIFY((*device)->writeAt(0, buffer.span()));
    // A second Burin waits in vain.
    QCOMPARE(openAndStop(*drive).error().code, ErrorCode::DriveBusy);
}

void TestDriveOpener::refusesFilesThatAreNotTheChosenOne()
{
    std::ofstream(file("m"), std::ios::binary) << std::string(kMiB, 'x');
    const auto list = [this] { return listDrives({.loops = false, .keptFiles = {}, .files = {file("m")}}); };
    const auto drive = findDrive(file("m"), list());
    QVERIFY(drive);
    QCOMPARE(open(*drive, true, {file("m")}).error().code, ErrorCode::DriveHoldsImage);
    QVERIFY(QFile::rename(path("m"), path("m.old")));
    QCOMPARE(open(*drive).error().code, ErrorCode::DriveGone);
    std::ofstream(file("m"), std::ios::binary) << std::string(kMiB, 'y');
    QCOMPARE(open(*drive).error().code, ErrorCode::DriveChanged);
    QVERIFY(contentOf(file("m")) == std::string(kMiB, 'y'));
    QVERIFY(QFile::remove(path("m")));
    QCOMPARE(::mkfifo(file("m").c_str(), 0600), 0);
    QVERIFY(!open(*drive));
    QVERIFY(QFile::remove(path("m")));
    QVERIFY(QFile::link(u"/dev/null"_s, path("m")));
    QVERIFY(!open(*drive));
    if (LoopDevice::isPossible()) {
        const LoopDevice loop(file("m2"), kSize);
        const auto attached =
            findDrive(file("m2"), listDrives({.loops = false, .keptFiles = {}, .files = {file("m2")}}));
        QVERIFY(attached);
        QCOMPARE(open(*attached).error().code, ErrorCode::DriveProtected);
    }
}

QTEST_GUILESS_MAIN(TestDriveOpener)
#include "tst_driveopener.moc"
