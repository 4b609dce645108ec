// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/imagesums.h"

#include "engine/digest.h"
#include "engine/filedigest.h"
#include "tests/support/fixtures.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

using namespace burin;
using namespace burin::fixtures;

Q_DECLARE_METATYPE(burin::DigestKind)

namespace {

// The digests of "abc" (FIPS 180-4's examples, RFC 1321 A.5) and of nothing.
const QByteArray kMd5 = "900150983cd24fb0d6963f7d28e17f72";
const QByteArray kSha1 = "a9993e364706816aba3e25717850c26c9cd0d89d";
const QByteArray kSha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
const QByteArray kSha512 = "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                           "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f";
const QByteArray kOther = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// "SHA-256 HEX name;..." with the line ends and the bytes of the names as they are.
QByteArray describe(std::span<const KnownSum> sums)
{
    QByteArray all;
    for (const auto& sum : sums) {
        all += QByteArray(nameOf(sum.kind).data()) + ' ' + QByteArray::fromStdString(sum.hex) + ' '
            + QByteArray::fromStdString(sum.fileName) + ';';
    }
    return all;
}
QByteArray md5(const QByteArray& name)
{
    return "MD5 " + kMd5 + ' ' + name + ';';
}
QByteArray sha1(const QByteArray& name)
{
    return "SHA-1 " + kSha1 + ' ' + name + ';';
}
QByteArray sha256(const QByteArray& name)
{
    return "SHA-256 " + kSha256 + ' ' + name + ';';
}
QByteArray other(const QByteArray& name)
{
    return "SHA-256 " + kOther + ' ' + name + ';';
}
QByteArray sha512(const QByteArray& name)
{
    return "SHA-512 " + kSha512 + ' ' + name + ';';
}

/// Digits in groups of `length`.
QByteArray grouped(const QByteArray& digits, qsizetype length, char between)
{
    QByteArray text;
    for (qsizetype i = 0; i < digits.size(); i += length) {
        text += (i ? QByteArray(1, between) : QByteArray()) + digits.mid(i, length);
    }
    return text;
}

QByteArray signedText(const QByteArray& text)
{
    return "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\n" + text
        + "-----BEGIN PGP SIGNATURE-----\n\niQIzBAEBCAAdFiEE\n" + kOther
        + "\n=x9Qm\n-----END PGP SIGNATURE-----\n";
}

/// A folder that is filled by name and content.
class Place
{
public:
    void add(const QByteArray& name, const QByteArray& content) const
    {
        QFile file(QFile::decodeName(path(name).c_str()));
        if (!file.open(QIODevice::WriteOnly) || file.write(content) != content.size()) {
            qFatal("can't write %s", name.constData());
        }
    }
    [[nodiscard]] std::string path(const QByteArray& name) const
    {
        return (QFile::encodeName(m_folder.path()) + '/' + name).toStdString();
    }
    /// The path without the folder.
    [[nodiscard]] QByteArray nameIn(const std::string& path) const
    {
        const auto folder = QFile::encodeName(m_folder.path()) + '/';
        const auto bytes = QByteArray::fromStdString(path);
        return bytes.startsWith(folder) ? bytes.mid(folder.size()) : "outside: " + bytes;
    }
    /// "origin: kind HEX name;..."
    [[nodiscard]] QByteArray sumsOf(const QByteArray& image, const std::vector<std::string>& inner = {}) const
    {
        QByteArray all;
        for (const auto& sum : findSums(path(image), inner)) {
            all += nameIn(sum.origin) + ": " + describe(std::span(&sum, 1));
        }
        return all;
    }

private:
    QTemporaryDir m_folder;
};

} // namespace

class TstImageSums : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void knowsTheDigests_data();
    void knowsTheDigests();
    void refusesADigestThatIsNotOffered();
    void readsNotations_data();
    void readsNotations();
    void readsPublishedLists_data();
    void readsPublishedLists();
    void passesOverWhatIsNoSum_data();
    void passesOverWhatIsNoSum();
    void boundsWhatItReads();
    void takesWhatWasPasted_data();
    void takesWhatWasPasted();
    void findsSumsBesideTheImage_data();
    void findsSumsBesideTheImage();
    void takesOnlyWhatIsForTheImage_data();
    void takesOnlyWhatIsForTheImage();
    void returnsContradictions();
    void opensOnlyPlainFilesOfTheFolder();
    void findsTheUsualNamesInAFullFolder();
    void looksInTheWorkingFolder();
    void findsSignatures();
    void digestsAFile();
    void digestsNoChangedFile_data();
    void digestsNoChangedFile();
    void stopsWhenAsked();
};

