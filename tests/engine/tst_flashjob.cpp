// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/flashjob.h"
#include "tests/support/jobrun.h"

#include <QTest>

#include <cerrno>

using namespace burin;
using namespace burin::test;

namespace {

FlashError ioError(ErrorCode code, int number = EIO)
{
    return {.code = code, .sysErrno = number};
}

bool driveHolds(const MemoryDevice& device, const std::vector<std::byte>& image)
{
    return std::equal(image.begin(), image.end(), device.bytes.begin());
}

/// Not one byte of the drive was changed.
bool untouched(const MemoryDevice& device)
{
    return std::ranges::all_of(device.bytes, [](std::byte b) { return b == std::byte{0xA5}; });
}

} // namespace

class TestFlashJob : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void writesAndProvesEverySize_data();
    void writesAndProvesEverySize();
    void fitsExactlyToTheEndOfTheDrive_data();
    void fitsExactlyToTheEndOfTheDrive();
    void padsTheTailWithZeros_data();
    void padsTheTailWithZeros();
    void clearsBothEndsFirstAndWritesTheFirstChunkLast();
    void readsTheFirstChunkBackLast();
    void tellsTheSha256OfTheImage();
    void leavesTheSha256OutOnRequest();
    void refusesAnImageThatIsTooLargeBeforeTouchingTheDrive();
    void saysWhenAnImageOfUnknownSizeOutgrowsTheDrive();
    void leavesTheDriveAloneWhenTheImageIsBadFromTheStart();
    void refusesAnEmptyImage();
    void failsWhenTheImageEndsBadly_data();
    void failsWhenTheImageEndsBadly();
    void retriesAPassingWriteError();
    void givesUpOnALastingWriteError();
    void neverRetriesADriveThatIsGone();
    void endsAsChangedWhenTheCardWasSwapped();
    void writesNothingToACardThatWasSwappedBeforeTheFirstWrite();
    void verifyOnlyNoticesASwappedCard();
    void knowsAPulledDriveByItsFlush();
    void reportsAFailedFlush();
    void noticesACardSwappedDuringTheLastFlush_data();
    void noticesACardSwappedDuringTheLastFlush();
    void findsEveryRangeThatDiffers();
    void saysWhetherASecondReadAgrees();
    void listsUnreadableRangesAndGoesOn_data() { addBothJobs(); }
    void listsUnreadableRangesAndGoesOn();
    void endsTheVerifyWhenTheDriveIsGone_data() { addBothJobs(); }
    void endsTheVerifyWhenTheDriveIsGone();
    void endsTheVerifyWhenTheDriveGoesAtTheSecondRead_data() { addBothJobs(); }
    void endsTheVerifyWhenTheDriveGoesAtTheSecondRead();
    void blamesNoRangeOfASwappedCard_data() { addBothJobs(); }
    void blamesNoRangeOfASwappedCard();
    void namesADriveThatWraps_data();
    void namesADriveThatWraps();
    void namesADriveThatLosesWhatLiesBeyond();
    void callsAnOrdinaryErrorNoCounterfeit();
    void cancelsInEveryPhase_data();
    void cancelsInEveryPhase();
    void skipsTheVerifyOnRequest();
    void withoutVerifyIsNotCalledVerified();
    void countsOnlyWhatTheDriveAcknowledged();
    void verifyOnlyWritesNothing();
    void verifyOnlyFindsDifferences();

private:
    /// Rows for what a verify after writing and one on its own have in common.
    static void addBothJobs()
    {
        QTest::addColumn<decltype(&runFlash)>("job");
        QTest::newRow("flash") << &runFlash;
        QTest::newRow("verify only") << &runVerify;
    }
};

void TestFlashJob::writesAndProvesEverySize_data()
{
    QTest::addColumn<int>("size");
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("tellsSize");
    const int chunk = kChunk;
    for (const int block : {512, 4096}) {
        for (const int size :
             {1, 511, 512, 513, block - 1, block, block + 1, chunk - 1, chunk, chunk + 1, 2 * chunk - 1,
              2 * chunk, 2 * chunk + block, 7 * chunk, 7 * chunk + 12345, 1000003}) {
            for (const bool tells : {true, false}) {
                QTest::addRow("%d bytes, block %d, size %s", size, block, tells ? "known" : "unknown")
                    << size << block << tells;
            }
        }
    }
}

