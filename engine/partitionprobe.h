// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "imageprobe.h"

#include <span>
#include <string>
#include <vector>

namespace burin {

/// A partition table as libblkid reads it.
struct TableFacts {
    PartitionTable table = PartitionTable::None;
    bool otherTable = false;                ///< one that is neither MBR nor GPT: Apple's, Sun's...
    std::vector<ImagePartition> partitions; ///< without their file systems
    std::vector<Range> containers;          ///< extended partitions, which hold logical ones
    Bytes end = 0;                          ///< the last byte, plus one, that the table speaks of
};

/// Reads the table at the beginning of a range of `fd`, made for logical blocks of `block`.
[[nodiscard]] TableFacts readTable(int fd, Range range, std::uint32_t block);

struct FileSystemFacts {
    std::string type;
    std::string label;
};

/// The file system in a range of `fd`; empty if there is none, or more than one would fit.
[[nodiscard]] FileSystemFacts readFileSystem(int fd, Range range);

/// What a GPT's header says, read from the unpacked beginning. libblkid refuses a GPT that reaches beyond
/// the end, which is the very case that people must be told of.
struct GptFacts {
    std::uint32_t block = 0; ///< 512 or 4096, whichever block holds the header; 0 if there is none
    Bytes end = 0;           ///< behind the backup header
    bool damaged = false;    ///< the header or the entries don't fit their CRC
};
[[nodiscard]] GptFacts readGptHeader(std::span<const std::byte> head);
/// Whether this block holds a GPT header that fits its CRC (UEFI 2.10, 5.3.2).
[[nodiscard]] bool isSoundGptHeader(std::span<const std::byte> block);

/// The primary volume descriptor of ISO 9660 (ECMA-119, 8.4).
struct IsoFacts {
    bool present = false;
    std::string label;
    Bytes end = 0;
    bool startsFromDisc = false; ///< El Torito's boot record is there (El Torito 1.0, 7.0)
};
[[nodiscard]] IsoFacts readIsoVolume(std::span<const std::byte> head);

/// The offset of the next extended boot record in a container, and the logical partition's in this one; 0 for
/// none. `record` are the 512 bytes at `at`.
struct BootRecordLinks {
    Offset partition = 0;
    Offset next = 0;
};
[[nodiscard]] BootRecordLinks followBootRecord(std::span<const std::byte> record, Offset at,
                                               Offset container);

/// A UDF volume (ECMA-167, 2/9.1).
[[nodiscard]] bool hasUdfVolume(std::span<const std::byte> head);
/// Where the last partition of a UDF volume ends; 0 if there is none, or if it isn't described in `head`.
[[nodiscard]] Bytes readUdfEnd(std::span<const std::byte> head);

/// Whether the first block ends with the mark of a boot record.
[[nodiscard]] bool hasBootSignature(std::span<const std::byte> head);

} // namespace burin
