// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QCoreApplication>

namespace burin {

/// The translation context of words that belong to no widget.
struct Words {
    Q_DECLARE_TR_FUNCTIONS(burin::Words)
};

} // namespace burin