void TestFlashJob::writesAndProvesEverySize()
{
    QFETCH(int, size);
    QFETCH(int, block);
    QFETCH(bool, tellsSize);
    ScriptedSource source(noise(static_cast<std::size_t>(size)), tellsSize);
    MemoryDevice device(4 * kMiB, static_cast<std::uint32_t>(block));

    const Run run = Setup().flash(source, device);

    QCOMPARE(run.report.verdict, Verdict::Verified);
    QVERIFY(!run.report.error);
    QVERIFY(driveHolds(device, source.bytes));
    QVERIFY(!device.misaligned);
    QCOMPARE(run.report.imageSize, Bytes(source.bytes.size()));
    QCOMPARE(run.report.bytesWritten, source.bytes.size());
    QCOMPARE(run.report.bytesVerified, source.bytes.size());
    QCOMPARE(run.phases(),
             (std::vector{Phase::Preparing, Phase::Writing, Phase::Flushing, Phase::Verifying}));
}

void TestFlashJob::fitsExactlyToTheEndOfTheDrive_data()
{
    QTest::addColumn<qulonglong>("size");
    QTest::addColumn<int>("missing");
    for (const Bytes size :
         {Bytes(3 * kMiB), Bytes(3 * kMiB + 512), Bytes(2 * kMiB + kChunk + 4096), Bytes(512 * 7)}) {
        for (const int by : {0, 1, 511}) {
            QTest::addRow("drive of %llu, image %d shorter", static_cast<unsigned long long>(size), by)
                << qulonglong(size) << by;
        }
    }
}

void TestFlashJob::fitsExactlyToTheEndOfTheDrive()
{
    QFETCH(qulonglong, size);
    QFETCH(int, missing);
    ScriptedSource source(noise(size - static_cast<unsigned>(missing)));
    MemoryDevice device(size);

    const Run run = Setup().flash(source, device);

    QCOMPARE(run.report.verdict, Verdict::Verified);
    QVERIFY(driveHolds(device, source.bytes));
    QVERIFY(!device.misaligned);
}

void TestFlashJob::padsTheTailWithZeros_data()
{
    QTest::addColumn<qulonglong>("whole");
    QTest::newRow("in a fresh buffer") << qulonglong(kChunk);
    QTest::newRow("in a buffer that held another chunk") << qulonglong(30 * kChunk);
}

void TestFlashJob::padsTheTailWithZeros()
{
    QFETCH(qulonglong, whole);
    ScriptedSource source(noise(whole + 100));
    MemoryDevice device(4 * kMiB);
    QCOMPARE(Setup().flash(source, device).report.verdict, Verdict::Verified);
    const auto tail = std::span(device.bytes).subspan(whole, 512).subspan(100);
    QVERIFY(std::ranges::all_of(tail, [](std::byte b) { return b == std::byte{0}; }));
}

void TestFlashJob::clearsBothEndsFirstAndWritesTheFirstChunkLast()
{
    using Call = MemoryDevice::Call;
    ScriptedSource source(noise(3 * kChunk));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    setup.plan.verify = false;

    QCOMPARE(setup.flash(source, device).report.verdict, Verdict::WrittenNotVerified);

    const std::vector<Call> expected{{Call::Write, 0, kMiB},
                                     {Call::Write, 3 * kMiB, kMiB},
                                     {Call::Flush},
                                     {Call::Write, kChunk, kChunk},
                                     {Call::Write, 2 * kChunk, kChunk},
                                     {Call::Flush},
                                     {Call::Write, 0, kChunk},
                                     {Call::Flush}};
    QVERIFY(device.calls == expected);
    QVERIFY(std::all_of(device.bytes.end() - kMiB, device.bytes.end(),
                        [](std::byte b) { return b == std::byte{0}; }));
}

void TestFlashJob::readsTheFirstChunkBackLast()
{
    ScriptedSource source(noise(3 * kChunk));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    QCOMPARE(setup.flash(source, device).report.verdict, Verdict::Verified);
    std::vector<Offset> reads;
    for (const auto& call : device.calls) {
        if (call.kind == MemoryDevice::Call::Read) {
            reads.push_back(call.offset);
        }
    }
    QCOMPARE(reads, (std::vector<Offset>{kChunk, 2 * kChunk, 0}));
}

