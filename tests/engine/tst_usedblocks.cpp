// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/digest.h"
#include "engine/flashstate.h"
#include "engine/rangelist.h"
#include "engine/writemap.h"
#include "tests/support/jobrun.h"

#include <QTest>

#include <algorithm>
#include <cerrno>

using namespace burin;
using namespace burin::test;

namespace {

constexpr std::byte kOld{0xA5}; // what MemoryDevice holds at first
constexpr Bytes kSize = 4 * kMiB + 700;
constexpr Bytes kDrive = 8 * kMiB;

std::string sumOf(std::span<const std::byte> data)
{
    auto digest = Digest::create(DigestKind::Sha256);
    digest->add(data);
    return digest->hex();
}

/// Far enough apart that nothing is written along; one that begins and ends within chunks and logical
/// blocks, one that holds zeros only, one at the image's end.
const std::vector<Range> kRanges{
    {0, 4096}, {kMiB + 12345, 3 * kChunk + 7}, {2 * kMiB + 4096, 8192}, {3 * kMiB, kChunk}, {4 * kMiB, 700}};

std::shared_ptr<UsedBlocks> fileSystems(std::vector<Range> ranges = kRanges)
{
    return std::make_shared<UsedBlocks>(
        UsedBlocks{.source = UsedBlocksSource::FileSystems, .imageSize = kSize, .ranges = std::move(ranges)});
}

/// Noise in the ranges but the fourth, which a file owns and which is zero; zeros elsewhere.
std::vector<std::byte> sparseImage()
{
    std::vector<std::byte> image(kSize, std::byte{0});
    const auto data = noise(kSize);
    for (std::size_t i = 0; i < kRanges.size(); ++i) {
        if (i != 3) {
            const auto from = data.begin() + static_cast<std::ptrdiff_t>(kRanges[i].offset);
            std::copy_n(from, kRanges[i].length,
                        image.begin() + static_cast<std::ptrdiff_t>(kRanges[i].offset));
        }
    }
    return image;
}

std::shared_ptr<UsedBlocks> bmapOf(const std::vector<std::byte>& image)
{
    auto used = fileSystems();
    used->source = UsedBlocksSource::Bmap;
    for (const auto& range : used->ranges) {
        used->sums.push_back(sumOf(std::span(image).subspan(range.offset, range.length)));
    }
    return used;
}

bool holds(const MemoryDevice& device, const std::vector<std::byte>& image, Range range)
{
    return std::equal(image.begin() + static_cast<std::ptrdiff_t>(range.offset),
                      image.begin() + static_cast<std::ptrdiff_t>(range.end()),
                      device.bytes.begin() + static_cast<std::ptrdiff_t>(range.offset));
}

bool isAll(const MemoryDevice& device, Range range, std::byte value)
{
    return std::all_of(device.bytes.begin() + static_cast<std::ptrdiff_t>(range.offset),
                       device.bytes.begin() + static_cast<std::ptrdiff_t>(range.end()),
                       [value](std::byte b) { return b == value; });
}

/// Behind the first MiB, which is cleared, and away from what is used.
const std::vector<Range> kUnused{{kMiB + 12345 + 3 * kChunk + 8192, 256 * kKiB},
                                 {2 * kMiB + 16384, 512 * kKiB},
                                 {3 * kMiB + kChunk, 512 * kKiB}};

} // namespace

