// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "driveinfo.h"
#include "systemsnapshot.h"

#include <map>
#include <string>
#include <vector>

namespace burin {

/// A drive for the guard to judge: a whole disk of the snapshot.
struct GuardSubject {
    std::string name;      ///< in the snapshot's nodes
    bool external = false; ///< SPEC 4.5
    bool loop = false;
};

struct Judgement {
    Access access = Access::None;
    std::vector<Protection> protections;

    bool operator==(const Judgement&) const = default;
};

/// Says what may be done with each drive (SPEC 4.4). Pure: the same snapshot gives the same answer. It fails
/// closed: what can't be read or understood protects every real drive.
[[nodiscard]] std::map<std::string, Judgement> judgeDrives(const SystemSnapshot& snapshot,
                                                           const std::vector<GuardSubject>& subjects);

/// The access that a list of protections leaves.
[[nodiscard]] Access accessUnder(const std::vector<Protection>& protections);

} // namespace burin