void TstImageSums::knowsTheDigests_data()
{
    QTest::addColumn<DigestKind>("kind");
    QTest::addColumn<QByteArray>("data");
    QTest::addColumn<QByteArray>("hex");
    QTest::newRow("md5 abc") << DigestKind::Md5 << QByteArray("abc") << kMd5;
    QTest::newRow("sha1 abc") << DigestKind::Sha1 << QByteArray("abc") << kSha1;
    QTest::newRow("sha256 abc") << DigestKind::Sha256 << QByteArray("abc") << kSha256;
    QTest::newRow("sha512 abc") << DigestKind::Sha512 << QByteArray("abc") << kSha512;
    QTest::newRow("md5 empty") << DigestKind::Md5 << QByteArray()
                               << QByteArray("d41d8cd98f00b204e9800998ecf8427e");
    QTest::newRow("sha1 empty") << DigestKind::Sha1 << QByteArray()
                                << QByteArray("da39a3ee5e6b4b0d3255bfef95601890afd80709");
    QTest::newRow("sha256 empty") << DigestKind::Sha256 << QByteArray() << kOther;
    QTest::newRow("sha512 empty") << DigestKind::Sha512 << QByteArray()
                                  << QByteArray(
                                         "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce"
                                         "47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e");
}

void TstImageSums::knowsTheDigests()
{
    QFETCH(DigestKind, kind);
    QFETCH(QByteArray, data);
    QFETCH(QByteArray, hex);
    QCOMPARE(hexLength(kind), static_cast<std::size_t>(hex.size()));
    auto digest = Digest::create(kind);
    QVERIFY(digest.has_value());
    const auto bytes = std::as_bytes(std::span(data.constData(), static_cast<std::size_t>(data.size())));
    digest->add(bytes.first(bytes.size() / 2));
    digest->add(bytes.subspan(bytes.size() / 2));
    QCOMPARE(QByteArray::fromStdString(digest->hex()), hex);
}

void TstImageSums::refusesADigestThatIsNotOffered()
{
    // As if there were FIPS rules, without a module that follows them.
    QCOMPARE(EVP_set_default_properties(nullptr, "fips=yes"), 1);
    const auto digest = Digest::create(DigestKind::Md5);
    QCOMPARE(EVP_set_default_properties(nullptr, ""), 1);
    QVERIFY(!digest);
    QCOMPARE(digest.error().code, ErrorCode::Internal);
    QCOMPARE(digest.error().detail, std::string("MD5"));
    QVERIFY(Digest::create(DigestKind::Md5).has_value());
}