class TestUsedBlocks : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void roundsRangesOutAndClosesSmallGaps();
    void cutsRangesAndGapsOutOfAWindow();
    void writesAndVerifiesWhatIsUsedAndLeavesTheRest_data();
    void writesAndVerifiesWhatIsUsedAndLeavesTheRest();
    void writesZerosThatAreUsed();
    void tellsTheSha256OfTheWholeImage();
    void countsOnlyWhatIsToBeWritten();
    void findsADifferenceInAUsedBlock();
    void blamesNothingThatIsUnused();
    void clearsTheRestOnRequest();
    void provesThatTheRestIsClear();
    void takesABlockMapWhoseSumsMatch();
    void failsWhereARangeDiffersFromItsSum();
    void failsWhereTheImageEndsBeforeTheMap();
    void writesEverythingWhenTheMapLeavesOutData_data();
    void writesEverythingWhenTheMapLeavesOutData();
    void writesEverythingWhenTheImageIsLongerThanTheMap();
    void comparesEverythingWhenTheMapLeavesOutData();
    void verifyOnlyLooksAtWhatIsUsed();
    void neverVerifiesAWrappingDrive();
    void namesADriveThatLosesWhatLiesBeyond();
    void writesNothingWhereNothingDiffers();
    void writesOnlyWhatDiffers();
    void clearsAnOldTableBehindTheImage();
    void aCutOffDifferenceJobNeverLooksWhole();
    void rewritingNeverMendsAWrappingDrive();
    void aFailedReadCountsAsDifferent();
    void followsThePositionOnTheImage();
};

