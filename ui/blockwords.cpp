// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "blockwords.h"

#include "engine/writemap.h"
#include "formatting.h"
#include "words.h"

#include <QFile>
#include <QFileInfo>

using namespace Qt::StringLiterals;

namespace burin {

std::optional<Bytes> bytesToWrite(const std::shared_ptr<const UsedBlocks>& used)
{
    return WriteMap({.used = used}).total();
}

QString blocksText(const ImageInfo& image, bool everything)
{
    const auto used = usedBlocksOf(image);
    const auto bytes = bytesToWrite(used);
    if (!bytes) {
        return Words::tr("writes every block");
    }
    if (everything) {
        return Words::tr("writes every block · %1 are used")
            .arg(formatPercent(double(*bytes) / double(used->imageSize)));
    }
    return Words::tr("writes %1: used blocks").arg(formatSizeOf(*bytes, used->imageSize));
}

QString doubtText(const ImageInfo& image)
{
    if (image.bmap || !image.usedDoubt) {
        return {};
    }
    switch (*image.usedDoubt) {
    case UsedDoubt::Packed:
        return Words::tr(
            "What is used can't be known before the image has been unpacked, and there is no block "
            "map beside it.");
    case UsedDoubt::NoFileSystem:
        return Words::tr("There is no file system inside whose free blocks Burin can tell.");
    case UsedDoubt::UnusualTable:
        return Words::tr("Its partitions overlap, or don't lie within the image.");
    case UsedDoubt::NotClean:
        return Words::tr("A file system inside was not unmounted cleanly, so all of it is written.");
    case UsedDoubt::UnknownFeature:
        return Words::tr(
            "A file system inside has a feature that Burin doesn't know, so all of it is written.");
    case UsedDoubt::Contradiction:
        return Words::tr("The free blocks of a file system inside don't add up, so all of it is written.");
    case UsedDoubt::TooLarge:
        return Words::tr("A file system inside is too large to look for its free blocks, so all of it is "
                         "written.");
    case UsedDoubt::Interrupted:
        return {};
    case UsedDoubt::MapWithoutSums:
        return Words::tr("The block map %1 has no checksums, so it is used only if you name it (--bmap).")
            .arg(QFileInfo(QFile::decodeName(image.bmapPath.c_str())).fileName());
    }
    return {};
}

QString refutedText(const MapRefuted& refuted)
{
    const QString place = formatSize(refuted.offset);
    return refuted.reason == MapRefuted::Reason::NotZero
        ? Words::tr("the block map leaves out data at %1, so everything was written").arg(place)
        : Words::tr("the block map is for an image of another size, so everything was written");
}

QString restText(const FlashReport& report)
{
    if (report.coverage == Coverage::EveryByte) {
        return {};
    }
    return report.bytesCleared > 0 ? Words::tr("the rest was cleared")
        : report.driveTouched      ? Words::tr("the rest was not written")
                                   : Words::tr("the rest was not looked at");
}

QString verifiedTitle(const FlashReport& report)
{
    if (report.coverage == Coverage::EveryByte) {
        return Words::tr("Verified: every byte on the drive equals the image");
    }
    const Bytes size = report.imageSize.value_or(0);
    return Words::tr("Verified: all used blocks (%1; %2)")
        .arg(formatSizeOf(size - report.bytesSkipped - report.bytesCleared, size), restText(report));
}

} // namespace burin
