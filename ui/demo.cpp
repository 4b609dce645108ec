// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "demo.h"

#include "words.h"

#include <QDir>
#include <QFile>
#include <QProcess>
#include <QRandomGenerator>
#include <QStandardPaths>

#include <algorithm>
#include <array>
#include <lzma.h>
#include <memory>
#include <thread>

namespace burin {

using namespace Qt::StringLiterals;

namespace {

constexpr qint64 kImageSize = 256LL * 1024 * 1024;
constexpr qint64 kDriveSize = 512'000'000;
constexpr qint64 kPartitionStart = 1024LL * 1024;
constexpr qint64 kSector = 512;

using Step = std::expected<void, QString>;

Step write(const QString& path, const QByteArray& bytes)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(bytes) != bytes.size()) {
        return std::unexpected(Words::tr("Can't write %1: %2").arg(path, file.errorString()));
    }
    return {};
}

/// What lies in the image's file system: some of it packs well, some does not, as on a real system.
Step makeFiles(const QString& folder)
{
    QRandomGenerator random(1);
    if (auto done = write(folder + u"/README.txt"_s,
                          "This file system came here inside a packed image, by way of burin demo.\n");
        !done) {
        return done;
    }
    for (int i = 0; i < 24; ++i) {
        QByteArray text;
        while (text.size() < 2'500'000) {
            text += "line " + QByteArray::number(text.size()) + " of "
                + QByteArray::number(random.bounded(1000)) + '\n';
        }
        if (auto done = write(folder + u"/text-%1.txt"_s.arg(i), text); !done) {
            return done;
        }
        QByteArray noise(1'500'000, Qt::Uninitialized);
        std::ranges::generate(noise, [&random] { return static_cast<char>(random.generate() & 0xFFU); });
        if (auto done = write(folder + u"/noise-%1.bin"_s.arg(i), noise); !done) {
            return done;
        }
    }
    return {};
}

void putLittleEndian(QByteArray& bytes, qsizetype at, quint32 value)
{
    for (int i = 0; i < 4; ++i) {
        bytes[at + i] = static_cast<char>((value >> (8 * i)) & 0xFFU);
    }
}

/// A master boot record with one Linux partition that fills the image.
QByteArray bootRecord()
{
    QByteArray record(kSector, '\0');
    putLittleEndian(record, 440, 0x4275726E); // disk signature
    record[450] = static_cast<char>(0x83);    // type: Linux
    putLittleEndian(record, 454, kPartitionStart / kSector);
    putLittleEndian(record, 458, (kImageSize - kPartitionStart) / kSector);
    record[510] = static_cast<char>(0x55);
    record[511] = static_cast<char>(0xAA);
    return record;
}

Step makeImage(const QString& files, const QString& image)
{
    QFile file(image);
    if (!file.open(QIODevice::WriteOnly) || !file.resize(kImageSize) || file.write(bootRecord()) != kSector) {
        return std::unexpected(Words::tr("Can't write %1: %2").arg(image, file.errorString()));
    }
    file.close();
    const QString mke2fs = [] {
        const QString found = QStandardPaths::findExecutable(u"mke2fs"_s);
        return found.isEmpty() ? QStandardPaths::findExecutable(u"mke2fs"_s, {u"/usr/sbin"_s, u"/sbin"_s})
                               : found;
    }();
    QProcess maker;
    maker.start(mke2fs,
                {u"-q"_s, u"-F"_s, u"-t"_s, u"ext4"_s, u"-L"_s, u"demo"_s, u"-m"_s, u"0"_s, u"-d"_s, files,
                 u"-E"_s, u"offset=%1,lazy_itable_init=0"_s.arg(kPartitionStart), image,
                 u"%1k"_s.arg((kImageSize - kPartitionStart) / 1024)});
    if (!maker.waitForFinished(-1) || maker.exitCode() != 0) {
        return std::unexpected(Words::tr("The demo needs mke2fs (package e2fsprogs): %1")
                                   .arg(QString::fromLocal8Bit(maker.readAllStandardError()).trimmed()));
    }
    return {};
}