void TestUsedBlocks::roundsRangesOutAndClosesSmallGaps()
{
    const std::vector<Range> ranges{{1, 10}, {600, 500}, {5000, 1}, {100'000, 5}};
    QVERIFY((roundedOut(ranges, 512, 0) == std::vector<Range>{{0, 1536}, {4608, 512}, {99'840, 512}}));
    QVERIFY((roundedOut(ranges, 512, 4096) == std::vector<Range>{{0, 5120}, {99'840, 512}}));
    QVERIFY((joined({{10, 5}, {0, 3}, {12, 20}, {3, 2}, {40, 0}}) == std::vector<Range>{{0, 5}, {10, 22}}));
}

void TestUsedBlocks::cutsRangesAndGapsOutOfAWindow()
{
    const std::vector<Range> ranges{{10, 10}, {30, 10}, {50, 10}};
    QVERIFY((partsWithin(ranges, {15, 20}) == std::vector<Range>{{15, 5}, {30, 5}}));
    QVERIFY((gapsWithin(ranges, {15, 20}) == std::vector<Range>{{20, 10}}));
    QVERIFY((gapsWithin(ranges, {0, 100}) == std::vector<Range>{{0, 10}, {20, 10}, {40, 10}, {60, 40}}));
    QVERIFY(partsWithin(ranges, {20, 10}).empty());
    QVERIFY((gapsWithin(ranges, {20, 10}) == std::vector<Range>{{20, 10}}));
    QVERIFY(gapsWithin(ranges, {30, 10}).empty());
}

void TestUsedBlocks::writesAndVerifiesWhatIsUsedAndLeavesTheRest_data()
{
    QTest::addColumn<int>("block");
    QTest::addColumn<bool>("tellsSize");
    for (const int block : {512, 4096}) {
        for (const bool tells : {true, false}) {
            QTest::addRow("block %d, size %s", block, tells ? "known" : "unknown") << block << tells;
        }
    }
}

void TestUsedBlocks::writesAndVerifiesWhatIsUsedAndLeavesTheRest()
{
    QFETCH(int, block);
    QFETCH(bool, tellsSize);
    ScriptedSource source(noise(kSize), tellsSize); // free blocks hold something too
    MemoryDevice device(kDrive, static_cast<std::uint32_t>(block));
    Setup setup;
    setup.plan.used = fileSystems();

    const Run run = setup.flash(source, device);

    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::UsedBlocks);
    QVERIFY(!device.misaligned);
    for (const auto& range : kRanges) {
        QVERIFY(holds(device, source.bytes, range));
    }
    for (const auto& range : kUnused) {
        QVERIFY(isAll(device, range, kOld));
    }
    const Bytes total = WriteMap({.used = setup.plan.used, .chunkSize = kChunk}).total().value();
    QCOMPARE(run.report.bytesWritten, total);
    QCOMPARE(run.report.bytesVerified, total);
    QCOMPARE(run.report.bytesSkipped, kSize - total);
    QVERIFY(total < kSize / 2);
}

void TestUsedBlocks::writesZerosThatAreUsed()
{
    ScriptedSource source(sparseImage());
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = fileSystems();
    QCOMPARE(setup.flash(source, device).report.verdict, Verdict::Verified);
    QVERIFY(isAll(device, kRanges[3], std::byte{0}));
    QVERIFY(isAll(device, kUnused[2], kOld)); // zeros that nobody owns
}

void TestUsedBlocks::tellsTheSha256OfTheWholeImage()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = fileSystems();
    QCOMPARE(setup.flash(source, device).report.sha256, sumOf(source.bytes));
}

void TestUsedBlocks::countsOnlyWhatIsToBeWritten()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = fileSystems();
    const Run run = setup.flash(source, device);
    for (const auto& started : run.all<PhaseStarted>()) {
        if (started.phase == Phase::Writing || started.phase == Phase::Verifying) {
            QCOMPARE(started.total, run.report.bytesWritten);
        }
    }
    QCOMPARE(run.all<Advanced>().back().done, run.report.bytesWritten);
}

/// After the last flush of the write.
void breakAfterWriting(MemoryDevice& device, Offset at)
{
    auto flushes = std::make_shared<int>(0);
    device.onCall = [&device, flushes, at](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Flush && ++*flushes == 3) {
            device.bytes[at] ^= std::byte{1};
        }
    };
}

void TestUsedBlocks::findsADifferenceInAUsedBlock()
{
    for (const Offset at :
         {Offset{5}, kRanges[1].offset, kRanges[1].end() - 1, kRanges[3].offset, kSize - 1}) {
        ScriptedSource source(noise(kSize));
        MemoryDevice device(kDrive);
        breakAfterWriting(device, at);
        Setup setup;
        setup.plan.used = fileSystems();
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.verdict, Verdict::Failed);
        QCOMPARE(run.report.badRanges.size(), std::size_t(1));
        const Range bad = run.report.badRanges[0].range;
        QVERIFY(bad.offset <= at && at < bad.end() && bad.end() <= kSize);
        QVERIFY(run.report.badRanges[0].sameAgain);
    }
}

void TestUsedBlocks::blamesNothingThatIsUnused()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    breakAfterWriting(device, kUnused[1].offset);
    Setup setup;
    setup.plan.used = fileSystems();
    QCOMPARE(setup.flash(source, device).report.verdict, Verdict::Verified);
}

void TestUsedBlocks::clearsTheRestOnRequest()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = fileSystems();
    setup.plan.clearRest = true;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::UsedBlocks);
    QCOMPARE(run.report.bytesSkipped, Bytes(0));
    QCOMPARE(run.report.bytesWritten, kSize);
    QCOMPARE(run.report.bytesVerified, kSize);
    QVERIFY(run.report.bytesCleared > kSize / 2);
    for (const auto& range : kRanges) {
        QVERIFY(holds(device, source.bytes, range));
    }
    for (const auto& range : kUnused) {
        QVERIFY(isAll(device, range, std::byte{0}));
    }
}

void TestUsedBlocks::provesThatTheRestIsClear()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    breakAfterWriting(device, kUnused[1].offset);
    Setup setup;
    setup.plan.used = fileSystems();
    setup.plan.clearRest = true;
    QCOMPARE(setup.flash(source, device).report.error->code, ErrorCode::VerifyMismatch);
}

void TestUsedBlocks::takesABlockMapWhoseSumsMatch()
{
    ScriptedSource source(sparseImage());
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = bmapOf(source.bytes);
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::UsedBlocks);
    QVERIFY(!run.report.refuted);
    QVERIFY(isAll(device, kUnused[1], kOld));
}

void TestUsedBlocks::failsWhereARangeDiffersFromItsSum()
{
    for (const std::size_t broken : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
        ScriptedSource source(sparseImage());
        MemoryDevice device(kDrive);
        Setup setup;
        const auto used = bmapOf(source.bytes);
        source.bytes[kRanges[broken].end() - 1] ^= std::byte{1};
        setup.plan.used = used;
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.error->code, ErrorCode::ImageCorrupt);
        QCOMPARE(run.report.error->offset, kRanges[broken].offset);
        QCOMPARE(run.report.driveTouched, broken != 0); // the first is seen before anything is written
        QVERIFY(isAll(device, {0, kChunk}, broken == 0 ? kOld : std::byte{0}));
    }
}