void TstImageSums::readsNotations_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("sums");
    const auto row = [](const char* name, const QByteArray& text, const QByteArray& sums) {
        QTest::newRow(name) << text << sums;
    };
    row("gnu text", kSha256 + "  disk.img\n", sha256("disk.img"));
    row("gnu binary", kSha256 + " *disk.img\n", sha256("disk.img"));
    row("gnu one space", kSha256 + " disk.img\n", sha256("disk.img"));
    row("gnu tab", kSha256 + "\tdisk.img\n", sha256("disk.img"));
    row("gnu without line end", kSha256 + "  disk.img", sha256("disk.img"));
    row("gnu cr lf", kSha256 + "  disk.img\r\n" + kMd5 + "  b.img\r\n", sha256("disk.img") + md5("b.img"));
    row("gnu byte order mark", "\xef\xbb\xbf" + kSha256 + "  disk.img\n", sha256("disk.img"));
    row("gnu upper case", kSha256.toUpper() + "  Disk.IMG\n", sha256("Disk.IMG"));
    row("gnu indented", "  " + kSha256 + "  disk.img\n", sha256("disk.img"));
    row("gnu folder", kSha256 + "  ./disk.img\n", sha256("./disk.img"));
    row("gnu spaces", kSha256 + "  my  disk .img\n", sha256("my  disk .img"));
    row("gnu name of hex", kMd5 + "  " + kMd5 + "\n", md5(kMd5));
    row("gnu umlauts",
        kSha256
            + "  \xc3\x9c"
              "bung.img\n",
        sha256("\xc3\x9c"
               "bung.img"));
    row("gnu latin-1",
        kSha256
            + "  \xdc"
              "bung.img\n",
        sha256("\xdc"
               "bung.img"));
    row("gnu escaped", '\\' + kSha256 + "  a\\nb\\\\c\\r.img\n", sha256("a\nb\\c\r.img"));
    row("gnu backslash unescaped", kSha256 + "  a\\nb.img\n", sha256("a\\nb.img"));
    row("gnu standard input", kSha256 + "  -\n", sha256(""));
    row("gnu kinds", kMd5 + "  a\n" + kSha1 + "  b\n" + kSha256 + "  c\n" + kSha512 + "  d\n",
        md5("a") + sha1("b") + sha256("c") + sha512("d"));
    row("bsd sha256", "SHA256 (disk.img) = " + kSha256 + '\n', sha256("disk.img"));
    row("bsd sha2-256", "SHA2-256 (disk.img) = " + kSha256 + '\n', sha256("disk.img"));
    row("bsd sha512", "SHA512 (disk.img) = " + kSha512 + '\n', sha512("disk.img"));
    row("bsd sha1", "SHA1 (disk.img) = " + kSha1 + '\n', sha1("disk.img"));
    row("bsd md5", "MD5 (disk.img) = " + kMd5 + "\r\n", md5("disk.img"));
    row("bsd brackets", "SHA256 (a (1) = b) (2).img) = " + kSha256 + '\n', sha256("a (1) = b) (2).img"));
    row("bsd escaped", "\\SHA256 (a\\nb.img) = " + kSha256 + '\n', sha256("a\nb.img"));
    row("openssl 1", "SHA256(disk.img)= " + kSha256 + '\n', sha256("disk.img"));
    row("openssl 3", "SHA2-512(disk.img)= " + kSha512 + '\n', sha512("disk.img"));
    row("openssl standard input", "SHA2-256(stdin)= " + kSha256 + '\n', sha256(""));
    row("bare", kSha256, sha256(""));
    row("bare line end", kSha256 + '\n', sha256(""));
    row("bare blanks", kSha256 + " \t \r\n\r\n", sha256(""));
    row("bare byte order mark", "\xef\xbb\xbf" + kSha256.toUpper() + "\r\n", sha256(""));
    row("bare prefix", "sha256:" + kSha256 + '\n', sha256(""));
    row("bare of two kinds", kMd5 + '\n' + kSha256 + '\n', md5("") + sha256(""));
    row("bare twice", kSha256 + '\n' + kSha256 + '\n', sha256(""));
    row("certutil",
        "SHA256 hash of disk.img:\r\n" + kSha256
            + "\r\nCertUtil: -hashfile command completed successfully.\r\n",
        sha256("disk.img"));
    row("certutil 7",
        "SHA1 hash of file my disk.img:\r\n" + grouped(kSha1, 2, ' ')
            + "\r\nCertUtil: -hashfile command completed successfully.\r\n",
        sha1("my disk.img"));
    row("certutil translated", "SHA512-Hash von disk.img:\r\n" + grouped(kSha512, 2, ' ') + "\r\n",
        sha512(""));
    row("comments", "# SHA-256 sums\n; of today\n\n" + kSha256 + "  disk.img\n#" + kOther + "  disk.img\n",
        sha256("disk.img"));
    row("dash-escaped", signedText("- " + kSha256 + "  disk.img\n"), sha256("disk.img"));
    row("outside of what is signed",
        kOther + "  a.img\n" + signedText(kSha256 + "  b.img\n") + kOther + "  c.img\n", sha256("b.img"));
    row("signed twice", signedText(kSha256 + "  a.img\n") + signedText(kSha256 + "  b.img\n"),
        sha256("a.img") + sha256("b.img"));
}

void TstImageSums::readsNotations()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, sums);
    QCOMPARE(describe(parseSums(text.toStdString(), {})), sums);
}

