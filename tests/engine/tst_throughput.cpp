// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/throughput.h"
#include "engine/units.h"

#include <QTest>

using namespace burin;
using namespace std::chrono_literals;

class TestThroughput : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void putsTheSpeedWhereItWasMeasured();
    void sharesAStepAmongItsBins();
    void mergesBinsWhenTheImageOutgrowsThem();
    void meanIsBytesOverTime();
    void ignoresStepsThatGoNowhere();
    void rateNeedsTwoSamplesApart();
    void rateForgetsWhatIsLongPast();
};

void TestThroughput::putsTheSpeedWhereItWasMeasured()
{
    SpeedCurve curve;
    curve.add(0, kMiB, 0.1);
    curve.add(kMiB, 2 * kMiB, 0.2);
    QCOMPARE(curve.bins().size(), 2U);
    QCOMPARE(curve.bins()[0].rate(), double(kMiB) / 0.1);
    QCOMPARE(curve.bins()[1].rate(), double(kMiB) / 0.2);
}

void TestThroughput::sharesAStepAmongItsBins()
{
    SpeedCurve curve;
    curve.add(kMiB / 2, 3 * kMiB, 1.0);
    QCOMPARE(curve.bins().size(), 3U);
    QCOMPARE(curve.bins()[0].bytes, double(kMiB) / 2);
    QCOMPARE(curve.bins()[2].bytes, double(kMiB));
    QCOMPARE(curve.bins()[0].rate(), curve.bins()[2].rate());
}

void TestThroughput::mergesBinsWhenTheImageOutgrowsThem()
{
    SpeedCurve curve;
    const Bytes size = 102'400 * kMiB; // 100 GiB
    for (Offset at = 0; at < size; at += 64 * kMiB) {
        curve.add(at, std::min<Bytes>(at + 64 * kMiB, size), 0.5);
    }
    QVERIFY(curve.bins().size() <= SpeedCurve::kMaxBins);
    QVERIFY(curve.bins().size() > SpeedCurve::kMaxBins / 4);
    QVERIFY(curve.binWidth() * curve.bins().size() >= size);
    double bytes = 0;
    for (const auto& bin : curve.bins()) {
        QVERIFY(std::abs(bin.rate() / (128.0 * kMiB) - 1) < 0.02);
        bytes += bin.bytes;
    }
    QCOMPARE(bytes, double(size));
}

void TestThroughput::meanIsBytesOverTime()
{
    SpeedCurve curve;
    QCOMPARE(curve.mean(), 0.0);
    curve.add(0, 100, 1);
    curve.add(100, 200, 3);
    QCOMPARE(curve.mean(), 50.0);
}

void TestThroughput::ignoresStepsThatGoNowhere()
{
    SpeedCurve curve;
    curve.add(10, 10, 1);
    curve.add(10, 5, 1);
    QVERIFY(curve.bins().empty());
}

void TestThroughput::rateNeedsTwoSamplesApart()
{
    RecentRate recent;
    const Clock::time_point start{};
    QVERIFY(!recent.rate());
    recent.add(start, 0);
    recent.add(start + 100ms, 1000);
    QVERIFY(!recent.rate());
    recent.add(start + 1s, 4000);
    QCOMPARE(*recent.rate(), 4000.0);
}

void TestThroughput::rateForgetsWhatIsLongPast()
{
    RecentRate recent;
    const Clock::time_point start{};
    // 200 MB/s for 8 s, then 2 MB/s: after a minute the first has no say any more.
    Bytes done = 0;
    for (int second = 0; second <= 60; ++second) {
        recent.add(start + std::chrono::seconds(second), done);
        done += second < 8 ? 200'000'000 : 2'000'000;
    }
    QCOMPARE(*recent.rate(), 2e6);
}

QTEST_APPLESS_MAIN(TestThroughput)
#include "tst_throughput.moc"