void TestUsedBlocks::failsWhereTheImageEndsBeforeTheMap()
{
    ScriptedSource source(sparseImage(), false);
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = bmapOf(source.bytes);
    source.bytes.resize(4 * kMiB - 5);
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::ImageCorrupt);
    QVERIFY(isAll(device, {0, kChunk}, std::byte{0}));
}

void TestUsedBlocks::writesEverythingWhenTheMapLeavesOutData_data()
{
    QTest::addColumn<qulonglong>("at");
    QTest::addColumn<bool>("clearRest");
    for (const bool clear : {false, true}) {
        QTest::addRow("in the first chunk, %d", clear) << qulonglong(5000) << clear;
        QTest::addRow("in a chunk of which nothing is used, %d", clear)
            << qulonglong(kUnused[1].offset) << clear;
        QTest::addRow("beside a used block, %d", clear) << qulonglong(kRanges[2].end()) << clear;
        QTest::addRow("in the last but one, %d", clear) << qulonglong(4 * kMiB - 1) << clear;
    }
}

void TestUsedBlocks::writesEverythingWhenTheMapLeavesOutData()
{
    QFETCH(qulonglong, at);
    QFETCH(bool, clearRest);
    ScriptedSource source(sparseImage());
    source.bytes[at] = std::byte{7};
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = bmapOf(sparseImage());
    setup.plan.clearRest = clearRest;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::EveryByte);
    QVERIFY(run.report.refuted);
    QCOMPARE(run.report.refuted->reason, MapRefuted::Reason::NotZero);
    QCOMPARE(run.all<MapRefuted>().size(), std::size_t(1));
    QVERIFY(!device.misaligned);
    QVERIFY(holds(device, source.bytes, {0, kSize}));
    QCOMPARE(run.report.bytesVerified, kSize);
    QCOMPARE(run.report.bytesSkipped, Bytes(0));
    if (!clearRest) {
        QCOMPARE(run.report.bytesWritten, kSize);
    }
}

void TestUsedBlocks::writesEverythingWhenTheImageIsLongerThanTheMap()
{
    ScriptedSource source(sparseImage(), false);
    MemoryDevice device(kDrive);
    Setup setup;
    setup.plan.used = bmapOf(source.bytes);
    source.bytes.resize(kSize + 3 * kChunk, std::byte{0});
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::EveryByte);
    QCOMPARE(run.report.refuted->reason, MapRefuted::Reason::OtherSize);
    QVERIFY(holds(device, source.bytes, {0, source.bytes.size()}));
}

void TestUsedBlocks::comparesEverythingWhenTheMapLeavesOutData()
{
    ScriptedSource source(sparseImage());
    source.bytes[4 * kMiB - 1] = std::byte{7};
    MemoryDevice device(kDrive);
    std::ranges::copy(source.bytes, device.bytes.begin());
    device.bytes[kUnused[0].offset] = std::byte{1}; // passed over before the map was refuted
    Setup setup;
    setup.plan.used = bmapOf(sparseImage());
    const Run run = setup.flash(source, device, runVerify);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    const Range bad = run.report.badRanges.front().range;
    QVERIFY(bad.offset <= kUnused[0].offset && kUnused[0].offset < bad.end());
}