void TstImageSums::readsPublishedLists_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<DigestKind>("kind");
    QTest::addColumn<bool>("kindKnown");
    QTest::addColumn<QByteArray>("sums");
    const auto row = [](const char* name, const QByteArray& text, std::optional<DigestKind> kind,
                        const QByteArray& sums) {
        QTest::newRow(name) << text << kind.value_or(DigestKind::Md5) << kind.has_value() << sums;
    };
    row("debian SHA256SUMS", kSha256 + "  ./netboot/gtk/mini.iso\n" + kOther + "  ./netboot/mini.iso\n",
        DigestKind::Sha256, sha256("./netboot/gtk/mini.iso") + other("./netboot/mini.iso"));
    row("ubuntu SHA256SUMS",
        kSha256 + " *ubuntu-26.04-desktop-amd64.iso\n" + kOther + " *ubuntu-26.04-live-server-amd64.iso\n",
        DigestKind::Sha256,
        sha256("ubuntu-26.04-desktop-amd64.iso") + other("ubuntu-26.04-live-server-amd64.iso"));
    row("fedora CHECKSUM",
        signedText("# Fedora-Server-43.aarch64.raw.xz: 1283457024 bytes\n"
                   "SHA256 (Fedora-Server-43.aarch64.raw.xz) = "
                   + kSha256 + "\n# Fedora-Minimal-43.raw.xz: 77 bytes\nSHA256 (Fedora-Minimal-43.raw.xz) = "
                   + kOther + '\n'),
        {}, sha256("Fedora-Server-43.aarch64.raw.xz") + other("Fedora-Minimal-43.raw.xz"));
    row("freebsd CHECKSUM.SHA256",
        "SHA256 (FreeBSD-14.3-RELEASE-amd64-memstick.img) = " + kSha256
            + "\nSHA256 (FreeBSD-14.3-RELEASE-amd64-memstick.img.xz) = " + kOther + '\n',
        DigestKind::Sha256,
        sha256("FreeBSD-14.3-RELEASE-amd64-memstick.img")
            + other("FreeBSD-14.3-RELEASE-amd64-memstick.img.xz"));
    row("raspberry pi .sha256", kSha256 + "  2025-10-01-raspios-trixie-arm64-lite.img.xz\n",
        DigestKind::Sha256, sha256("2025-10-01-raspios-trixie-arm64-lite.img.xz"));
    row("arch sha256sums.txt",
        kSha256 + "  archlinux-2026.02.01-x86_64.iso\n" + kSha256 + "  archlinux-x86_64.iso\n",
        DigestKind::Sha256, sha256("archlinux-2026.02.01-x86_64.iso") + sha256("archlinux-x86_64.iso"));
    row("other kinds than the name tells", kMd5 + "  a\n" + kSha256 + "  a\nMD5 (a) = " + kMd5 + '\n',
        DigestKind::Sha256, sha256("a") + md5("a"));
    row("sha3 and blake2",
        "SHA3-256 (a) = " + kSha256 + "\nBLAKE2b-256 (a) = " + kSha256 + "\nSHA512/256 (a) = " + kSha256
            + "\nRMD160 (a) = " + kSha1 + '\n',
        {}, {});
}

void TstImageSums::readsPublishedLists()
{
    QFETCH(QByteArray, text);
    QFETCH(DigestKind, kind);
    QFETCH(bool, kindKnown);
    QFETCH(QByteArray, sums);
    QCOMPARE(describe(parseSums(text.toStdString(), kindKnown ? std::optional(kind) : std::nullopt)), sums);
}

void TstImageSums::passesOverWhatIsNoSum_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("empty") << QByteArray();
    QTest::newRow("63 digits") << kSha256.first(63);
    QTest::newRow("65 digits") << kSha256 + "0  disk.img\n";
    QTest::newRow("63 digits and name") << kSha256.first(63) + "  disk.img\n";
    QTest::newRow("no hex") << kSha256.first(63) + "g  disk.img\n";
    QTest::newRow("sha-384") << kSha256 + kMd5 + "  disk.img\n";
    QTest::newRow("bad escape") << '\\' + kSha256 + "  a\\tb.img\n";
    QTest::newRow("cut escape") << '\\' + kSha256 + "  a\\\n";
    QTest::newRow("zero byte") << kSha256 + "  a" + QByteArray(1, '\0') + "b.img\n";
    QTest::newRow("bsd of another length") << "SHA256 (disk.img) = " + kSha1 + '\n';
    QTest::newRow("bsd without bracket") << "SHA256 (disk.img = " + kSha256 + '\n';
    QTest::newRow("bsd cut") << QByteArray("SHA256 (=\nSHA256 (\nSHA256 )=\nMD5\n=\n\\\n");
    QTest::newRow("bare, contradicting") << kSha256 + '\n' + kOther + '\n';
    QTest::newRow("signature") << "-----BEGIN PGP SIGNATURE-----\n" + kSha256 + '\n';
    QTest::newRow("html") << QByteArray("<!DOCTYPE html><title>404</title>\n");
}

void TstImageSums::passesOverWhatIsNoSum()
{
    QFETCH(QByteArray, text);
    QCOMPARE(describe(parseSums(text.toStdString(), {})), QByteArray());
}

void TstImageSums::boundsWhatItReads()
{
    const auto line = (kSha256 + "  a.img\n").toStdString();
    const auto longName = std::string(kMaxSumsLine - 66, 'x');
    QCOMPARE(parseSums(kSha256.toStdString() + "  " + longName + "\n" + line, {}).size(), std::size_t{2});
    QCOMPARE(parseSums(kSha256.toStdString() + "  " + longName + "x\n" + line, {}).size(), std::size_t{1});
    const auto padding = std::string(kMaxSumsFile - line.size(), '\n');
    QCOMPARE(parseSums(line + padding, {}).size(), std::size_t{1});
    QCOMPARE(parseSums(line + padding + '\n', {}).size(), std::size_t{0});
    // A fingerprint in a list is no sum of a file.
    QCOMPARE(describe(parseSums(line + kSha1.toStdString() + '\n', {})), sha256("a.img"));
}

