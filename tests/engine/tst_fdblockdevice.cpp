// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/alignedbuffer.h"
#include "engine/fdblockdevice.h"

#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <csignal>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

using namespace burin;

class TestFdBlockDevice : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void writesAndReadsBack();
    void roundsTheSizeDown();
    void refusesADescriptorWithoutDirectIo();
    void refusesWhatIsNoRegularFile();
    void saysWhereAReadStopped();
    void saysWhereAWriteStopped();
    void refusesToWriteThroughAReadOnlyDescriptor();
    void noticesAFileThatShrank();

private:
    std::string makeFile(Bytes size);
    static UniqueFd open(const std::string& path, int flags)
    {
        return UniqueFd(::open(path.c_str(), flags | O_CLOEXEC));
    }
    QTemporaryDir m_folder;
};

std::string TestFdBlockDevice::makeFile(Bytes size)
{
    const auto path = m_folder.filePath(QString::fromLatin1(QTest::currentTestFunction())).toStdString();
    const auto fd = UniqueFd(::open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
    if (::ftruncate(fd.get(), static_cast<off_t>(size)) != 0) {
        return {};
    }
    return path;
}

void TestFdBlockDevice::writesAndReadsBack()
{
    const auto path = makeFile(64 * kKiB);
    auto device = FdBlockDevice::forFile(open(path, O_RDWR | O_DIRECT));
    QVERIFY(device);
    const AlignedBuffer out(8192);
    std::ranges::fill(out.span(), std::byte{0x5a});
    const AlignedBuffer in(8192);
    QVERIFY((*device)->writeAt(4096, out.span()));
    QVERIFY((*device)->flush());
    QVERIFY((*device)->readAt(4096, in.span()));
    QVERIFY(std::ranges::equal(in.span(), out.span()));
    QVERIFY((*device)->readAt(0, in.span().first(4096)));
    QVERIFY(std::ranges::all_of(in.span().first(4096), [](std::byte b) { return b == std::byte{0}; }));
    QVERIFY((*device)->checkIdentity());
}

void TestFdBlockDevice::roundsTheSizeDown()
{
    const auto path = makeFile(64 * kKiB + 100);
    auto device = FdBlockDevice::forFile(open(path, O_RDWR | O_DIRECT));
    QVERIFY(device);
    QCOMPARE((*device)->size(), Bytes{64 * kKiB});
    QVERIFY((*device)->logicalBlock() == 512 || (*device)->logicalBlock() == 4096);
}

void TestFdBlockDevice::refusesADescriptorWithoutDirectIo()
{
    const auto device = FdBlockDevice::forFile(open(makeFile(kMiB), O_RDWR));
    QVERIFY(!device);
    QCOMPARE(device.error().code, ErrorCode::DriveNoDirectIo);
}

void TestFdBlockDevice::refusesWhatIsNoRegularFile()
{
    for (const auto* path : {"/dev/null", "/dev/zero", "/"}) {
        const auto device = FdBlockDevice::forFile(open(path, O_RDONLY));
        QVERIFY(!device);
        QCOMPARE(device.error().code, ErrorCode::DriveNotADrive);
    }
    QCOMPARE(FdBlockDevice::forFile(UniqueFd()).error().code, ErrorCode::Internal);
}

void TestFdBlockDevice::saysWhereAReadStopped()
{
    auto device = FdBlockDevice::forFile(open(makeFile(64 * kKiB), O_RDWR | O_DIRECT));
    QVERIFY(device);
    const AlignedBuffer in(16 * kKiB);
    const auto read = (*device)->readAt(56 * kKiB, in.span());
    QVERIFY(!read);
    QCOMPARE(read.error().code, ErrorCode::ReadBackFailed);
    QCOMPARE(*read.error().offset, Offset{64 * kKiB});
}

void TestFdBlockDevice::saysWhereAWriteStopped()
{
    auto device = FdBlockDevice::forFile(open(makeFile(64 * kKiB), O_RDWR | O_DIRECT));
    QVERIFY(device);
    // A file size limit makes the kernel write a part and then fail: the honest short write.
    ::signal(SIGXFSZ, SIG_IGN);
    rlimit before = {};
    QCOMPARE(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit limit{.rlim_cur = 16 * kKiB, .rlim_max = before.rlim_max};
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    const AlignedBuffer out(16 * kKiB);
    const auto written = (*device)->writeAt(8 * kKiB, out.span());
    QCOMPARE(::setrlimit(RLIMIT_FSIZE, &before), 0);
    QVERIFY(!written);
    QCOMPARE(written.error().code, ErrorCode::WriteFailed);
    QCOMPARE(written.error().sysErrno, EFBIG);
    QCOMPARE(*written.error().offset, Offset{16 * kKiB});
}

void TestFdBlockDevice::refusesToWriteThroughAReadOnlyDescriptor()
{
    auto device = FdBlockDevice::forFile(open(makeFile(64 * kKiB), O_RDONLY | O_DIRECT));
    QVERIFY(device);
    const AlignedBuffer out(4096);
    const auto written = (*device)->writeAt(0, out.span());
    QVERIFY(!written);
    QCOMPARE(written.error().code, ErrorCode::WriteFailed);
    QCOMPARE(written.error().sysErrno, EBADF);
}

void TestFdBlockDevice::noticesAFileThatShrank()
{
    const auto path = makeFile(64 * kKiB);
    auto device = FdBlockDevice::forFile(open(path, O_RDWR | O_DIRECT));
    QVERIFY(device);
    QCOMPARE(::truncate(path.c_str(), 4096), 0);
    QCOMPARE((*device)->checkIdentity().error().code, ErrorCode::DriveChanged);
}

QTEST_APPLESS_MAIN(TestFdBlockDevice)
#include "tst_fdblockdevice.moc"
