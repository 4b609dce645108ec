// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/flashstate.h"
#include "engine/units.h"

#include <QTest>

using namespace burin;
using namespace std::chrono_literals;

namespace {

constexpr Bytes kMB = 1'000'000;

/// Feeds events and keeps the clock.
struct Story {
    FlashState state = initialState(true);
    Clock::time_point now{};

    void tell(decltype(FlashEvent::what) what)
    {
        state = reduce(state, {.at = now, .what = std::move(what)});
    }
    /// `seconds` of steady progress, ten events a second.
    void run(int seconds, Bytes perSecond)
    {
        const Bytes begin = state.pass().done;
        for (int i = 1; i <= seconds * 10; ++i) {
            now += 100ms;
            tell(Advanced{.done = begin + perSecond * static_cast<unsigned>(i) / 10});
        }
    }
};

} // namespace

class TestFlashState : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void followsThePhases();
    void drawsBothCurvesOverThePosition();
    void foretellsTheTimeLeftWithTheVerify();
    void timeLeftFollowsTheRecentRate();
    void saysNothingOfTheTimeBeforeThereIsARate();
    void measuresByTheFileWhereTheSizeIsNotKnown();
    void neverFallsBack();
    void collectsWhatDiffered();
    void remembersAStallUntilItMoves();
    void ignoresWhatComesAfterTheEnd();
    void survivesEventsInAnyOrder();
};

void TestFlashState::followsThePhases()
{
    Story story;
    QCOMPARE(story.state.phase, Phase::Preparing);
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    story.run(2, 10 * kMB);
    QCOMPARE(story.state.phase, Phase::Writing);
    QCOMPARE(*story.state.fraction(), 0.2);
    story.tell(PhaseStarted{.phase = Phase::Flushing});
    QCOMPARE(story.state.phase, Phase::Flushing);
    story.tell(Advanced{.done = 100 * kMB}); // the first chunk, written last
    QCOMPARE(story.state.write.done, 100 * kMB);
    story.tell(PhaseStarted{.phase = Phase::Verifying, .total = 100 * kMB});
    QCOMPARE(*story.state.fraction(), 0.0);
    story.run(1, 50 * kMB);
    QCOMPARE(story.state.verify.done, 50 * kMB);
    QCOMPARE(story.state.write.done, 100 * kMB);
    story.tell(Finished{.report = {.verdict = Verdict::Verified}});
    QCOMPARE(story.state.phase, Phase::Finished);
    QCOMPARE(story.state.report->verdict, Verdict::Verified);
}

void TestFlashState::drawsBothCurvesOverThePosition()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    story.run(5, 10 * kMB);
    story.run(1, 50 * kMB);
    QVERIFY(std::abs(story.state.write.curve.bins().front().rate() - 10e6) < 1e5);
    QVERIFY(std::abs(story.state.write.curve.bins().back().rate() - 50e6) < 5e5);
    story.tell(PhaseStarted{.phase = Phase::Verifying, .total = 100 * kMB});
    story.run(1, 100 * kMB);
    QVERIFY(std::abs(story.state.verify.curve.mean() - 100e6) < 1e6);
    QVERIFY(std::abs(story.state.write.curve.mean() - 100e6 / 6) < 1e6);
}

void TestFlashState::foretellsTheTimeLeftWithTheVerify()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    story.run(5, 10 * kMB);
    // 50 MB to write at 10 MB/s, then 100 MB to read, taken to be as fast.
    QCOMPARE(*story.state.timeLeft(), 15s);
    QCOMPARE(*story.state.verifyTimeExpected(), 10s);
    Story without = story;
    without.state.willVerify = false;
    QCOMPARE(*without.state.timeLeft(), 5s);
    story.tell(PhaseStarted{.phase = Phase::Verifying, .total = 100 * kMB});
    story.run(2, 20 * kMB);
    QCOMPARE(*story.state.timeLeft(), 3s);
}

void TestFlashState::timeLeftFollowsTheRecentRate()
{
    Story story;
    story.state.willVerify = false;
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 4000 * kMB});
    story.run(8, 200 * kMB); // the fast cache
    story.run(20, 2 * kMB);  // and then the truth
    const double left = static_cast<double>(story.state.timeLeft()->count());
    QVERIFY(std::abs(left - (4000 - 1640) / 2.0) < 5);
}