void TstImageSums::takesWhatWasPasted_data()
{
    QTest::addColumn<QByteArray>("text");
    QTest::addColumn<QByteArray>("sum");
    const auto row = [](const char* name, const QByteArray& text, const QByteArray& sum) {
        QTest::newRow(name) << text << sum;
    };
    row("md5", kMd5, md5(""));
    row("sha1", kSha1, sha1(""));
    row("sha256", kSha256, sha256(""));
    row("sha512", kSha512, sha512(""));
    row("spaces around", " \t" + kSha256 + "\r\n ", sha256(""));
    row("upper case", kSha256.toUpper(), sha256(""));
    row("spaces", grouped(kSha256, 8, ' '), sha256(""));
    row("byte pairs", grouped(kSha1, 2, ' '), sha1(""));
    row("colons", grouped(kSha256.toUpper(), 2, ':'), sha256(""));
    row("two lines", grouped(kSha512, 64, '\n'), sha512(""));
    row("halves", grouped(kSha256, 32, ' '), sha256(""));
    row("sha256:", "sha256:" + kSha256, sha256(""));
    row("SHA-256 =", "SHA-256 = " + kSha256, sha256(""));
    row("SHA256 checksum:", "SHA256 checksum:\n" + kSha256, sha256(""));
    row("MD5sum:", "MD5sum: " + kMd5, md5(""));
    row("prefix and groups", "sha512:\n" + grouped(kSha512, 8, ' '), sha512(""));
    row("gnu line", kSha256 + "  my disk.img\n", sha256("my disk.img"));
    row("gnu binary line", kSha256 + " *disk.img", sha256("disk.img"));
    row("bsd line", "SHA256 (disk.img) = " + kSha256 + '\n', sha256("disk.img"));
    row("openssl line", "SHA2-256(disk.img)= " + kSha256, sha256("disk.img"));
    row("empty", {}, {});
    row("prefix only", "sha256:", {});
    row("31 digits", kMd5.first(31), {});
    row("63 digits", kSha256.first(63), {});
    row("65 digits", kSha256 + '0', {});
    row("no hex", kSha256.first(63) + 'g', {});
    row("wrong prefix", "sha512:" + kSha256, {});
    row("other kind", "sha3-256:" + kSha256, {});
    row("sha512/256", "sha512/256:" + kSha256, {});
    row("two lines of a list", kSha256 + "  a.img\n" + kOther + "  b.img\n", {});
    row("words", "the sum is " + kSha256, {});
    row("very long", kSha256 + "  " + QByteArray(5000, 'x'), {});
}

void TstImageSums::takesWhatWasPasted()
{
    QFETCH(QByteArray, text);
    QFETCH(QByteArray, sum);
    const auto pasted = parsePasted(text.toStdString());
    QCOMPARE(pasted ? describe(std::span(&*pasted, 1)) : QByteArray(), sum);
    QVERIFY(!pasted || pasted->origin.empty());
}

