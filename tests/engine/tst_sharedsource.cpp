// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/sharedsource.h"
#include "tests/support/jobrun.h"

#include <QTest>

#include <cerrno>
#include <list>
#include <semaphore>
#include <thread>

using namespace burin;
using namespace burin::test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t kSize = 40 * kChunk + 700; // far more than the ring and the jobs' own buffers
constexpr Bytes kDrive = 4 * kMiB;

std::string sumOf(std::span<const std::byte> data)
{
    auto digest = Digest::create(DigestKind::Sha256);
    digest->add(data);
    return digest->hex();
}

bool holds(const MemoryDevice& device, const std::vector<std::byte>& image)
{
    return std::equal(image.begin(), image.end(), device.bytes.begin());
}

/// One image, some drives, a clock that is set by hand.
struct Bench {
    std::vector<std::byte> image = noise(kSize);
    std::shared_ptr<ScriptedSource> source = std::make_shared<ScriptedSource>(image);
    std::atomic<int> reads = 0; ///< of the image, by the shared reader
    std::atomic<int> reopened = 0;
    std::atomic<std::chrono::steady_clock::duration> clock{};
    std::list<MemoryDevice> drives;
    std::list<Setup> setups;
    std::vector<Run> runs;

    explicit Bench(std::size_t count) : runs(count)
    {
        source->onRead = [this](std::size_t) { ++reads; };
        for (std::size_t i = 0; i < count; ++i) {
            drives.emplace_back(kDrive);
            setups.emplace_back();
        }
    }
    MemoryDevice& drive(std::size_t i) { return *std::next(drives.begin(), static_cast<std::ptrdiff_t>(i)); }
    Setup& setup(std::size_t i) { return *std::next(setups.begin(), static_cast<std::ptrdiff_t>(i)); }

    Sharing sharing(bool again = true)
    {
        Sharing sharing{.digests = {DigestKind::Sha256}, .blockSize = kChunk, .blocks = 3};
        sharing.now = [this] { return std::chrono::steady_clock::time_point(clock.load()); };
        if (again) {
            sharing.reopen = [this]() -> Result<std::unique_ptr<ImageSource>> {
                ++reopened;
                return std::make_unique<ScriptedSource>(image);
            };
        }
        return sharing;
    }

    void run(bool again = true)
    {
        auto branches = shareSource(source, drives.size(), sharing(again));
        QVERIFY(branches.has_value());
        std::vector<std::jthread> threads;
        for (std::size_t i = 0; i < drives.size(); ++i) {
            threads.emplace_back([this, i, branch = std::move((*branches)[i])]() mutable {
                runs[i] = setup(i).flash(*branch, drive(i));
                branch.reset();
            });
        }
    }

    /// The drive doesn't answer from its eighth chunk on until all others have their verdict; the clock goes
    /// on when the stuck drive is reached.
    void stall(std::size_t stalled)
    {
        auto others = std::make_shared<std::counting_semaphore<>>(0);
        const auto waits = static_cast<int>(drives.size()) - 1;
        drive(stalled).onCall = [=, this, done = false](const MemoryDevice::Call& call) mutable {
            if (!done && call.kind == MemoryDevice::Call::Write && call.offset == 8 * kChunk) {
                done = true;
                for (int i = 0; i < waits; ++i) {
                    while (!others->try_acquire_for(10ms)) {
                        clock = clock.load() + 1s;
                    }
                }
            }
        };
        for (std::size_t i = 0; i < drives.size(); ++i) {
            if (i != stalled) {
                setup(i).onEvent = [others, verifying = false](const FlashEvent& event) mutable {
                    const auto* phase = std::get_if<PhaseStarted>(&event.what);
                    if (phase && phase->phase == Phase::Verifying && !std::exchange(verifying, true)) {
                        others->release();
                    }
                };
            }
        }
    }
};

} // namespace

class TestSharedSource : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void allDrivesAreWrittenFromOneRead();
    void aDriveThatStallsIsSetAsideAndFinishesLater();
    void aDriveThatStallsWithAPipeIsTooSlow();
    void aDriveThatFailsLeavesTheOthers();
    void cancelEndsAll();
    void aWrongSumHoldsEveryFirstChunkBack();
    void aBadImageFailsOnAllDrives();
    void anImageThatIsAnotherWhenReadAgain();
};