Step packLoop(QFile& in, QFile& out, lzma_stream& stream)
{
    QByteArray input;
    QByteArray output(1 << 20, Qt::Uninitialized);
    for (lzma_ret status = LZMA_OK; status != LZMA_STREAM_END;) {
        if (stream.avail_in == 0 && !in.atEnd()) {
            input = in.read(1 << 20);
            stream.next_in = reinterpret_cast<const uint8_t*>(input.constData());
            stream.avail_in = static_cast<std::size_t>(input.size());
        }
        stream.next_out = reinterpret_cast<uint8_t*>(output.data());
        stream.avail_out = static_cast<std::size_t>(output.size());
        status = lzma_code(&stream, in.atEnd() ? LZMA_FINISH : LZMA_RUN);
        const auto made = output.size() - static_cast<qsizetype>(stream.avail_out);
        if ((status != LZMA_OK && status != LZMA_STREAM_END) || out.write(output.constData(), made) != made) {
            return std::unexpected(Words::tr("Can't pack the image: %1").arg(out.errorString()));
        }
    }
    return {};
}

/// Packed in blocks, as `xz -T0` does, so that all processors can unpack it.
Step pack(const QString& image, const QString& packed)
{
    QFile in(image);
    QFile out(packed);
    if (!in.open(QIODevice::ReadOnly) || !out.open(QIODevice::WriteOnly)) {
        return std::unexpected(Words::tr("Can't write %1: %2").arg(packed, out.errorString()));
    }
    lzma_mt options = {};
    options.threads = std::max(1U, std::thread::hardware_concurrency());
    options.block_size = 16U << 20U;
    options.preset = 0;
    options.check = LZMA_CHECK_CRC64;
    lzma_stream stream = LZMA_STREAM_INIT;
    const std::unique_ptr<lzma_stream, decltype(&lzma_end)> owner(&stream, lzma_end);
    if (lzma_stream_encoder_mt(&stream, &options) != LZMA_OK) {
        return std::unexpected(Words::tr("Can't pack the image: %1").arg(u"liblzma"_s));
    }
    return packLoop(in, out, stream);
}

Step makeDrive(const QString& path)
{
    QFile file(path);
    if (!file.open(QIODevice::WriteOnly | QIODevice::Truncate) || !file.resize(kDriveSize)) {
        return std::unexpected(Words::tr("Can't write %1: %2").arg(path, file.errorString()));
    }
    return {};
}

} // namespace

std::expected<Demo, QString> makeDemo(const std::function<void(const QString&)>& say)
{
    const QString folder =
        QStandardPaths::writableLocation(QStandardPaths::GenericCacheLocation) + u"/burin/demo"_s;
    Demo demo{
        .folder = folder, .image = folder + u"/demo.img.xz"_s, .drive = folder + u"/virtual-drive.img"_s};
    const QString files = folder + u"/files"_s;
    const QString raw = folder + u"/demo.img.part"_s;
    const QString packed = demo.image + u".part"_s;
    if (!QDir().mkpath(files)) {
        return std::unexpected(Words::tr("Can't make the folder %1").arg(files));
    }
    Step done;
    if (!QFile::exists(demo.image)) {
        say(Words::tr("making a disk image with a partition and files in it (1 of 3)"));
        done = makeFiles(files);
        done = done ? makeImage(files, raw) : done;
        if (done) {
            say(Words::tr("packing it with xz (2 of 3)"));
            done = pack(raw, packed);
        }
        QDir(files).removeRecursively();
        QFile::remove(raw);
        if (done && !QFile::rename(packed, demo.image)) {
            done = std::unexpected(Words::tr("Can't write %1: %2").arg(demo.image, packed));
        }
    }
    say(Words::tr("making a virtual drive of 512 MB (3 of 3)"));
    done = done ? makeDrive(demo.drive) : done;
    if (!done) {
        return std::unexpected(done.error());
    }
    return demo;
}

QString demoFarewell(const Demo& demo)
{
    return Words::tr("The image and the virtual drive are ordinary files in %1\n"
                     "Throw them away with: rm -r '%1'\n")
        .arg(demo.folder);
}

} // namespace burin