void TestFlashState::saysNothingOfTheTimeBeforeThereIsARate()
{
    Story story;
    QVERIFY(!story.state.timeLeft());
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    QVERIFY(!story.state.timeLeft());
    story.now += 5s;
    story.tell(Advanced{.done = 0});
    QVERIFY(!story.state.timeLeft()); // no rate of zero, no endless time
}

void TestFlashState::measuresByTheFileWhereTheSizeIsNotKnown()
{
    Story story;
    story.state.willVerify = false;
    story.tell(PhaseStarted{.phase = Phase::Writing});
    QVERIFY(!story.state.fraction());
    for (unsigned i = 1; i <= 20; ++i) {
        story.now += 100ms;
        story.tell(Advanced{.done = i * 10 * kMB, .sourceConsumed = i * kMB, .sourceSize = 100 * kMB});
    }
    QCOMPARE(*story.state.fraction(), 0.2);
    QCOMPARE(*story.state.timeLeft(), 8s); // 800 MB more at 100 MB/s
}

void TestFlashState::neverFallsBack()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Writing});
    story.tell(Advanced{.done = 50 * kMB, .sourceConsumed = 10, .sourceSize = 100});
    story.tell(Advanced{.done = 40 * kMB, .sourceConsumed = 5, .sourceSize = 100});
    QCOMPARE(story.state.write.done, 50 * kMB);
    QCOMPARE(*story.state.fraction(), 0.1);
    story.tell(Advanced{.done = 60 * kMB, .sourceConsumed = 500, .sourceSize = 100});
    QVERIFY(*story.state.fraction() <= 1.0);
}

void TestFlashState::collectsWhatDiffered()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Verifying, .total = 100});
    const auto bad = [](Offset offset, Bytes length, bool unreadable = false) {
        return RangeDiffered{{.range = {offset, length}, .unreadable = unreadable}};
    };
    story.tell(bad(40, 10));
    story.tell(bad(10, 10));
    story.tell(bad(20, 10));       // joins the one before
    story.tell(bad(30, 10));       // and this joins both
    story.tell(bad(50, 10, true)); // another kind stays alone
    const std::vector<BadRange> expected{{.range = {10, 40}}, {.range = {50, 10}, .unreadable = true}};
    QVERIFY(story.state.badRanges == expected);
}

void TestFlashState::remembersAStallUntilItMoves()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    story.run(1, kMB);
    const auto since = story.now;
    story.now += 10s;
    story.tell(Stalled{.since = since, .drive = true});
    QCOMPARE(*story.state.stalledSince, since);
    story.now += 5s;
    story.tell(Resumed{});
    QVERIFY(!story.state.stalledSince);
}

void TestFlashState::ignoresWhatComesAfterTheEnd()
{
    Story story;
    story.tell(PhaseStarted{.phase = Phase::Writing, .total = 100 * kMB});
    story.tell(
        Finished{.report = {.verdict = Verdict::Failed, .error = FlashError{.code = ErrorCode::DriveGone}}});
    story.tell(PhaseStarted{.phase = Phase::Verifying, .total = 100 * kMB});
    story.tell(Advanced{.done = 100 * kMB});
    story.tell(Finished{.report = {.verdict = Verdict::Verified}});
    QCOMPARE(story.state.phase, Phase::Finished);
    QCOMPARE(story.state.report->verdict, Verdict::Failed);
    QCOMPARE(story.state.write.done, Bytes(0));
}

void TestFlashState::survivesEventsInAnyOrder()
{
    Story story;
    story.tell(Resumed{});
    story.tell(Advanced{.done = 5});
    story.tell(Stalled{});
    story.tell(PhaseStarted{.phase = Phase::Verifying});
    story.tell(Retrying{});
    story.tell(Advanced{.done = 7});
    QCOMPARE(story.state.verify.done, Bytes(7));
    QCOMPARE(story.state.retries, 1U);
}

QTEST_APPLESS_MAIN(TestFlashState)
#include "tst_flashstate.moc"