void TstImageSums::findsSumsBesideTheImage_data()
{
    QTest::addColumn<QByteArray>("image");
    QTest::addColumn<QByteArray>("file");
    QTest::addColumn<QByteArray>("content");
    QTest::addColumn<QByteArray>("sum"); // empty: not found
    const auto own = [](const char* image, const char* file, const QByteArray& digits,
                        const QByteArray& sum) {
        QTest::addRow("%s, %s of %d", image, file, static_cast<int>(digits.size()))
            << QByteArray(image) << QByteArray(file) << digits + '\n'
            << sum;
    };
    own("disk.img", "disk.img.sha256", kSha256, sha256(""));
    own("disk.img", "disk.img.sha256sum", kSha256, sha256(""));
    own("disk.img", "disk.img.sha512", kSha512, sha512(""));
    own("disk.img", "disk.img.sha512sum", kSha512, sha512(""));
    own("disk.img", "disk.img.sha1", kSha1, sha1(""));
    own("disk.img", "disk.img.sha1sum", kSha1, sha1(""));
    own("disk.img", "disk.img.md5", kMd5, md5(""));
    own("disk.img", "disk.img.md5sum", kMd5, md5(""));
    own("disk.img", "disk.img.SHA256", kSha256, sha256(""));
    own("disk.img", "disk.sha256", kSha256, sha256(""));
    own("disk.img.xz", "disk.img.xz.sha256", kSha256, sha256(""));
    own("disk.img.xz", "disk.img.sha256", kSha256, sha256(""));
    own("disk.img.xz", "disk.sha256", kSha256, sha256(""));
    own("disk.tar.zst", "disk.tar.sha256", kSha256, sha256(""));
    own("DISK.IMG.XZ", "DISK.IMG.sha256", kSha256, sha256(""));
    own("disk", "disk.sha256", kSha256, sha256(""));
    own(".xz", ".xz.sha256", kSha256, sha256(""));
    own("disk-1.2", "disk-1.2.sha256", kSha256, sha256(""));
    own("disk-1.2", "disk-1.sha256", kSha256, {});
    own("disk.img", "disk.img.xz.sha256", kSha256, {});
    own("disk.img", "Disk.img.sha256", kSha256, {});
    own("disk.img", "disk.img.sha256", kSha1, {});
    own("disk.img", "disk.img.sha256.bak", kSha256, {});
    own("disk.img", "SHA256SUMS", kSha256, {}); // without a name in a list
    const auto list = [](const char* file, bool found = true) {
        QTest::addRow("list %s", file) << QByteArray("disk.img.xz") << QByteArray(file)
                                       << kOther + "  a.img\n" + kSha256 + "  disk.img.xz\n"
                                       << (found ? sha256("disk.img.xz") : QByteArray());
    };
    for (const auto* name :
         {"SHA256SUMS", "sha256sums", "Sha256Sums", "SHA256SUMS.txt", "sha256sums.txt", "sha256sum.txt",
          "SHA256SUM.TXT", "CHECKSUM", "CHECKSUMS", "checksums.txt", "CHECKSUMS.txt", "checksum.txt",
          "SHA256", "Fedora-Server-43-1.6-aarch64-CHECKSUM", "CHECKSUM.SHA256-FreeBSD-14.3-RELEASE-amd64"}) {
        list(name);
    }
    for (const auto* name : {"MD5SUMS", "SHA512SUMS", "SHA256SUMS.old", "notes.txt", "CHECKSUM.SHA512-x"}) {
        list(name, false);
    }
}

void TstImageSums::findsSumsBesideTheImage()
{
    QFETCH(QByteArray, image);
    QFETCH(QByteArray, file);
    QFETCH(QByteArray, content);
    QFETCH(QByteArray, sum);
    const Place place;
    place.add(image, "abc");
    place.add(file, content);
    QCOMPARE(place.sumsOf(image), sum.isEmpty() ? QByteArray() : file + ": " + sum);
}

void TstImageSums::takesOnlyWhatIsForTheImage_data()
{
    QTest::addColumn<QByteArray>("name"); // as the list writes it
    QTest::addColumn<bool>("taken");
    const auto row = [](const char* name, bool taken) { QTest::newRow(name) << QByteArray(name) << taken; };
    row("my \xc3\xbc.img.xz", true);
    row("./my \xc3\xbc.img.xz", true);
    row("../releases/my \xc3\xbc.img.xz", true);
    row("C:\\images\\my \xc3\xbc.img.xz", true);
    row("my \xc3\xbc.img", true);
    row("inner.raw", true);
    row("boot/inner.raw", true);
    row("my u\xcc\x88.img.xz", false); // the same letter in other bytes
    row("My \xc3\xbc.img.xz", false);
    row("my \xc3\xbc", false);
    row("my \xc3\xbc.img.gz", false);
    row("my \xc3\xbc.img.xz/", false);
    row("a my \xc3\xbc.img.xz", false);
    row("my \xc3\xbc.img.xz.asc", false);
}

void TstImageSums::takesOnlyWhatIsForTheImage()
{
    QFETCH(QByteArray, name);
    QFETCH(bool, taken);
    const Place place;
    const QByteArray image = "my \xc3\xbc.img.xz";
    place.add("SHA256SUMS", kOther + "  a.img\n" + kSha256 + "  " + name + '\n');
    QCOMPARE(place.sumsOf(image, {"boot/inner.raw", "folder/"}),
             taken ? "SHA256SUMS: " + sha256(name) : QByteArray());
    // In a file of the image's own it is the same.
    const Place own;
    own.add(image + ".sha256", kSha256 + "  " + name + '\n');
    QCOMPARE(own.sumsOf(image, {"inner.raw"}), taken ? image + ".sha256: " + sha256(name) : QByteArray());
}