void TestFlashJob::tellsTheSha256OfTheImage()
{
    std::vector<std::byte> image(3 * kChunk + 3, std::byte{'a'});
    ScriptedSource source(image);
    MemoryDevice device(4 * kMiB);
    const Run run = Setup().flash(source, device);
    // head -c 196611 /dev/zero | tr '\0' a | sha256sum
    QCOMPARE(run.report.sha256,
             std::string("c76a72f58a29c6263e7db8a13d59eb390ac6f96e9a34c6f20ccfbc379b12509f"));
}

void TestFlashJob::leavesTheSha256OutOnRequest()
{
    ScriptedSource source(noise(3 * kChunk));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.sha256 = false;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QVERIFY(run.report.sha256.empty());
}

void TestFlashJob::refusesAnImageThatIsTooLargeBeforeTouchingTheDrive()
{
    ScriptedSource source(noise(2 * kMiB + 1));
    MemoryDevice device(2 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::ImageTooLarge);
    QVERIFY(!run.report.driveTouched);
    QVERIFY(device.calls.empty());
}

void TestFlashJob::saysWhenAnImageOfUnknownSizeOutgrowsTheDrive()
{
    ScriptedSource source(noise(2 * kMiB + 1), false);
    MemoryDevice device(2 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::ImageGrewPastDrive);
    QCOMPARE(run.report.error->offset, Offset(2 * kMiB));
    QVERIFY(run.report.driveTouched);
    QVERIFY(!device.misaligned);
}

void TestFlashJob::leavesTheDriveAloneWhenTheImageIsBadFromTheStart()
{
    ScriptedSource source(noise(3 * kChunk));
    source.error = FlashError{.code = ErrorCode::ImageCorrupt};
    MemoryDevice device(4 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::ImageCorrupt);
    QVERIFY(!run.report.driveTouched);
    QVERIFY(untouched(device));
}

void TestFlashJob::refusesAnEmptyImage()
{
    ScriptedSource source({}, false);
    MemoryDevice device(4 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::ImageEmpty);
    QVERIFY(untouched(device));
}

void TestFlashJob::failsWhenTheImageEndsBadly_data()
{
    QTest::addColumn<ErrorCode>("code");
    QTest::newRow("truncated") << ErrorCode::ImageTruncated;
    QTest::newRow("corrupt") << ErrorCode::ImageCorrupt;
    QTest::newRow("unreadable") << ErrorCode::ImageUnreadable;
    QTest::newRow("changed") << ErrorCode::ImageChanged;
}

void TestFlashJob::failsWhenTheImageEndsBadly()
{
    QFETCH(ErrorCode, code);
    ScriptedSource source(noise(5 * kChunk), false);
    source.error = FlashError{.code = code};
    source.errorAt = 5 * kChunk;
    MemoryDevice device(4 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, code);
    QCOMPARE(run.report.endedIn, Phase::Writing);
    // The first chunk is not there: the drive does not look whole.
    QVERIFY(std::all_of(device.bytes.begin(), device.bytes.begin() + kChunk,
                        [](std::byte b) { return b == std::byte{0}; }));
}

void TestFlashJob::retriesAPassingWriteError()
{
    ScriptedSource source(noise(5 * kChunk));
    MemoryDevice device(4 * kMiB);
    device.writeFaults.push_back({{2 * kChunk + 512, 512}, ioError(ErrorCode::WriteFailed), 3});
    // The clearing passes over it too; that is one of the three.
    device.writeFaults.back().range = {2 * kMiB - kChunk, 512};
    source.bytes = noise(2 * kMiB);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.retries, 3U);
    QCOMPARE(run.all<Retrying>().size(), 3U);
    QVERIFY(driveHolds(device, source.bytes));
}

void TestFlashJob::givesUpOnALastingWriteError()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    device.writeFaults.push_back({{kMiB + kChunk + 1024, 512}, ioError(ErrorCode::WriteFailed)});
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::WriteFailed);
    QCOMPARE(run.report.error->sysErrno, EIO);
    QCOMPARE(run.report.error->offset, Offset(kMiB + kChunk + 1024));
    QCOMPARE(run.report.error->phase, Phase::Writing);
    QCOMPARE(run.report.retries, 3U);
}

void TestFlashJob::neverRetriesADriveThatIsGone()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    device.writeFaults.push_back({{kMiB + kChunk, 512}, ioError(ErrorCode::DriveGone, ENODEV)});
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::DriveGone);
    QCOMPARE(run.report.error->offset, Offset(kMiB + kChunk));
    QCOMPARE(run.report.retries, 0U);
}

