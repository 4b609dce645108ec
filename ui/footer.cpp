// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "footer.h"

#include "theme.h"

#include <QCheckBox>
#include <QHBoxLayout>
#include <QPainter>
#include <QPushButton>

using namespace Qt::StringLiterals;

namespace burin {

Footer::Footer(QWidget* parent)
    : QWidget(parent), m_options(new QWidget(this)),
      m_verify(new QCheckBox(tr("Verify after &writing"), this)),
      m_eject(new QCheckBox(tr("&Eject when verified"), this)),
      m_differences(new QCheckBox(tr("&Only what differs"), this)),
      m_advice(new ToneLabel(ToneLabel::Tone::Plain, 1.06, QFont::DemiBold, this))
{
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(18, 8, 18, 8);
    layout->setSpacing(9);
    m_verify->setObjectName(u"verifyOption"_s);
    m_eject->setObjectName(u"ejectOption"_s);
    m_differences->setObjectName(u"differencesOption"_s);
    m_differences->setToolTip(
        tr("Reads each part of the drive first and writes it only if it differs from the image. For flashing "
           "nearly the same image again."));
    m_verify->setChecked(true);
    m_eject->setChecked(true);
    m_advice->setObjectName(u"advice"_s);
    m_advice->setWordWrap(true);
    auto* options = new QHBoxLayout(m_options);
    options->setContentsMargins(0, 0, 0, 0);
    options->setSpacing(fontMetrics().height() * 2);
    options->addWidget(m_verify);
    options->addWidget(m_eject);
    options->addWidget(m_differences);
    options->addStretch(1);
    layout->addWidget(m_options, 1);
    layout->addWidget(m_advice, 1);
    m_detailsButton = addButton(tr("De&tails…"), u"detailsButton"_s, &Footer::detailsRequested);
    m_saveReport = addButton(tr("Save &report…"), u"saveReportButton"_s, &Footer::saveReportRequested);
    m_skip = addButton(tr("&Skip verify"), u"skipButton"_s, &Footer::skipVerifyRequested);
    m_another = addButton(tr("Flash &another"), u"anotherButton"_s, &Footer::flashAnotherRequested);
    m_rewrite = addButton(tr("Con&tinue"), u"rewriteButton"_s, &Footer::rewriteRequested);
    m_cancel = addButton(tr("Cance&l"), u"cancelButton"_s, &Footer::cancelRequested);
    m_again = addButton(tr("Flash aga&in"), u"againButton"_s, &Footer::flashAgainRequested, true);
    m_ejectButton = addButton(tr("E&ject"), u"ejectButton"_s, &Footer::ejectRequested, true);
    m_flash = addButton(tr("F&lash"), u"flashButton"_s, &Footer::flashRequested, true);
    setReady(false);
    setMode(Mode::Idle);
}

QPushButton* Footer::addButton(const QString& text, const QString& name, void (Footer::*signal)(),
                               bool primary)
{
    auto* button = new QPushButton(text, this);
    button->setObjectName(name);
    button->setAutoDefault(true);
    button->setProperty("primary", primary);
    if (primary) {
        button->setMinimumWidth(fontMetrics().height() * 9);
    }
    if (signal == &Footer::flashRequested) {
        button->setMinimumWidth(fontMetrics().height() * 11);
    } else if (signal == &Footer::cancelRequested) {
        button->setMinimumWidth(fontMetrics().height() * 7);
    }
    connect(button, &QPushButton::clicked, this, signal);
    layout()->addWidget(button);
    return button;
}

void Footer::setMode(Mode mode)
{
    m_mode = mode;
    const bool running = mode == Mode::Running || mode == Mode::Verifying;
    const bool ended = mode == Mode::Verified || mode == Mode::Ended;
    // Shown before others are hidden, so that the focus finds a place near by.
    m_flash->setVisible(mode == Mode::Idle);
    m_cancel->setVisible(running);
    m_skip->setVisible(mode == Mode::Verifying);
    m_options->setVisible(!ended);
    m_verify->setEnabled(!running);
    m_eject->setEnabled(!running || m_verify->isChecked());
    m_differences->setEnabled(!running);
    m_rewrite->setVisible(mode == Mode::Ended && m_offersRewrite);
    m_advice->setVisible(ended);
    m_saveReport->setVisible(ended);
    m_another->setVisible(ended);
    m_again->setVisible(mode == Mode::Ended);
    m_ejectButton->setVisible(mode == Mode::Verified);
    m_detailsButton->setVisible(ended && m_details);
}

void Footer::setReady(bool ready)
{
    m_flash->setEnabled(ready);
    m_flash->setText(ready ? tr("F&lash 1 drive") : tr("F&lash"));
}

void Footer::setAdvice(const QString& advice, ToneLabel::Tone tone)
{
    m_advice->setText(advice);
    m_advice->setTone(tone);
}

void Footer::setDetails(bool available)
{
    m_details = available;
    setMode(m_mode);
}

void Footer::setRewrite(const QString& text)
{
    m_offersRewrite = !text.isEmpty();
    if (m_offersRewrite) {
        m_rewrite->setText(text);
    }
    setMode(m_mode);
}

bool Footer::onlyDifferences() const
{
    return m_differences->isChecked();
}

void Footer::setEjectable(bool ejectable)
{
    m_ejectButton->setEnabled(ejectable);
}

void Footer::setCancelling(bool cancelling)
{
    m_cancel->setEnabled(!cancelling);
    m_skip->setEnabled(!cancelling);
}

bool Footer::verify() const
{
    return m_verify->isChecked();
}

bool Footer::eject() const
{
    return m_eject->isChecked() && m_verify->isChecked();
}

bool Footer::ejectOption() const
{
    return m_eject->isChecked();
}

void Footer::setOptions(bool verify, bool eject)
{
    m_verify->setChecked(verify);
    m_eject->setChecked(eject);
}

void Footer::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(QRect(0, 0, width(), 1), theme(palette()).border);
}

} // namespace burin
