// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/windowstates.h"
#include "ui/burinstyle.h"
#include "ui/confirmsheet.h"

#include <QApplication>
#include <QCheckBox>
#include <QLabel>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

// Qt 6.8's QTRY macros narrow a duration to int.
#pragma GCC diagnostic ignored "-Wconversion"

using namespace Qt::StringLiterals;
using namespace burin;

class ConfirmSheetTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QApplication::setStyle(new BurinStyle); }
    void init();
    void cleanup() { m_window.reset(); }
    void namesWhatIsLost();
    void enterOnTheFreshSheetRefuses();
    void escapeRefuses();
    void actionStarts();
    void tabStaysInTheSheet();
    void typedNameIsAskedForLargeDrives();
    void enterInTheNameDoesNotStart();
    void shortImagesNeedATick();
    void closesWhenTheDriveGoesOrChanges();
    void answersOnce();

private:
    ConfirmSheet* open(const ImageInfo& image = test::pictureImage(), const DriveInfo& drive = test::stick());

    std::unique_ptr<QWidget> m_window;
};

void ConfirmSheetTest::init()
{
    m_window = std::make_unique<QWidget>();
    m_window->resize(900, 600);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
}

ConfirmSheet* ConfirmSheetTest::open(const ImageInfo& image, const DriveInfo& drive)
{
    auto* sheet = new ConfirmSheet(image, drive, m_window.get());
    sheet->open();
    return sheet;
}

void ConfirmSheetTest::namesWhatIsLost()
{
    ConfirmSheet* sheet = open();
    const QString lost = sheet->findChild<QLabel*>(u"losses"_s)->text();
    QVERIFY(lost.contains(u"BOOT"_s) && lost.contains(u"DATA"_s) && lost.contains(u"/media/ana/DATA"_s));
    QCOMPARE(sheet->actionButton()->text(), u"Erase and flash SanDisk Ultra Fit (sdb)"_s);
    QVERIFY(sheet->findChild<QLabel*>(u"sheetTitle"_s)->text().contains(u"SanDisk Ultra Fit"_s));
    QVERIFY(!sheet->accessibleName().isEmpty());
}

void ConfirmSheetTest::enterOnTheFreshSheetRefuses()
{
    ConfirmSheet* sheet = open();
    QSignalSpy accepted(sheet, &Sheet::accepted);
    QSignalSpy rejected(sheet, &Sheet::rejected);
    QCOMPARE(QApplication::focusWidget(), sheet->findChild<QPushButton*>(u"sheetSafe"_s));
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Return);
    QCOMPARE(accepted.size(), 0);
    QCOMPARE(rejected.size(), 1);
}

void ConfirmSheetTest::escapeRefuses()
{
    ConfirmSheet* sheet = open();
    QSignalSpy rejected(sheet, &Sheet::rejected);
    QTest::keyClick(QApplication::focusWidget(), Qt::Key_Escape);
    QCOMPARE(rejected.size(), 1);
}

void ConfirmSheetTest::actionStarts()
{
    ConfirmSheet* sheet = open();
    QSignalSpy accepted(sheet, &Sheet::accepted);
    QTest::mouseClick(sheet->actionButton(), Qt::LeftButton);
    QCOMPARE(accepted.size(), 1);
}

void ConfirmSheetTest::tabStaysInTheSheet()
{
    ConfirmSheet* sheet = open();
    for (int i = 0; i < 6; ++i) {
        QTest::keyClick(QApplication::focusWidget(), Qt::Key_Tab);
        QVERIFY(sheet->isAncestorOf(QApplication::focusWidget()));
    }
}

void ConfirmSheetTest::typedNameIsAskedForLargeDrives()
{
    DriveInfo large = test::stick();
    large.size = 1'000'000'000'000;
    ConfirmSheet* sheet = open(test::pictureImage(), large);
    auto* typed = sheet->findChild<QLineEdit*>(u"typedName"_s);
    QVERIFY(typed != nullptr);
    QVERIFY(!sheet->actionButton()->isEnabled());
    QTest::keyClicks(typed, u"Ultra Fat"_s);
    QVERIFY(!sheet->actionButton()->isEnabled());
    typed->clear();
    QTest::keyClicks(typed, u"Ultra Fit"_s);
    QVERIFY(sheet->actionButton()->isEnabled());
}

void ConfirmSheetTest::enterInTheNameDoesNotStart()
{
    DriveInfo large = test::stick();
    large.size = 1'000'000'000'000;
    ConfirmSheet* sheet = open(test::pictureImage(), large);
    QSignalSpy closed(sheet, &Sheet::closed);
    auto* typed = sheet->findChild<QLineEdit*>(u"typedName"_s);
    typed->setFocus();
    QTest::keyClicks(typed, u"Ultra Fit"_s);
    QTest::keyClick(typed, Qt::Key_Return);
    QCOMPARE(closed.size(), 0);
}

void ConfirmSheetTest::shortImagesNeedATick()
{
    ImageInfo image = test::pictureImage();
    image.warnings = {ImageWarning::ShorterThanItsTable};
    ConfirmSheet* sheet = open(image);
    QVERIFY(!sheet->actionButton()->isEnabled());
    auto* box = sheet->findChild<QCheckBox*>(u"allowShort"_s);
    box->setFocus();
    QTest::keyClick(box, Qt::Key_Space);
    QVERIFY(sheet->actionButton()->isEnabled());
    QVERIFY(open()->findChild<QCheckBox*>(u"allowShort"_s) == nullptr);
}

void ConfirmSheetTest::closesWhenTheDriveGoesOrChanges()
{
    ConfirmSheet* sheet = open();
    QSignalSpy lost(sheet, &ConfirmSheet::driveLost);
    sheet->watch(test::pictureDrives());
    QCOMPARE(lost.size(), 0);
    sheet->watch({test::cardReader()});
    QCOMPARE(lost.size(), 1);

    sheet = open();
    QSignalSpy rejected(sheet, &Sheet::rejected);
    DriveInfo changed = test::stick();
    changed.contents[0].label = "PHOTOS";
    sheet->watch({changed});
    QCOMPARE(rejected.size(), 1);
}

void ConfirmSheetTest::answersOnce()
{
    const QPointer<ConfirmSheet> sheet = open();
    QSignalSpy accepted(sheet, &Sheet::accepted);
    QSignalSpy closed(sheet, &Sheet::closed);
    sheet->reject();
    sheet->actionButton()->click();
    QCOMPARE(accepted.size(), 0);
    QCOMPARE(closed.size(), 1);
    QTRY_VERIFY(sheet.isNull());
}

QTEST_MAIN(ConfirmSheetTest)
#include "tst_confirmsheet.moc"
