// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/windowstates.h"
#include "ui/drivefilterproxy.h"
#include "ui/drivelistmodel.h"

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QTest>

#include <random>

using namespace Qt::StringLiterals;
using namespace burin;

class DriveListModelTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void nothingIsChosenByItself();
    void choiceAndIndexFollowTheDrive();
    void choiceGoesWithItsDrive();
    void replugUnderTheSameNodeIsAnotherDrive();
    void swappedCardIsAnotherDrive();
    void changedContentsKeepTheChoice();
    void oneChoiceReplacesTheOther();
    void protectedDrivesAreNotChosen();
    void tooSmallDrivesSayByHowMuch();
    void twinsAreToldApart();
    void rowsTellScreenReadersEverything();
    void anyListLeadsToAnyOther();
    void filterHidesByKind();
    void lockedCardsAreAlwaysShown();
};

namespace {

QString chosenKey(const DriveListModel& model)
{
    return model.chosen() != nullptr ? driveKey(*model.chosen()) : QString();
}

} // namespace

void DriveListModelTest::nothingIsChosenByItself()
{
    DriveListModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setDrives({test::stick()});
    QCOMPARE(model.chosen(), nullptr);
    model.setDrives({test::stick(), test::cardReader()});
    model.setDrives({test::cardReader()});
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::choiceAndIndexFollowTheDrive()
{
    DriveListModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setDrives({test::stick(), test::systemDisk()});
    const QPersistentModelIndex index(model.index(0));
    model.choose(driveKey(test::stick()));
    model.setDrives({test::cardReader(), test::systemDisk(), test::stick()});
    QCOMPARE(index.row(), 2);
    QCOMPARE(chosenKey(model), driveKey(test::stick()));
    QCOMPARE(model.index(2).data(Qt::CheckStateRole).toInt(), int(Qt::Checked));
    QCOMPARE(model.index(0).data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
}

void DriveListModelTest::choiceGoesWithItsDrive()
{
    DriveListModel model;
    model.setDrives(test::pictureDrives());
    model.choose(driveKey(test::stick()));
    const QSignalSpy spy(&model, &DriveListModel::chosenChanged);
    model.setDrives({test::cardReader(), test::systemDisk()});
    QCOMPARE(model.chosen(), nullptr);
    QCOMPARE(spy.size(), 1);
    model.setDrives(test::pictureDrives());
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::replugUnderTheSameNodeIsAnotherDrive()
{
    DriveListModel model;
    model.setDrives({test::stick()});
    model.choose(driveKey(test::stick()));
    DriveInfo again = test::stick();
    again.diskseq = 99;
    model.setDrives({again});
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::swappedCardIsAnotherDrive()
{
    DriveListModel model;
    model.setDrives({test::cardReader()});
    model.choose(driveKey(test::cardReader()));
    DriveInfo other = test::cardReader();
    other.size = 64'000'000'000;
    model.setDrives({other});
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::changedContentsKeepTheChoice()
{
    DriveListModel model;
    model.setDrives({test::stick()});
    model.choose(driveKey(test::stick()));
    DriveInfo mounted = test::stick();
    mounted.contents[0].mountPoints = {"/media/ana/BOOT"};
    const QSignalSpy spy(&model, &QAbstractItemModel::dataChanged);
    model.setDrives({mounted});
    QCOMPARE(spy.size(), 1);
    QCOMPARE(chosenKey(model), driveKey(test::stick()));
    mounted.access = Access::None;
    mounted.protections = {{.kind = ProtectionKind::StackInUse, .detail = "LVM", .release = {}}};
    model.setDrives({mounted});
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::oneChoiceReplacesTheOther()
{
    DriveListModel model;
    model.setDrives(test::pictureDrives());
    model.toggle(0);
    model.toggle(1);
    QCOMPARE(chosenKey(model), driveKey(test::cardReader()));
    QCOMPARE(model.index(0).data(Qt::CheckStateRole).toInt(), int(Qt::Unchecked));
    model.toggle(1);
    QCOMPARE(model.chosen(), nullptr);
}

void DriveListModelTest::protectedDrivesAreNotChosen()
{
    DriveListModel model;
    model.setDrives(test::pictureDrives());
    model.toggle(2);
    QCOMPARE(model.chosen(), nullptr);
    QCOMPARE(model.index(2).data(DriveListModel::BadgeRole).toString(), u"system disk"_s);
    QVERIFY(!model.index(2).data(Qt::CheckStateRole).isValid());
    QVERIFY(!model.flags(model.index(2)).testFlag(Qt::ItemIsUserCheckable));
}

void DriveListModelTest::tooSmallDrivesSayByHowMuch()
{
    DriveListModel model;
    model.setDrives(test::pictureDrives());
    model.choose(driveKey(test::cardReader()));
    model.setNeeded(17'500'000'000);
    QCOMPARE(model.chosen(), nullptr);
    QVERIFY(model.index(1).data(DriveListModel::SubtitleRole).toString().contains(u"too small by 1.5 GB"_s));
    QVERIFY(model.isWritable(0));
    model.setNeeded({});
    QVERIFY(model.isWritable(1));
}

void DriveListModelTest::twinsAreToldApart()
{
    DriveInfo twin = test::stick();
    twin.diskseq = 50;
    twin.node = "sdd";
    twin.serial = "4C530002";
    DriveListModel model;
    model.setDrives({test::stick(), twin});
    QVERIFY(model.index(0).data(DriveListModel::SubtitleRole).toString().contains(u"4C530001"_s));
    QVERIFY(model.index(1).data(DriveListModel::SubtitleRole).toString().contains(u"4C530002"_s));
}

void DriveListModelTest::rowsTellScreenReadersEverything()
{
    DriveListModel model;
    model.setDrives(test::pictureDrives());
    model.toggle(0);
    const QString chosen = model.index(0).data(Qt::AccessibleTextRole).toString();
    QVERIFY(chosen.contains(u"SanDisk Ultra Fit"_s) && chosen.contains(u"chosen"_s)
            && chosen.contains(u"DATA"_s));
    QVERIFY(model.index(2).data(Qt::AccessibleTextRole).toString().contains(u"system disk"_s));
}

void DriveListModelTest::anyListLeadsToAnyOther()
{
    std::mt19937 random(7);
    DriveListModel model;
    const QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    for (int turn = 0; turn < 300; ++turn) {
        std::vector<DriveInfo> drives;
        for (unsigned i = 0; i < 6; ++i) {
            if (random() % 2 == 0) {
                drives.push_back(test::stick());
                drives.back().diskseq = 100 + i;
                drives.back().size += random() % 2;
            }
        }
        std::ranges::shuffle(drives, random);
        model.setDrives(drives);
        QVERIFY(model.drives() == drives);
    }
}

void DriveListModelTest::filterHidesByKind()
{
    DriveInfo internal = test::systemDisk();
    internal.diskseq = 70;
    internal.access = Access::Write;
    internal.protections.clear();
    DriveInfo loop = test::stick();
    loop.diskseq = 71;
    loop.bus = Bus::Loop;
    DriveInfo file = test::stick();
    file.diskseq = 0;
    file.bus = Bus::File;
    file.external = false;
    DriveListModel model;
    DriveFilterProxy filter;
    const QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::QtTest);
    filter.setSourceModel(&model);
    model.setDrives({test::stick(), file, internal, loop, test::systemDisk()});
    QCOMPARE(filter.rowCount(), 3);
    filter.setShowProtected(false);
    QCOMPARE(filter.rowCount(), 2);
    QCOMPARE(filter.hiddenProtected(), 1);
    filter.setShowInternal(true);
    filter.setShowLoops(true);
    QCOMPARE(filter.rowCount(), 4);
}

void DriveListModelTest::lockedCardsAreAlwaysShown()
{
    DriveInfo locked = test::cardReader();
    locked.access = Access::ReadOnly;
    locked.protections = {{.kind = ProtectionKind::WriteProtected, .detail = {}, .release = {}}};
    DriveListModel model;
    DriveFilterProxy filter;
    filter.setSourceModel(&model);
    filter.setShowProtected(false);
    model.setDrives({locked});
    QCOMPARE(filter.rowCount(), 1);
}

QTEST_GUILESS_MAIN(DriveListModelTest)
#include "tst_drivelistmodel.moc"
