// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "mainmenu.h"

#include "words.h"

#include <QAction>
#include <QMenuBar>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

QAction* add(QMenu& menu, const QString& text, const QString& name, const QKeySequence& key = {})
{
    QAction* action = menu.addAction(text);
    action->setObjectName(name);
    action->setShortcut(key);
    return action;
}

QAction* addToggle(QMenu& menu, const QString& text, const QString& name, bool on)
{
    QAction* action = add(menu, text, name);
    action->setCheckable(true);
    action->setChecked(on);
    return action;
}

} // namespace

MainMenu::MainMenu(QMenuBar& bar)
{
    QMenu& file = *bar.addMenu(Words::tr("&File"));
    openImage = add(file, Words::tr("&Open image…"), u"openImage"_s, QKeySequence(Qt::CTRL | Qt::Key_O));
    openUrl = add(file, Words::tr("Open from the &web…"), u"openUrl"_s);
    recent = file.addMenu(Words::tr("&Recent images"));
    file.addSeparator();
    pasteSum = add(file, Words::tr("Compare with a &checksum…"), u"pasteSum"_s);
    file.addSeparator();
    saveReport = add(file, Words::tr("&Save report…"), u"saveReport"_s, QKeySequence(Qt::CTRL | Qt::Key_S));
    file.addSeparator();
    quit = add(file, Words::tr("&Quit"), u"quit"_s, QKeySequence(Qt::CTRL | Qt::Key_Q));

    QMenu& drive = *bar.addMenu(Words::tr("&Drive"));
    verify = add(drive, Words::tr("&Verify against the image"), u"verifyDrive"_s);
    eject = add(drive, Words::tr("&Eject"), u"ejectDrive"_s);

    QMenu& view = *bar.addMenu(Words::tr("&View"));
    showProtected = addToggle(view, Words::tr("&Protected drives"), u"showProtected"_s, true);
    showInternal = addToggle(view, Words::tr("&Internal drives"), u"showInternal"_s, false);
    showLoops = addToggle(view, Words::tr("&Loop devices"), u"showLoops"_s, false);
    view.addSeparator();
    refresh = add(view, Words::tr("&Refresh"), u"refresh"_s, QKeySequence(Qt::Key_F5));

    QMenu& help = *bar.addMenu(Words::tr("&Help"));
    whyNotShown = add(help, Words::tr("&Why is my drive not shown?"), u"whyNotShown"_s);
    about = add(help, Words::tr("&About Burin"), u"about"_s);
}

} // namespace burin