void TestUsedBlocks::verifyOnlyLooksAtWhatIsUsed()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    for (const auto& range : kRanges) {
        const auto at = static_cast<std::ptrdiff_t>(range.offset);
        std::copy_n(source.bytes.begin() + at, range.length, device.bytes.begin() + at);
    }
    std::copy_n(source.bytes.begin(), kChunk, device.bytes.begin()); // the first chunk counts as a whole
    // What is rounded out to logical blocks is written, and so it is compared.
    const auto written = WriteMap({.used = fileSystems(), .chunkSize = kChunk}).ranges();
    for (const auto& range : written) {
        const auto at = static_cast<std::ptrdiff_t>(range.offset);
        std::copy_n(source.bytes.begin() + at, std::min(range.end(), kSize) - range.offset,
                    device.bytes.begin() + at);
    }
    Setup setup;
    setup.plan.used = fileSystems();
    Run run = setup.flash(source, device, runVerify);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.coverage, Coverage::UsedBlocks);
    QVERIFY(!run.report.driveTouched);

    device.bytes[kRanges[3].offset] ^= std::byte{1};
    ScriptedSource again(noise(kSize));
    run = setup.flash(again, device, runVerify);
    QCOMPARE(run.report.error->code, ErrorCode::VerifyMismatch);
}

void TestUsedBlocks::neverVerifiesAWrappingDrive()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    device.realSize = 2 * kMiB;
    device.wraps = true;
    Setup setup;
    setup.plan.used = fileSystems({{0, kChunk}, {kMiB, kMiB}, {3 * kMiB, kMiB}});
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QVERIFY(run.report.counterfeit);
    QCOMPARE(run.report.counterfeit->likelySize, Bytes(2 * kMiB));
}

void TestUsedBlocks::namesADriveThatLosesWhatLiesBeyond()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    device.realSize = kMiB + 3 * 4096;
    Setup setup;
    setup.plan.used = fileSystems({{0, kChunk}, {kMiB, 2 * kChunk}, {3 * kMiB + 512, kChunk}});
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Failed);
    QVERIFY(run.report.counterfeit);
    QCOMPARE(run.report.counterfeit->likelySize, Bytes(kMiB + 3 * 4096));
}

/// A drive that holds the image, and zeros behind it.
void load(MemoryDevice& device, const std::vector<std::byte>& image)
{
    std::ranges::fill(device.bytes, std::byte{0});
    std::ranges::copy(image, device.bytes.begin());
}

std::size_t writes(const MemoryDevice& device)
{
    return static_cast<std::size_t>(
        std::ranges::count(device.calls, MemoryDevice::Call::Write, &MemoryDevice::Call::kind));
}

void TestUsedBlocks::writesNothingWhereNothingDiffers()
{
    for (const bool tells : {true, false}) {
        ScriptedSource source(noise(kSize), tells);
        MemoryDevice device(kDrive);
        load(device, source.bytes);
        Setup setup;
        setup.plan.onlyDifferences = true;
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.verdict, Verdict::Verified);
        QCOMPARE(run.report.coverage, Coverage::EveryByte);
        QCOMPARE(writes(device), std::size_t(0));
        QCOMPARE(run.report.bytesWritten, Bytes(0));
        QCOMPARE(run.report.bytesUnchanged, kSize);
        QCOMPARE(run.report.bytesVerified, kSize);
        QVERIFY(!run.report.driveTouched);
        QCOMPARE(run.report.sha256, sumOf(source.bytes));
    }
}

void TestUsedBlocks::writesOnlyWhatDiffers()
{
    for (const Offset at : {Offset{3}, Offset{20 * kChunk + 9}, kSize - 1}) {
        ScriptedSource source(noise(kSize));
        MemoryDevice device(kDrive);
        load(device, source.bytes);
        device.bytes[at] ^= std::byte{1};
        Setup setup;
        setup.plan.onlyDifferences = true;
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.verdict, Verdict::Verified);
        QVERIFY(holds(device, source.bytes, {0, kSize}));
        QCOMPARE(run.report.bytesVerified, kSize); // a complete pass after the last write
        QVERIFY(run.report.bytesWritten <= 2 * kChunk);
        QVERIFY(run.report.driveTouched);
        QCOMPARE(run.phases().back(), Phase::Verifying);
        // The first chunk is written last.
        const auto last =
            std::ranges::find_last(device.calls, MemoryDevice::Call::Write, &MemoryDevice::Call::kind);
        QCOMPARE(last.front().offset, Offset(0));
        QCOMPARE(last.front().length, kChunk);
    }
}

