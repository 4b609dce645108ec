// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

class QAction;
class QMenu;
class QMenuBar;

namespace burin {

/// The menu bar's actions, without what they do.
struct MainMenu {
    explicit MainMenu(QMenuBar& bar);

    QAction* openImage;
    QAction* openUrl;
    QMenu* recent;
    QAction* pasteSum;
    QAction* saveReport;
    QAction* quit;
    QAction* verify;
    QAction* eject;
    QAction* showProtected;
    QAction* showInternal;
    QAction* showLoops;
    QAction* refresh;
    QAction* whyNotShown;
    QAction* about;
};

} // namespace burin