void TstImageSums::returnsContradictions()
{
    const Place place;
    place.add("SHA256SUMS",
              kSha256 + "  a/disk.img\n" + kOther + "  b/disk.img\n" + kOther + "  b/disk.img\n");
    place.add("disk.img.sha256", kOther + '\n');
    QCOMPARE(place.sumsOf("disk.img"),
             "disk.img.sha256: " + other("") + "SHA256SUMS: " + sha256("a/disk.img")
                 + "SHA256SUMS: " + other("b/disk.img"));
    // One file by two names counts once.
    QCOMPARE(::link(place.path("disk.img.sha256").c_str(), place.path("disk.sha256").c_str()), 0);
    QCOMPARE(findSums(place.path("disk.img")).size(), std::size_t{3});
    // Made to take long.
    QByteArray all;
    for (int i = 0; i < 14'000; ++i) {
        all += QByteArray::number(i).rightJustified(64, '0') + " disk.img\n";
    }
    const Place crowded;
    crowded.add("SHA256SUMS", all);
    QCOMPARE(findSums(crowded.path("disk.img")).size(), std::size_t{256});
}

void TstImageSums::opensOnlyPlainFilesOfTheFolder()
{
    const Place outside;
    outside.add("sums", kSha256 + "  disk.img\n");
    const Place place;
    QCOMPARE(::symlink(outside.path("sums").c_str(), place.path("SHA256SUMS").c_str()), 0);
    QCOMPARE(::mkfifo(place.path("disk.img.sha256").c_str(), 0600), 0);
    QCOMPARE(::mkdir(place.path("MD5SUMS").c_str(), 0700), 0);
    place.add("SHA512SUMS", kSha512 + "  disk.img\n" + QByteArray(kMaxSumsFile, '\n'));
    QCOMPARE(place.sumsOf("disk.img"), QByteArray());
    place.add("SHA1SUMS", kSha1 + "  disk.img\n");
    QCOMPARE(place.sumsOf("disk.img"), "SHA1SUMS: " + sha1("disk.img"));
    QVERIFY(findSums("/nowhere/at/all/disk.img").empty());
    QVERIFY(findSums(place.path("")).empty());
    QVERIFY(findSignatures(place.path("")).empty());
}

void TstImageSums::findsTheUsualNamesInAFullFolder()
{
    const Place place;
    // Whether a file system lists the oldest or the newest first, one of these lies behind the bound.
    place.add("SHA256SUMS", kSha256 + "  disk.img.xz\n");
    for (int i = 0; i < 6000; ++i) {
        place.add("some other file " + QByteArray::number(i), {});
    }
    place.add("disk.img.sha512", kSha512 + '\n');
    place.add("checksums.txt", kOther + "  disk.img\n");
    QCOMPARE(place.sumsOf("disk.img.xz"),
             "disk.img.sha512: " + sha512("") + "SHA256SUMS: " + sha256("disk.img.xz")
                 + "checksums.txt: " + other("disk.img"));
}

void TstImageSums::looksInTheWorkingFolder()
{
    const Place place;
    place.add("disk.img.sha256", kSha256);
    place.add("disk.img.sig", "x");
    const auto before = QDir::currentPath();
    QVERIFY(QDir::setCurrent(QFile::decodeName(place.path("").c_str())));
    const auto sums = findSums("disk.img");
    const auto signatures = findSignatures("disk.img");
    QVERIFY(QDir::setCurrent(before));
    QCOMPARE(sums.size(), std::size_t{1});
    QCOMPARE(sums.front().origin, std::string("disk.img.sha256"));
    QCOMPARE(signatures, std::vector<std::string>{"disk.img.sig"});
}

void TstImageSums::findsSignatures()
{
    const Place place;
    const auto found = [&place](const QByteArray& image) {
        QByteArrayList names;
        for (const auto& path : findSignatures(place.path(image))) {
            names += place.nameIn(path);
        }
        std::ranges::sort(names);
        return names.join(' ');
    };
    for (const auto* name : {"a.img.xz.asc", "a.img.xz.sig", "a.img.xz.gpg", "a.img.minisig", "b.img.asc",
                             "SHA256SUMS.gpg", "SHA512SUMS.sign", "a.img.xz.sha256.asc"}) {
        place.add(name, "signature");
    }
    place.add("a.img.sig", {}); // an empty file signs nothing
    QCOMPARE(found("a.img.xz"), QByteArray("a.img.minisig a.img.xz.asc a.img.xz.gpg a.img.xz.sig"));
    place.add("SHA256SUMS", kSha256 + "  a.img.xz\n" + kOther + "  c.img\n");
    place.add("SHA512SUMS", kSha512 + "  b.img\n");
    place.add("a.img.xz.sha256", kSha256);
    place.add("x-CHECKSUM", signedText("SHA256 (c.img) = " + kOther + '\n'));
    QCOMPARE(found("a.img.xz"),
             QByteArray("SHA256SUMS.gpg a.img.minisig a.img.xz.asc a.img.xz.gpg a.img.xz.sha256.asc "
                        "a.img.xz.sig"));
    QCOMPARE(found("b.img"), QByteArray("SHA512SUMS.sign b.img.asc"));
    QCOMPARE(found("c.img"), QByteArray("SHA256SUMS.gpg x-CHECKSUM"));
    QCOMPARE(found("d.img"), QByteArray());
}

