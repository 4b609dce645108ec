// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "formatting.h"

#include "engine/imageformat.h"
#include "errortext.h"
#include "words.h"

#include <QFile>
#include <QFileInfo>
#include <QLocale>

#include <algorithm>
#include <array>
#include <cmath>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr std::array<double, 5> kUnits{1, 1e3, 1e6, 1e9, 1e12};

QString unitName(std::size_t unit)
{
    switch (unit) {
    case 0:
        return Words::tr("bytes");
    case 1:
        return Words::tr("kB");
    case 2:
        return Words::tr("MB");
    case 3:
        return Words::tr("GB");
    default:
        return Words::tr("TB");
    }
}

/// Decimals that give three significant digits.
int decimalsFor(double value)
{
    return value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
}

/// The unit in which the value is 1 to 999 after rounding.
std::size_t unitFor(double bytes)
{
    std::size_t unit = 0;
    while (unit + 1 < kUnits.size() && bytes >= kUnits[unit] * 999.5) {
        ++unit;
    }
    return unit;
}

QString trimmed(double value, int decimals)
{
    const QLocale locale;
    QString text = locale.toString(value, 'f', decimals);
    if (decimals == 0) {
        return text;
    }
    while (text.endsWith(locale.zeroDigit())) {
        text.chop(1);
    }
    if (text.endsWith(locale.decimalPoint())) {
        text.chop(locale.decimalPoint().size());
    }
    return text;
}

QString linkText(unsigned mbps)
{
    return mbps >= 1000 ? Words::tr("%1 Gb/s").arg(trimmed(mbps / 1000.0, 1))
                        : Words::tr("%1 Mb/s").arg(mbps);
}

int usbGeneration(unsigned mbps)
{
    return mbps >= 5000 ? 3 : mbps >= 480 ? 2 : 1;
}

QString usbText(const DriveInfo& drive)
{
    if (drive.linkMbps == 0) {
        return Words::tr("USB");
    }
    QString link = Words::tr("USB %1 (%2)")
                       .arg(QString::number(usbGeneration(drive.linkMbps)), linkText(drive.linkMbps));
    // The picture's hint; only where the device says that it could do better.
    if (drive.deviceMbps > drive.linkMbps
        && usbGeneration(drive.deviceMbps) > usbGeneration(drive.linkMbps)) {
        return Words::tr("%1: use a USB 3 port for speed").arg(link);
    }
    return link;
}

QString busText(const DriveInfo& drive)
{
    switch (drive.bus) {
    case Bus::Usb:
        return usbText(drive);
    case Bus::Mmc:
        return drive.external ? Words::tr("SD card") : Words::tr("built-in eMMC");
    case Bus::Nvme:
        return Words::tr("NVMe");
    case Bus::Sata:
        return Words::tr("SATA");
    case Bus::Scsi:
        return Words::tr("SCSI");
    case Bus::Virtio:
        return Words::tr("virtual disk");
    case Bus::FireWire:
        return Words::tr("FireWire");
    case Bus::Loop:
        return Words::tr("loop device");
    case Bus::File:
        return Words::tr("a file that stands for a drive");
    case Bus::Unknown:
        return {};
    }
    return {};
}

QString contentsText(const DriveInfo& drive)
{
    QStringList names;
    for (const DriveContent& content : drive.contents) {
        QString name = QString::fromStdString(content.label.empty() ? content.fileSystem : content.label);
        if (name.isEmpty()) {
            continue;
        }
        if (!content.mountPoints.empty()) {
            name = Words::tr("%1 (mounted)").arg(name);
        }
        names << name;
    }
    if (names.isEmpty()) {
        return {};
    }
    constexpr qsizetype kShown = 4;
    if (names.size() > kShown) {
        const qsizetype more = names.size() - kShown;
        names.resize(kShown);
        names << Words::tr("%1 more").arg(more);
    }
    return Words::tr("holds: %1").arg(names.join(u", "_s));
}

QString packingWord(Format format)
{
    switch (format) {
    case Format::Gzip:
        return u"gz"_s;
    case Format::Bzip2:
        return u"bz2"_s;
    case Format::Zstd:
        return u"zst"_s;
    default:
        return QString::fromUtf8(nameOf(format));
    }
}

/// As a name would end: "tar.xz"; what is inside comes first.
QString packingText(const ImageInfo& image)
{
    QStringList packings;
    for (const auto& layer : image.layers) {
        packings.prepend(packingWord(layer.format));
    }
    return packings.join(u'.');
}

QString layoutText(const ImageInfo& image)
{
    QStringList parts;
    if (image.isoHybrid) {
        parts << Words::tr("ISO");
    }
    switch (image.table) {
    case PartitionTable::Gpt:
        parts << Words::tr("GPT");
        break;
    case PartitionTable::Mbr:
        parts << Words::tr("MBR");
        break;
    case PartitionTable::None:
        if (!image.isoHybrid && !image.fileSystem.empty()) {
            parts << Words::tr("%1, no partitions").arg(QString::fromStdString(image.fileSystem));
        }
        break;
    }
    return parts.join(u" + "_s);
}

} // namespace

QString formatSize(Bytes bytes)
{
    if (bytes == 1) {
        return Words::tr("1 byte");
    }
    const std::size_t unit = unitFor(double(bytes));
    const double value = double(bytes) / kUnits[unit];
    return Words::tr("%1 %2").arg(trimmed(value, unit == 0 ? 0 : decimalsFor(value)), unitName(unit));
}