void TestSharedSource::allDrivesAreWrittenFromOneRead()
{
    Bench bench(4);
    bench.run();
    for (std::size_t i = 0; i < 4; ++i) {
        QCOMPARE(bench.runs[i].report.verdict, Verdict::Verified);
        QCOMPARE(bench.runs[i].report.sha256, sumOf(bench.image));
        QCOMPARE(bench.runs[i].report.imageSize, Bytes(kSize));
        QVERIFY(holds(bench.drive(i), bench.image));
    }
    QCOMPARE(bench.reads.load(), 41);
    QCOMPARE(bench.reopened.load(), 0);
}

void TestSharedSource::aDriveThatStallsIsSetAsideAndFinishesLater()
{
    Bench bench(3);
    bench.stall(1); // which ends only if the others don't wait for it
    bench.run();
    for (std::size_t i = 0; i < 3; ++i) {
        QCOMPARE(bench.runs[i].report.verdict, Verdict::Verified);
        QCOMPARE(bench.runs[i].report.sha256, sumOf(bench.image));
        QVERIFY(holds(bench.drive(i), bench.image));
    }
    QCOMPARE(bench.reads.load(), 41);
    QCOMPARE(bench.reopened.load(), 1);
}

void TestSharedSource::aDriveThatStallsWithAPipeIsTooSlow()
{
    Bench bench(2);
    bench.stall(0);
    bench.run(false);
    QCOMPARE(bench.runs[0].report.verdict, Verdict::Failed);
    QCOMPARE(bench.runs[0].report.error->code, ErrorCode::DriveTooSlow);
    QVERIFY(bench.runs[0].report.error->offset > Bytes(0));
    QVERIFY(!holds(bench.drive(0), bench.image));
    QCOMPARE(bench.runs[1].report.verdict, Verdict::Verified);
}

void TestSharedSource::aDriveThatFailsLeavesTheOthers()
{
    Bench bench(3);
    bench.drive(2).writeFaults.push_back(
        {{20 * kChunk, kChunk}, {.code = ErrorCode::DriveGone, .sysErrno = ENODEV}});
    bench.run();
    QCOMPARE(bench.runs[2].report.error->code, ErrorCode::DriveGone);
    for (std::size_t i = 0; i < 2; ++i) {
        QCOMPARE(bench.runs[i].report.verdict, Verdict::Verified);
        QVERIFY(holds(bench.drive(i), bench.image));
    }
    QCOMPARE(bench.reads.load(), 41);
}

void TestSharedSource::cancelEndsAll()
{
    Bench bench(3);
    bench.drive(0).onCall = [&bench](const MemoryDevice::Call& call) {
        if (call.kind == MemoryDevice::Call::Write && call.offset == 8 * kChunk) {
            for (auto& setup : bench.setups) {
                setup.cancel.request_stop();
            }
        }
    };
    bench.run();
    for (const auto& run : bench.runs) {
        QCOMPARE(run.report.verdict, Verdict::Cancelled);
    }
    QVERIFY(bench.reads < 41);
}

void TestSharedSource::aWrongSumHoldsEveryFirstChunkBack()
{
    Bench bench(2);
    for (auto& setup : bench.setups) {
        setup.plan.sums = {
            {.kind = DigestKind::Sha256, .hex = sumOf(noise(10)), .fileName = {}, .origin = {}}};
    }
    bench.run();
    for (std::size_t i = 0; i < 2; ++i) {
        QCOMPARE(bench.runs[i].report.error->code, ErrorCode::ImageCorrupt);
        QVERIFY(std::all_of(bench.drive(i).bytes.begin(), bench.drive(i).bytes.begin() + kChunk,
                            [](std::byte b) { return b == std::byte{0}; }));
    }
}

void TestSharedSource::aBadImageFailsOnAllDrives()
{
    Bench bench(2);
    bench.source->error = FlashError{.code = ErrorCode::ImageCorrupt};
    bench.source->errorAt = 30 * kChunk;
    bench.run();
    for (const auto& run : bench.runs) {
        QCOMPARE(run.report.error->code, ErrorCode::ImageCorrupt);
    }
}

void TestSharedSource::anImageThatIsAnotherWhenReadAgain()
{
    Bench bench(2);
    bench.stall(0);
    bench.image.back() = ~bench.image.back();
    bench.run();
    QCOMPARE(bench.runs[0].report.error->code, ErrorCode::ImageChanged);
    QCOMPARE(bench.runs[1].report.verdict, Verdict::Verified);
}

QTEST_APPLESS_MAIN(TestSharedSource)
#include "tst_sharedsource.moc"
