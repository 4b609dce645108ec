// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "confirmsheet.h"

#include "card.h"
#include "drivelistmodel.h"
#include "errortext.h"
#include "formatting.h"

#include <QCheckBox>
#include <QFile>
#include <QFileInfo>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

QString nameOf(const DriveInfo& drive)
{
    return QString::fromStdString(driveName(drive));
}

QString lossText(const DriveContent& content)
{
    QStringList facts{QString::fromStdString(content.node), QString::fromStdString(content.fileSystem),
                      content.size != 0 ? formatSize(content.size) : QString()};
    facts.removeAll(QString());
    const QString name =
        content.label.empty() ? ConfirmSheet::tr("without a name") : QString::fromStdString(content.label);
    QString text = ConfirmSheet::tr("%1 (%2)").arg(name, facts.join(u", "_s));
    if (!content.mountPoints.empty()) {
        QStringList places;
        for (const std::string& place : content.mountPoints) {
            places << QString::fromStdString(place);
        }
        text = ConfirmSheet::tr("%1, mounted at %2").arg(text, places.join(u", "_s));
    }
    return text;
}

} // namespace

ConfirmSheet::ConfirmSheet(const ImageInfo& image, const DriveInfo& drive, QWidget* window)
    : Sheet(tr("Erase %1?").arg(nameOf(drive)),
            tr("Everything on this drive is replaced by “%1”. This can't be undone.")
                .arg(QFileInfo(QFile::decodeName(image.path.c_str())).fileName()),
            window),
      m_drive(drive)
{
    setObjectName(u"confirmSheet"_s);
    addLosses();
    addConditions(image);
    content().addStretch(1);
    setSafeButton(tr("Cancel"));
    setActionButton(tr("Erase and flash %1").arg(driveNameAndNode(drive)).replace(u'&', u"&&"_s));
    check();
}

void ConfirmSheet::addLosses()
{
    auto* title = new ToneLabel(ToneLabel::Tone::Plain, 1.06, QFont::DemiBold);
    title->setText(driveTitle(m_drive));
    title->setWordWrap(true);
    auto* subtitle = new ToneLabel(ToneLabel::Tone::Muted, 0.93);
    QStringList facts{QString::fromStdString(m_drive.path)};
    if (!m_drive.serial.empty()) {
        facts << tr("serial %1").arg(QString::fromStdString(m_drive.serial));
    }
    subtitle->setText(facts.join(u" · "_s));
    subtitle->setWordWrap(true);
    QStringList losses;
    for (const DriveContent& content : m_drive.contents) {
        losses << u"•  "_s + lossText(content);
    }
    auto* lost = new ToneLabel(ToneLabel::Tone::Plain);
    lost->setObjectName(u"losses"_s);
    lost->setWordWrap(true);
    lost->setText(losses.isEmpty() ? tr("It holds nothing that Burin recognises.")
                                   : tr("What is lost:\n%1").arg(losses.join(u'\n')));
    content().addSpacing(4);
    content().addWidget(title);
    content().addWidget(subtitle);
    content().addWidget(lost);
}

void ConfirmSheet::addConditions(const ImageInfo& image)
{
    if (std::ranges::contains(image.warnings, ImageWarning::ShorterThanItsTable)) {
        m_allowShort = new QCheckBox(tr("Write it although the image is probably incomplete"));
        m_allowShort->setObjectName(u"allowShort"_s);
        content().addWidget(m_allowShort);
        connect(m_allowShort, &QCheckBox::toggled, this, &ConfirmSheet::check);
    }
    if (needsTypedName(m_drive)) {
        auto* ask = new ToneLabel(ToneLabel::Tone::Plain);
        ask->setText(tr("This is no everyday stick. To go on, type its name: %1")
                         .arg(QString::fromStdString(typedName(m_drive))));
        ask->setWordWrap(true);
        m_typed = new QLineEdit;
        m_typed->setObjectName(u"typedName"_s);
        m_typed->setAccessibleName(ask->text());
        content().addWidget(ask);
        content().addWidget(m_typed);
        connect(m_typed, &QLineEdit::textChanged, this, &ConfirmSheet::check);
    }
}

void ConfirmSheet::check()
{
    const bool named = m_typed == nullptr
        || m_typed->text().simplified() == QString::fromStdString(typedName(m_drive)).simplified();
    const bool allowed = m_allowShort == nullptr || m_allowShort->isChecked();
    actionButton()->setEnabled(named && allowed);
}

void ConfirmSheet::watch(const std::vector<DriveInfo>& drives)
{
    if (std::ranges::find(drives, m_drive) == drives.end()) {
        Q_EMIT driveLost();
        reject();
    }
}

} // namespace burin