void TestUsedBlocks::clearsAnOldTableBehindTheImage()
{
    for (const bool tells : {true, false}) {
        ScriptedSource source(noise(kSize), tells);
        MemoryDevice device(kDrive);
        load(device, source.bytes);
        device.bytes[kDrive - 512] = std::byte{'E'};
        Setup setup;
        setup.plan.onlyDifferences = true;
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.verdict, Verdict::Verified);
        QVERIFY(isAll(device, {kDrive - kMiB, kMiB}, std::byte{0}));
        QVERIFY(holds(device, source.bytes, {0, kSize}));
        QVERIFY(run.report.driveTouched);
    }
}

void TestUsedBlocks::aCutOffDifferenceJobNeverLooksWhole()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    load(device, source.bytes);
    device.bytes[20 * kChunk] ^= std::byte{1};
    device.writeFaults.push_back({{20 * kChunk, 512}, {.code = ErrorCode::DriveGone, .sysErrno = ENODEV}});
    Setup setup;
    setup.plan.onlyDifferences = true;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.error->code, ErrorCode::DriveGone);
    QVERIFY(isAll(device, {0, kChunk}, std::byte{0}));
}

void TestUsedBlocks::rewritingNeverMendsAWrappingDrive()
{
    MemoryDevice device(kDrive);
    device.realSize = 2 * kMiB + 3 * kChunk;
    device.wraps = true;
    for (int attempt = 0; attempt < 4; ++attempt) {
        ScriptedSource source(noise(kSize));
        Setup setup;
        setup.plan.onlyDifferences = attempt > 0;
        const Run run = setup.flash(source, device);
        QCOMPARE(run.report.verdict, Verdict::Failed);
        QCOMPARE(run.report.error->code, ErrorCode::VerifyMismatch);
    }
}

void TestUsedBlocks::aFailedReadCountsAsDifferent()
{
    ScriptedSource source(noise(kSize));
    MemoryDevice device(kDrive);
    load(device, source.bytes);
    device.readFaults.push_back(
        {{20 * kChunk, 512}, {.code = ErrorCode::ReadBackFailed, .sysErrno = EIO}, 1});
    Setup setup;
    setup.plan.onlyDifferences = true;
    const Run run = setup.flash(source, device);
    QCOMPARE(run.report.verdict, Verdict::Verified);
    QCOMPARE(run.report.bytesWritten, Bytes(2 * kChunk));
}

void TestUsedBlocks::followsThePositionOnTheImage()
{
    const auto ranges = std::make_shared<const std::vector<Range>>(
        std::vector<Range>{{0, kMiB}, {10 * kMiB, kMiB}, {20 * kMiB, 2 * kMiB}});
    auto now = Clock::now();
    FlashState state = initialState(true);
    const auto say = [&](decltype(FlashEvent::what) what) {
        now += std::chrono::seconds(1);
        state = reduce(state, {.at = now, .what = std::move(what)});
    };
    say(PhaseStarted{.phase = Phase::Writing, .total = 4 * kMiB, .ranges = ranges});
    say(Advanced{.done = kMiB + kMiB / 2});
    QCOMPARE(state.write.position(), Offset(10 * kMiB + kMiB / 2));
    QCOMPARE(state.fraction(), 1.5 / 4);
    QCOMPARE(state.write.curve.mean(), 1.5 * kMiB);
    say(Advanced{.done = 4 * kMiB});
    QCOMPARE(state.write.position(), Offset(22 * kMiB));
    // Nothing was written between the ranges, and no speed is told of it.
    QCOMPARE(state.write.curve.bins().at(5).bytes, 0.0);
    QVERIFY(state.write.curve.bins().at(21).bytes > 0);

    say(MapRefuted{.offset = 20 * kMiB, .total = 30 * kMiB});
    QCOMPARE(state.write.total, Bytes(30 * kMiB));
    QVERIFY(state.refuted);
}

QTEST_APPLESS_MAIN(TestUsedBlocks)
#include "tst_usedblocks.moc"
