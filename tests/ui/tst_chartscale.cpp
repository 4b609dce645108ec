// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/windowstates.h"
#include "ui/chartmodel.h"
#include "ui/chartscale.h"

#include <QTest>

#include <algorithm>

using namespace Qt::StringLiterals;
using namespace burin;

class ChartScaleTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void rateAxisHoldsThePeak_data();
    void rateAxisHoldsThePeak();
    void sizeAxisIsDecimal_data();
    void sizeAxisIsDecimal();
    void pixelsAndValuesAreInverse();
    void idleChartHasTheImagesExtent();
    void axisRestsBetweenWriteAndVerify();
    void cellsFollowTheJob();
    void unusedCellsAreNeitherWaitingNorWritten();
    void badRangesAreNeverLostBetweenCells();
    void oddCellCountsAreHarmless();
    void readsOutSpeedAndPartition();
    void unknownSizeGrowsInSteps();
};

void ChartScaleTest::rateAxisHoldsThePeak_data()
{
    QTest::addColumn<double>("peak");
    QTest::addColumn<double>("step");
    QTest::newRow("none") << 0.0 << 1.0;
    QTest::newRow("negative") << -5.0 << 1.0;
    QTest::newRow("tiny") << 0.03 << 0.01;
    QTest::newRow("slow card") << 9.0 << 3.0;
    QTest::newRow("picture") << 120.0 << 30.0;
    QTest::newRow("a hair above") << 122.0 << 30.0;
    QTest::newRow("more than a hair") << 125.0 << 50.0;
    QTest::newRow("fast") << 431.0 << 200.0;
    QTest::newRow("nvme") << 3100.0 << 1000.0;
}

void ChartScaleTest::rateAxisHoldsThePeak()
{
    QFETCH(double, peak);
    const Axis axis = rateAxis(peak);
    QTEST(axis.step, "step");
    QCOMPARE(axis.ticks(), 5);
    QVERIFY(axis.top * 1.031 >= peak);
}