void TestFlashJob::endsAsChangedWhenTheCardWasSwapped()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    device.writeFaults.push_back({{kMiB + kChunk, 512}, ioError(ErrorCode::WriteFailed)});
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.offset == kMiB + kChunk) {
            device.changed = true;
        }
    };
    Setup setup;
    setup.plan.depth = 1; // or another write may be the first to notice
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveChanged);
    QCOMPARE(run.report.error->offset, Offset(kMiB + kChunk));
    QCOMPARE(run.report.retries, 0U);
}

void TestFlashJob::writesNothingToACardThatWasSwappedBeforeTheFirstWrite()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    source.onRead = [&](std::size_t) { device.changed = true; }; // while the image was slow
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveChanged);
    QVERIFY(untouched(device));
}

void TestFlashJob::verifyOnlyNoticesASwappedCard()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin()); // the other card holds the same image
    source.onRead = [&](std::size_t at) { device.changed = at > kMiB; };
    const Run run = Setup().flash(source, device, runVerify);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveChanged);
}

void TestFlashJob::knowsAPulledDriveByItsFlush()
{
    /// Fails the flush, and is still there when it is asked at once.
    class Parting : public MemoryDevice
    {
    public:
        using MemoryDevice::MemoryDevice;
        Result<void> checkIdentity() override
        {
            return flushError && ++m_asked > 3 ? failure(ErrorCode::DriveGone, ENOMEDIUM) : Result<void>();
        }

    private:
        int m_asked = 0;
    };
    ScriptedSource source(noise(2 * kMiB));
    Parting device(4 * kMiB);
    device.flushError = ioError(ErrorCode::FlushFailed);
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::DriveGone);
}

void TestFlashJob::reportsAFailedFlush()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.offset == kMiB && call.kind == MemoryDevice::Call::Write) {
            device.flushError = ioError(ErrorCode::FlushFailed);
        }
    };
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::FlushFailed);
    QCOMPARE(run.report.error->phase, Phase::Flushing);
}

void TestFlashJob::noticesACardSwappedDuringTheLastFlush_data()
{
    QTest::addColumn<bool>("fails");
    QTest::newRow("that passes") << false;
    QTest::newRow("that fails") << true;
}

void TestFlashJob::noticesACardSwappedDuringTheLastFlush()
{
    QFETCH(bool, fails);
    ScriptedSource source(noise(3 * kChunk));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.verify = false; // which would notice it later
    int flushes = 0;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Flush && ++flushes == 3) {
            device.changed = true;
            if (fails) {
                device.flushError = ioError(ErrorCode::FlushFailed);
            }
        }
    };
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveChanged);
    QCOMPARE(run.report.error->offset, Offset(source.bytes.size())); // how far it came
}

void TestFlashJob::findsEveryRangeThatDiffers()
{
    ScriptedSource source(noise(9 * kChunk + 700));
    MemoryDevice device(4 * kMiB);
    int flushes = 0;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Flush && ++flushes == 3) {
            for (const std::size_t at :
                 {std::size_t{5}, 3 * kChunk + 9, 4 * kChunk - 1, 4 * kChunk, 9 * kChunk + 699}) {
                device.bytes[at] ^= std::byte{1};
            }
        }
    };
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::VerifyMismatch);
    QCOMPARE(run.report.error->offset, Offset(0));
    const std::vector<BadRange> expected{{.range = {0, kChunk}, .sameAgain = true},
                                         {.range = {3 * kChunk, 2 * kChunk}, .sameAgain = true},
                                         {.range = {9 * kChunk, 700}, .sameAgain = true}};
    QVERIFY(run.report.badRanges == expected);
    QCOMPARE(run.all<RangeDiffered>().size(), 4U);
    QCOMPARE(run.report.bytesVerified, source.bytes.size());
    QVERIFY(!run.report.counterfeit);
}

void TestFlashJob::saysWhetherASecondReadAgrees()
{
    ScriptedSource source(noise(4 * kChunk));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Read && call.offset == kChunk) {
            device.bytes[kChunk] ^= std::byte{1}; // wrong at the first read, right at the second
        }
    };
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QVERIFY((run.report.badRanges == std::vector<BadRange>{{.range = {kChunk, kChunk}, .sameAgain = false}}));
}