void TstImageSums::digestsAFile()
{
    const Place place;
    const auto data = noise("file", 2 * qsizetype{kMiB} + 77);
    place.add("disk.img", data);
    const auto file = ImageFile::open(place.path("disk.img"));
    QVERIFY(file.has_value());
    using enum DigestKind;
    std::vector<Bytes> progress;
    const auto sums = digestFile(**file, std::array{Sha512, Md5, Sha256, Sha1}, {},
                                 [&](Bytes done) { progress.push_back(done); });
    QVERIFY(sums.has_value());
    const auto hex = [&data](QCryptographicHash::Algorithm algorithm) {
        return QCryptographicHash::hash(data, algorithm).toHex().toStdString();
    };
    const std::vector<DigestResult> expected = {{Sha512, hex(QCryptographicHash::Sha512)},
                                                {Md5, hex(QCryptographicHash::Md5)},
                                                {Sha256, hex(QCryptographicHash::Sha256)},
                                                {Sha1, hex(QCryptographicHash::Sha1)}};
    QVERIFY(*sums == expected);
    QCOMPARE(progress, (std::vector<Bytes>{kMiB, 2 * kMiB, 2 * kMiB + 77}));
    const auto none = digestFile(**file, {}, {});
    QVERIFY(none && none->empty());
}

void TstImageSums::digestsNoChangedFile_data()
{
    QTest::addColumn<QByteArray>("change");
    QTest::addColumn<ErrorCode>("error");
    QTest::newRow("grows") << QByteArray("grow") << ErrorCode::ImageChanged;
    QTest::newRow("shrinks") << QByteArray("shrink") << ErrorCode::ImageTruncated;
    QTest::newRow("shrinks behind what was read") << QByteArray("shrink late") << ErrorCode::ImageChanged;
    QTest::newRow("is written") << QByteArray("write") << ErrorCode::ImageChanged;
}

void TstImageSums::digestsNoChangedFile()
{
    QFETCH(QByteArray, change);
    QFETCH(ErrorCode, error);
    const Place place;
    const auto size = 3 * off_t{kMiB};
    place.add("disk.img", QByteArray(size, 'x'));
    const auto name = place.path("disk.img");
    // An old time of change, so that the clock's steps don't matter.
    const std::array<timespec, 2> old{};
    QCOMPARE(::utimensat(AT_FDCWD, name.c_str(), old.data(), 0), 0);
    const auto file = ImageFile::open(name);
    QVERIFY(file.has_value());
    const auto whileRead = [&](Bytes done) {
        if (done != (change == "shrink late" ? Bytes(size) : kMiB)) {
            return;
        }
        if (change == "write") {
            QFile writer(QFile::decodeName(name.c_str()));
            QVERIFY(writer.open(QIODevice::ReadWrite));
            QCOMPARE(writer.write("y"), 1);
        } else {
            QCOMPARE(::truncate(name.c_str(), change == "grow" ? size + 1 : size - 1), 0);
        }
    };
    const auto sums = digestFile(**file, std::array{DigestKind::Sha256}, {}, whileRead);
    QVERIFY(!sums);
    QCOMPARE(sums.error().code, error);
    if (error == ErrorCode::ImageTruncated) {
        QCOMPARE(sums.error().offset, std::optional<Offset>(size - 1));
    }
}

void TstImageSums::stopsWhenAsked()
{
    const Place place;
    place.add("disk.img", QByteArray(3 * qsizetype{kMiB}, 'x'));
    const auto file = ImageFile::open(place.path("disk.img"));
    QVERIFY(file.has_value());
    std::stop_source stop;
    const auto sums = digestFile(**file, std::array{DigestKind::Md5}, stop.get_token(),
                                 [&stop](Bytes) { stop.request_stop(); });
    QVERIFY(!sums);
    QCOMPARE(sums.error().code, ErrorCode::ImageUnreadable);
    QCOMPARE(sums.error().sysErrno, ECANCELED);
    QCOMPARE(sums.error().offset, std::optional<Offset>(kMiB));
}

QTEST_APPLESS_MAIN(TstImageSums)
#include "tst_imagesums.moc"
