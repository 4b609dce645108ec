// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// One line of mountinfo (proc_pid_mountinfo(5)), octal escapes decoded.
struct MountEntry {
    std::uint64_t devno = 0; ///< dev_t; major 0 is anonymous
    std::string root;        ///< the path within the file system that is shown here
    std::string mountPoint;
    std::string options;
    std::string fileSystem;
    std::string source;
    std::string superOptions;
    std::uint64_t id = 0; ///< of the mount, in the table that it was read from

    bool operator==(const MountEntry&) const = default;
};

/// The mounts in the order of the text: of two on the same place the later one hides the earlier. Lines
/// that can't be read are left out and counted in `unreadable`.
struct MountTable {
    std::vector<MountEntry> entries;
    unsigned unreadable = 0;
};
[[nodiscard]] MountTable parseMountInfo(std::string_view text);

/// `\040` and the like, as the kernel writes them in mountinfo and /proc/swaps, and fstab(5) too.
[[nodiscard]] std::string decodeOctal(std::string_view text);

/// The same place or below it: "/mnt" holds "/mnt" and "/mnt/x", not "/mntx".
[[nodiscard]] bool isWithin(std::string_view path, std::string_view folder);

/// Where people and desktops mount removable drives: /media, /run/media, /mnt (SPEC 4.4).
[[nodiscard]] bool isRemovableFolder(std::string_view mountPoint);

/// The mounts that hold `path`: those with the longest mount point that contains it; several where one hides
/// another. Empty if none does, as in a chroot.
[[nodiscard]] std::vector<const MountEntry*> mountsHolding(const MountTable& table, std::string_view path);

[[nodiscard]] std::vector<std::string_view> splitWords(std::string_view line,
                                                       std::string_view separators = " \t");
[[nodiscard]] std::vector<std::string_view> splitLines(std::string_view text);

} // namespace burin