void TestFlashJob::listsUnreadableRangesAndGoesOn()
{
    QFETCH(decltype(&runFlash), job);
    ScriptedSource source(noise(6 * kChunk));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    device.readFaults.push_back({{2 * kChunk + 512, 512}, ioError(ErrorCode::ReadBackFailed)});
    device.readFaults.push_back(
        {{4 * kChunk, 512}, ioError(ErrorCode::ReadBackFailed), 1}); // passes at the second try
    const Run run = Setup().flash(source, device, job);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::ReadBackFailed);
    QVERIFY((run.report.badRanges
             == std::vector<BadRange>{{.range = {2 * kChunk, kChunk}, .unreadable = true, .sysErrno = EIO}}));
    QCOMPARE(run.report.bytesVerified, source.bytes.size() - kChunk);
}

void TestFlashJob::endsTheVerifyWhenTheDriveIsGone()
{
    QFETCH(decltype(&runFlash), job);
    ScriptedSource source(noise(6 * kChunk));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    device.readFaults.push_back({{2 * kChunk + 512, 512}, ioError(ErrorCode::DriveGone, ENODEV)});
    const Run run = Setup().flash(source, device, job);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveGone);
    QCOMPARE(run.report.error->offset, Offset(2 * kChunk + 512));
    QCOMPARE(run.report.error->phase, Phase::Verifying);
    QVERIFY(run.report.badRanges.empty());
}

void TestFlashJob::endsTheVerifyWhenTheDriveGoesAtTheSecondRead()
{
    QFETCH(decltype(&runFlash), job);
    ScriptedSource source(noise(4 * kChunk));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    int reads = 0;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Read && call.offset == kChunk) {
            device.bytes[kChunk] ^= std::byte{1};
            if (++reads == 2) {
                device.readFaults.push_back({{kChunk, 512}, ioError(ErrorCode::DriveGone, ENODEV)});
            }
        }
    };
    const Run run = Setup().flash(source, device, job);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveGone);
}

void TestFlashJob::blamesNoRangeOfASwappedCard()
{
    QFETCH(decltype(&runFlash), job);
    ScriptedSource source(noise(6 * kChunk));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    device.readFaults.push_back({{2 * kChunk, 512}, ioError(ErrorCode::ReadBackFailed)});
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Read && call.offset == 2 * kChunk) {
            device.changed = true;
        }
    };
    const Run run = Setup().flash(source, device, job);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QCOMPARE(run.report.error->code, ErrorCode::DriveChanged);
    QVERIFY(run.report.badRanges.empty());
    QVERIFY(run.all<RangeDiffered>().empty());
}

void TestFlashJob::namesADriveThatWraps_data()
{
    QTest::addColumn<qulonglong>("real");
    QTest::newRow("on a chunk") << qulonglong(kMiB);
    QTest::newRow("within a chunk") << qulonglong(kMiB + 5 * 512);
    QTest::newRow("more than half") << qulonglong(3 * kMiB);
}

void TestFlashJob::namesADriveThatWraps()
{
    QFETCH(qulonglong, real);
    ScriptedSource source(noise(4 * kMiB));
    MemoryDevice device(4 * kMiB);
    device.realSize = real;
    device.wraps = true;
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QVERIFY(run.report.counterfeit);
    QCOMPARE(run.report.counterfeit->likelySize, Bytes(real));
    QVERIFY(run.report.counterfeit->wraps);
}

void TestFlashJob::namesADriveThatLosesWhatLiesBeyond()
{
    auto image = noise(4 * kMiB);
    std::fill(image.begin() + 3 * kMiB, image.begin() + 3 * kMiB + 4 * kChunk,
              std::byte{0}); // these read back right
    ScriptedSource source(image);
    MemoryDevice device(4 * kMiB);
    device.realSize = kMiB + 3 * 4096;
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QVERIFY(run.report.counterfeit);
    QCOMPARE(run.report.counterfeit->likelySize, Bytes(kMiB + 3 * 4096));
    QVERIFY(!run.report.counterfeit->wraps);
}

void TestFlashJob::callsAnOrdinaryErrorNoCounterfeit()
{
    // Equal and constant chunks give data that "belong elsewhere" by the dozen; they are no evidence.
    std::vector<std::byte> image(32 * kChunk, std::byte{0});
    std::ranges::copy(noise(kChunk), image.begin() + 8 * kChunk);
    std::ranges::copy(noise(kChunk), image.begin() + 16 * kChunk);
    ScriptedSource source(image);
    MemoryDevice device(4 * kMiB);
    int flushes = 0;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Flush && ++flushes == 3) {
            std::fill_n(device.bytes.begin() + 8 * kChunk, kChunk, std::byte{0xFF});
        }
    };
    const Run run = Setup().flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::VerifyMismatch);
    QVERIFY(!run.report.counterfeit);
}

