// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/errortext.h"

#include <QLocale>
#include <QSet>
#include <QTest>

using namespace Qt::StringLiterals;
using namespace burin;

namespace {

ErrorContext someContext(bool touched)
{
    return {.image = u"system.img.xz"_s,
            .drive = u"SanDisk Ultra Fit"_s,
            .imageSize = 5'870'000'000,
            .driveSize = 4'000'000'000,
            .driveTouched = touched};
}

FlashReport report(Verdict verdict, bool touched = true)
{
    FlashReport made;
    made.verdict = verdict;
    made.driveTouched = touched;
    made.endedIn = Phase::Writing;
    made.imageSize = 1400ULL * 4 * kMiB;
    made.driveSize = 32'000'000'000;
    made.chunkSize = 4 * kMiB;
    return made;
}

} // namespace

class ErrorTextTest : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QLocale::setDefault(QLocale(QLocale::English, QLocale::UnitedStates)); }
    void everyCodeHasWords_data();
    void everyCodeHasWords();
    void stateFollowsTheReport();
    void textsQuoteTheFacts();
    void namesThatLookLikePlaceholdersStayAsTheyAre();
    void missingFactsHaveWords();
    void agentIsNamedWithARemedy();
    void detailsHoldTheRawFacts();
    void protectionsHaveWordsAndABadge();
    void warningsHaveWords();
    void verdictsReadAsInThePictures();
    void usedBlocksAreNeverCalledEveryByte();
    void blocksAreCountedOnce();
    void counterfeitIsNamed();
    void cancelledSaysWhatIsOnTheDrive();
};

void ErrorTextTest::everyCodeHasWords_data()
{
    QTest::addColumn<int>("code");
    for (int code = 0; code <= int(ErrorCode::Internal); ++code) {
        QTest::addRow("%d", code) << code;
    }
}