QString formatSizeOf(Bytes done, Bytes total)
{
    const std::size_t unit = unitFor(double(total));
    const double whole = double(total) / kUnits[unit];
    const int decimals = unit == 0 ? 0 : decimalsFor(whole);
    // Rounded down, so that "5.87 of 5.87" is not said before the end.
    const double step = std::pow(10.0, decimals);
    const double part = done >= total ? whole : std::floor(double(done) / kUnits[unit] * step) / step;
    return Words::tr("%1 of %2 %3")
        .arg(QLocale().toString(part, 'f', decimals), QLocale().toString(whole, 'f', decimals),
             unitName(unit));
}

QString formatRate(double bytesPerSecond)
{
    const double rate = std::max(bytesPerSecond, 0.0) / 1e6;
    return Words::tr("%1 MB/s").arg(QLocale().toString(rate, 'f', decimalsFor(std::max(rate, 10.0))));
}

QString formatDuration(std::chrono::seconds duration)
{
    const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 0);
    if (seconds < 60) {
        return Words::tr("%1 s").arg(seconds);
    }
    if (seconds < 3600) {
        return seconds % 60 == 0 ? Words::tr("%1 min").arg(seconds / 60)
                                 : Words::tr("%1 min %2 s").arg(seconds / 60).arg(seconds % 60);
    }
    const auto minutes = seconds / 60;
    return minutes % 60 == 0 ? Words::tr("%1 h").arg(minutes / 60)
                             : Words::tr("%1 h %2 min").arg(minutes / 60).arg(minutes % 60);
}

QString formatTimeTaken(std::chrono::nanoseconds time)
{
    using Tenths = std::chrono::duration<std::chrono::nanoseconds::rep, std::deci>;
    const auto tenths = std::chrono::round<Tenths>(time).count();
    if (tenths >= 100) {
        return formatDuration(std::chrono::round<std::chrono::seconds>(time));
    }
    return tenths < 1 ? Words::tr("under %1 s").arg(QLocale().toString(0.1, 'f', 1))
                      : Words::tr("%1 s").arg(QLocale().toString(double(tenths) / 10, 'f', 1));
}

QString formatRoughly(std::chrono::seconds duration)
{
    const auto seconds = std::max<std::chrono::seconds::rep>(duration.count(), 1);
    const std::chrono::seconds::rep step = seconds < 55 ? 5 : 60;
    return formatDuration(
        std::chrono::seconds(std::max((seconds + step / 2) / step, std::chrono::seconds::rep(1)) * step));
}

QString formatPercent(double fraction)
{
    const int percent = fraction >= 1 ? 100 : std::clamp(int(std::floor(fraction * 100)), 0, 99);
    return Words::tr("%1 %").arg(percent);
}

QString driveTitle(const DriveInfo& drive)
{
    const QString name = QString::fromStdString(driveName(drive));
    return drive.hasMedium() ? Words::tr("%1 · %2").arg(name, formatSize(drive.size)) : name;
}

QString driveNameAndNode(const DriveInfo& drive)
{
    const QString name = QString::fromStdString(driveName(drive));
    const QString node = QString::fromStdString(drive.node);
    return name == node ? name : Words::tr("%1 (%2)").arg(name, node);
}

QString driveSubtitle(const DriveInfo& drive)
{
    QStringList parts{QString::fromStdString(drive.node)};
    if (drive.access != Access::Write && !drive.protections.empty()) {
        parts << protectionText(drive.protections.front());
        return parts.join(u" · "_s);
    }
    parts << busText(drive) << contentsText(drive);
    parts.removeAll(QString());
    return parts.join(u" · "_s);
}

QString sumName(const KnownSum& sum)
{
    const QString kind = QString::fromUtf8(nameOf(sum.kind));
    const QString origin = QFileInfo(QFile::decodeName(QByteArray::fromStdString(sum.origin))).fileName();
    return origin.isEmpty() ? Words::tr("the %1 that was given").arg(kind)
                            : Words::tr("the %1 in %2").arg(kind, origin);
}

QString sumText(const SumResult& result)
{
    const auto kindOf = [](const KnownSum& sum) { return QString::fromUtf8(nameOf(sum.kind)); };
    const auto originOf = [](const KnownSum& sum) {
        const QString file = QFileInfo(QFile::decodeName(QByteArray::fromStdString(sum.origin))).fileName();
        return file.isEmpty() ? Words::tr("the one that was given") : file;
    };
    const auto differs = [&](const KnownSum& sum) {
        return Words::tr("%1 differs from %2").arg(kindOf(sum), originOf(sum));
    };
    if (!result.matches) {
        return differs(result.sum);
    }
    const QString matches =
        (result.ofFile ? Words::tr("%1 matches %2") : Words::tr("%1 of the unpacked image matches %2"))
            .arg(kindOf(result.sum), originOf(result.sum));
    return result.contradictedBy ? Words::tr("%1, but %2").arg(matches, differs(*result.contradictedBy))
                                 : matches;
}

QString checkText(const ImageInfo& image)
{
    return image.checked ? Words::tr("checked by its format's own checksum")
                         : Words::tr("no checksum: damage to the file can't be noticed");
}

QString imageSummary(const ImageInfo& image)
{
    const QString packing = packingText(image);
    QStringList parts;
    if (image.unpackedSize) {
        parts << Words::tr("%1 image").arg(formatSize(*image.unpackedSize));
    } else {
        parts << Words::tr("unpacked size not known yet");
    }
    if (!packing.isEmpty()) {
        parts << Words::tr("%1 %2").arg(formatSize(image.file.size), packing);
    }
    parts << layoutText(image);
    parts.removeAll(QString());
    return parts.join(u" · "_s);
}

} // namespace burin