void TestFlashJob::cancelsInEveryPhase_data()
{
    QTest::addColumn<int>("call");
    QTest::addColumn<Phase>("phase");
    // Calls of the drive, one at a time: 2 clearing, flush, 31 chunks, flush, the first chunk, flush, 32
    // reads.
    QTest::newRow("clearing") << 0 << Phase::Writing;
    QTest::newRow("first flush") << 2 << Phase::Writing;
    QTest::newRow("writing, begun") << 4 << Phase::Writing;
    QTest::newRow("writing, nearly done") << 32 << Phase::Writing;
    QTest::newRow("flushing") << 34 << Phase::Flushing;
    QTest::newRow("first chunk") << 35 << Phase::Flushing;
    QTest::newRow("last flush") << 36 << Phase::Flushing;
    QTest::newRow("verifying") << 50 << Phase::Verifying;
    QTest::newRow("verifying the last") << 68 << Phase::Verifying;
}

void TestFlashJob::cancelsInEveryPhase()
{
    QFETCH(int, call);
    QFETCH(Phase, phase);
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    int calls = 0;
    device.onCall = [&](const MemoryDevice::Call&) {
        if (calls++ == call) {
            setup.cancel.request_stop();
        }
    };
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Cancelled);
    QCOMPARE(run.report.endedIn, phase);
    QVERIFY(calls <= call + 2);
    QVERIFY(run.report.driveTouched);
}

void TestFlashJob::skipsTheVerifyOnRequest()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    int reads = 0;
    device.onCall = [&](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Read && ++reads == 3) {
            setup.skipVerify.request_stop();
        }
    };
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::WrittenNotVerified);
    QCOMPARE(run.report.bytesVerified, Bytes(3 * kChunk));
}

void TestFlashJob::withoutVerifyIsNotCalledVerified()
{
    ScriptedSource source(noise(2 * kMiB));
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.verify = false;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::WrittenNotVerified);
    QCOMPARE(run.report.bytesVerified, Bytes(0));
    QCOMPARE(run.phases(), (std::vector{Phase::Preparing, Phase::Writing, Phase::Flushing}));
}

void TestFlashJob::countsOnlyWhatTheDriveAcknowledged()
{
    ScriptedSource source(noise(2 * kMiB), false);
    MemoryDevice device(4 * kMiB);
    Setup setup;
    setup.plan.depth = 1;
    setup.plan.verify = false;
    device.writeFaults.push_back({{10 * kChunk, 512}, ioError(ErrorCode::DriveGone, ENODEV)});
    // The clearing touches it too, so the fault starts to count afterwards.
    device.writeFaults.back().range = {kMiB + 4 * kChunk, 512};
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.bytesWritten, Bytes(kMiB + 3 * kChunk)); // all before it but the first chunk
    for (const auto& advanced : run.all<Advanced>()) {
        QVERIFY(advanced.done <= run.report.bytesWritten);
    }
}

void TestFlashJob::verifyOnlyWritesNothing()
{
    ScriptedSource source(noise(2 * kMiB + 77));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    const Run run = Setup().flash(source, device, runVerify);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QVERIFY(!run.report.driveTouched);
    for (const auto& call : device.calls) {
        QVERIFY(call.kind == MemoryDevice::Call::Read);
    }
}

void TestFlashJob::verifyOnlyFindsDifferences()
{
    ScriptedSource source(noise(2 * kMiB + 77));
    MemoryDevice device(4 * kMiB);
    std::ranges::copy(source.bytes, device.bytes.begin());
    device.bytes[0] ^= std::byte{1};
    device.bytes[2 * kMiB + 76] ^= std::byte{1};
    const Run run = Setup().flash(source, device, runVerify);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    const std::vector<BadRange> expected{{.range = {0, kChunk}, .sameAgain = true},
                                         {.range = {2 * kMiB, 77}, .sameAgain = true}};
    QVERIFY(run.report.badRanges == expected);
}

QTEST_APPLESS_MAIN(TestFlashJob)
#include "tst_flashjob.moc"