void ErrorTextTest::everyCodeHasWords()
{
    QFETCH(int, code);
    const FlashError error{
        .code = ErrorCode(code), .sysErrno = 5, .offset = 1'200'000'000, .detail = "some detail"};
    for (const bool touched : {false, true}) {
        const ErrorText words = errorText(error, someContext(touched));
        QVERIFY(!words.title.isEmpty());
        QVERIFY(words.text.size() > 30);
        for (const QString& left : {u"%1"_s, u"{"_s, u"}"_s, u"  "_s}) {
            QVERIFY2(!words.text.contains(left), qPrintable(words.text));
        }
        QVERIFY2(words.text.endsWith(u'.'), qPrintable(words.text));
        QCOMPARE(words.text.contains(u"Nothing was written."_s), !touched);
    }
}

void ErrorTextTest::stateFollowsTheReport()
{
    FlashError error{.code = ErrorCode::DriveGone, .phase = Phase::Writing, .offset = 1'200'000'000};
    QVERIFY(errorText(error, someContext(true)).text.endsWith(u"The drive holds only part of the image."_s));
    error.phase = Phase::Verifying;
    QVERIFY(errorText(error, someContext(true)).text.contains(u"can't be trusted"_s));
    QVERIFY(errorText(error, someContext(false)).text.endsWith(u"Nothing was written."_s));
}

void ErrorTextTest::textsQuoteTheFacts()
{
    FlashError gone{.code = ErrorCode::DriveGone, .offset = 1'200'000'000};
    QVERIFY(
        errorText(gone, someContext(true)).text.startsWith(u"“SanDisk Ultra Fit” disappeared at 1.2 GB."_s));
    gone.offset = {};
    QVERIFY(errorText(gone, someContext(true)).text.startsWith(u"“SanDisk Ultra Fit” disappeared. Plug"_s));

    const ErrorText large =
        errorText({.code = ErrorCode::ImageTooLarge, .offset = {}, .detail = {}}, someContext(false));
    QCOMPARE(
        large.text,
        u"The image needs 5.87 GB, “SanDisk Ultra Fit” holds 4 GB. Use a larger drive. Nothing was written."_s);
    const ErrorText system = errorText(
        {.code = ErrorCode::DriveIsSystem, .offset = {}, .detail = "/, /boot/efi"}, someContext(false));
    QVERIFY(system.text.contains(u"/, /boot/efi"_s));
    const ErrorText folder = errorText(
        {.code = ErrorCode::ImageUnreadable, .offset = {}, .detail = "directory"}, someContext(false));
    QCOMPARE(folder.title, u"That is a folder"_s);
}

void ErrorTextTest::namesThatLookLikePlaceholdersStayAsTheyAre()
{
    ErrorContext context = someContext(false);
    context.image = u"{drive}%1.img"_s;
    const QString text = errorText({.code = ErrorCode::ImageEmpty, .offset = {}, .detail = {}}, context).text;
    QVERIFY(text.contains(u"“{drive}%1.img”"_s));
}

void ErrorTextTest::missingFactsHaveWords()
{
    for (int code = 0; code <= int(ErrorCode::Internal); ++code) {
        const QString text = errorText({.code = ErrorCode(code), .offset = {}, .detail = {}}, {}).text;
        QVERIFY2(!text.contains(u"“”"_s) && !text.contains(u"()"_s), qPrintable(text));
    }
}

void ErrorTextTest::agentIsNamedWithARemedy()
{
    const QString text =
        errorText({.code = ErrorCode::AuthNoAgent, .offset = {}, .detail = {}}, someContext(false)).text;
    QVERIFY(text.contains(u"authentication agent"_s));
    QVERIFY(text.contains(u"Start one"_s));
}

void ErrorTextTest::detailsHoldTheRawFacts()
{
    const ErrorText words =
        errorText({.code = ErrorCode::WriteFailed, .sysErrno = 5, .offset = 1'234'567'890, .detail = "sdb"},
                  someContext(true));
    QVERIFY(words.details.contains(u"1234567890"_s));
    QVERIFY(words.details.contains(u"5 ("_s));
    QVERIFY(words.details.contains(u"sdb"_s));
}

void ErrorTextTest::protectionsHaveWordsAndABadge()
{
    QSet<QString> texts;
    for (int kind = 0; kind <= int(ProtectionKind::NoMedium); ++kind) {
        const Protection protection{.kind = ProtectionKind(kind), .detail = "/srv", .release = {}};
        QVERIFY(!protectionBadge(protection).isEmpty());
        QVERIFY(!protectionText(protection).contains(u'%'));
        texts.insert(protectionText(protection));
    }
    QCOMPARE(texts.size(), int(ProtectionKind::NoMedium) + 1);
    QVERIFY(protectionText(
                {.kind = ProtectionKind::StackInUse, .detail = "LVM data", .release = "vgchange -an data"})
                .contains(u"vgchange -an data"_s));
}

void ErrorTextTest::warningsHaveWords()
{
    for (int warning = 0; warning <= int(ImageWarning::ManyMembers); ++warning) {
        QVERIFY(!warningText(ImageWarning(warning)).isEmpty());
    }
}

void ErrorTextTest::verdictsReadAsInThePictures()
{
    const ErrorContext context = someContext(true);
    QCOMPARE(verdictTitle(report(Verdict::Verified), context),
             u"Verified: every byte on the drive equals the image"_s);
    QCOMPARE(verdictAdvice(report(Verdict::Verified), context),
             u"SanDisk Ultra Fit is flushed and safe to eject"_s);
    QCOMPARE(verdictTitle(report(Verdict::WrittenNotVerified), context), u"Written, not verified"_s);
    FlashReport wrong = report(Verdict::Failed);
    wrong.error = FlashError{.code = ErrorCode::VerifyMismatch, .offset = {}, .detail = {}};
    wrong.badRanges = {{.range = {966 * 4 * kMiB, 41 * 4 * kMiB}, .sameAgain = true}};
    QCOMPARE(verdictTitle(wrong, context), u"41 of 1,400 blocks read back differently"_s);
    QCOMPARE(verdictAdvice(wrong, context), u"Do not use this drive: it loses data near 4.05 GB"_s);
}

void ErrorTextTest::usedBlocksAreNeverCalledEveryByte()
{
    FlashReport used = report(Verdict::Verified);
    used.coverage = Coverage::UsedBlocks;
    used.imageSize = 5'870'000'000;
    used.bytesSkipped = 2'230'000'000;
    QCOMPARE(verdictTitle(used, someContext(true)),
             u"Verified: all used blocks (3.64 of 5.87 GB; the rest was not written)"_s);
    std::swap(used.bytesSkipped, used.bytesCleared);
    QCOMPARE(verdictTitle(used, someContext(true)),
             u"Verified: all used blocks (3.64 of 5.87 GB; the rest was cleared)"_s);
    used.driveTouched = false;
    QVERIFY(!verdictAdvice(used, someContext(false)).contains(u"exactly"_s));
}

void ErrorTextTest::blocksAreCountedOnce()
{
    FlashReport wrong = report(Verdict::Failed);
    wrong.error = FlashError{.code = ErrorCode::VerifyMismatch, .offset = {}, .detail = {}};
    wrong.badRanges = {{.range = {512, 512}}, {.range = {4096, 512}}, {.range = {4 * kMiB - 512, 1024}}};
    QCOMPARE(verdictTitle(wrong, someContext(true)), u"2 of 1,400 blocks read back differently"_s);
}

void ErrorTextTest::counterfeitIsNamed()
{
    FlashReport fake = report(Verdict::Failed);
    fake.error = FlashError{.code = ErrorCode::VerifyMismatch, .offset = {}, .detail = {}};
    fake.badRanges = {{.range = {0, 512}}};
    fake.counterfeit = Counterfeit{.likelySize = 8'000'000'000, .wraps = true};
    QCOMPARE(verdictAdvice(fake, someContext(true)),
             u"Counterfeit: SanDisk Ultra Fit holds about 8 GB, not 32 GB"_s);
}

void ErrorTextTest::cancelledSaysWhatIsOnTheDrive()
{
    const ErrorContext context = someContext(true);
    QCOMPARE(verdictTitle(report(Verdict::Cancelled, false), context), u"Cancelled: nothing was written"_s);
    QCOMPARE(verdictTitle(report(Verdict::Cancelled), context),
             u"Cancelled: the drive holds only part of the image"_s);
    FlashReport late = report(Verdict::Cancelled);
    late.endedIn = Phase::Verifying;
    QVERIFY(verdictTitle(late, context).contains(u"not verified"_s));
}

QTEST_GUILESS_MAIN(ErrorTextTest)
#include "tst_errortext.moc"