void ChartScaleTest::sizeAxisIsDecimal_data()
{
    QTest::addColumn<quint64>("extent");
    QTest::addColumn<double>("step");
    QTest::addColumn<int>("ticks");
    QTest::newRow("picture") << quint64(5'870'000'000) << 1e9 << 6;
    QTest::newRow("empty") << quint64(0) << 1.0 << 2;
    QTest::newRow("small") << quint64(48'000'000) << 1e7 << 5;
    QTest::newRow("large") << quint64(31'900'000'000) << 5e9 << 7;
    QTest::newRow("exact end") << quint64(8'000'000'000) << 1e9 << 9;
}

void ChartScaleTest::sizeAxisIsDecimal()
{
    QFETCH(quint64, extent);
    const Axis axis = sizeAxis(extent, 8);
    QTEST(axis.step, "step");
    QTEST(axis.ticks(), "ticks");
}

void ChartScaleTest::pixelsAndValuesAreInverse()
{
    const PixelMap up{.from = 300, .to = 20, .top = 120};
    QCOMPARE(up.pixel(0), 300.0);
    QCOMPARE(up.pixel(120), 20.0);
    for (const double value : {0.0, 1.5, 60.0, 119.9}) {
        QVERIFY(std::abs(up.value(up.pixel(value)) - value) < 1e-9);
    }
    const PixelMap flat{.from = 5, .to = 5, .top = 10};
    QCOMPARE(flat.value(7), 0.0);
}

void ChartScaleTest::idleChartHasTheImagesExtent()
{
    QCOMPARE(chartModel({}, test::pictureImage()).extent, test::kPictureSize);
    QVERIFY(chartModel({}, {}).extent > 0);
    QCOMPARE(chartModel({}, {}).rates.top, 120.0);
}

void ChartScaleTest::axisRestsBetweenWriteAndVerify()
{
    test::PictureJob job;
    job.write(0.5);
    const Axis during = chartModel(job.state, test::pictureImage()).rates;
    job.verify(0.5);
    QCOMPARE(chartModel(job.state, test::pictureImage()).rates, during);
}

void ChartScaleTest::cellsFollowTheJob()
{
    test::PictureJob job;
    job.write(1);
    job.verify(0.5);
    job.say(RangeDiffered{.bad = {.range = {test::kPictureSize / 4, 4096}}});
    const auto cells = chartModel(job.state, test::pictureImage()).cells(100);
    QCOMPARE(std::ranges::count(cells, CellState::Different), 1);
    QCOMPARE(cells[25], CellState::Different);
    QCOMPARE(cells[10], CellState::Verified);
    QCOMPARE(cells[49], CellState::Verified);
    QCOMPARE(cells[51], CellState::Written);
    QCOMPARE(std::ranges::count(cells, CellState::Waiting), 0);
}

void ChartScaleTest::unusedCellsAreNeitherWaitingNorWritten()
{
    ChartModel model;
    model.extent = 1000;
    model.written = 800;
    model.ranges = std::make_shared<const std::vector<Range>>(std::vector<Range>{{0, 195}, {405, 595}});
    const auto cells = model.cells(10);
    QCOMPARE(cells[1], CellState::Written);
    QCOMPARE(cells[2], CellState::Unused);
    QCOMPARE(cells[3], CellState::Unused);
    QCOMPARE(cells[4], CellState::Written);
    QCOMPARE(cells[9], CellState::Waiting);
}

void ChartScaleTest::badRangesAreNeverLostBetweenCells()
{
    ChartModel model;
    model.extent = 1000;
    for (Offset offset = 0; offset < 1000; ++offset) {
        model.bad = {{offset, 1}};
        QVERIFY(std::ranges::count(model.cells(7), CellState::Different) >= 1);
    }
    model.bad = {{5000, 10}};
    QCOMPARE(std::ranges::count(model.cells(7), CellState::Different), 1);
}

void ChartScaleTest::oddCellCountsAreHarmless()
{
    const ChartModel model = chartModel({}, test::pictureImage());
    QVERIFY(model.cells(0).empty());
    QVERIFY(model.cells(-3).empty());
    QCOMPARE(model.cells(1).size(), 1U);
    QVERIFY(ChartModel().cells(3).size() == 3);
}

void ChartScaleTest::readsOutSpeedAndPartition()
{
    test::PictureJob job;
    job.write(0.5);
    const ChartModel model = chartModel(job.state, test::pictureImage());
    QVERIFY(model.write.rateAt(1'000'000'000).has_value());
    QVERIFY(!model.write.rateAt(5'000'000'000).has_value());
    QVERIFY(!model.verify.rateAt(1'000'000'000).has_value());
    QCOMPARE(model.partitionAt(1'000'000'000), u"rootfs"_s);
    QCOMPARE(model.partitionAt(20'000'000), u"boot"_s);
    QVERIFY(model.partitionAt(0).isEmpty());
    QVERIFY(chartDescription(model).contains(u"written"_s));
}

void ChartScaleTest::unknownSizeGrowsInSteps()
{
    FlashState state = initialState(true);
    Clock::time_point now = Clock::now();
    state = reduce(state, {.at = now, .what = PhaseStarted{.phase = Phase::Writing, .total = {}}});
    ImageInfo image = test::pictureImage();
    image.unpackedSize.reset();
    Bytes before = 0;
    int changes = 0;
    for (int i = 1; i <= 100; ++i) {
        now += std::chrono::milliseconds(500);
        state = reduce(state,
                       {.at = now,
                        .what = Advanced{.done = Bytes(i) * 21'000'000,
                                         .sourceConsumed = Bytes(i) * 5'000'000 + Bytes(i % 3) * 40'000,
                                         .sourceSize = 500'000'000}});
        const Bytes extent = chartModel(state, image).extent;
        QVERIFY(extent >= state.write.done);
        changes += extent != before ? 1 : 0;
        before = extent;
    }
    QVERIFY2(changes < 8, qPrintable(QString::number(changes)));
}

QTEST_GUILESS_MAIN(ChartScaleTest)
#include "tst_chartscale.moc"
