// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sheet.h"

#include "card.h"

#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

Sheet::Sheet(const QString& title, const QString& text, QWidget* window)
    : QWidget(window), m_card(new Card(this)), m_content(new QVBoxLayout), m_safe(new QPushButton(m_card)),
      m_action(new QPushButton(m_card))
{
    setAccessibleName(title);
    setAccessibleDescription(text);
    setFocusPolicy(Qt::NoFocus);
    auto* heading = new ToneLabel(ToneLabel::Tone::Plain, 1.25, QFont::DemiBold);
    heading->setText(title);
    heading->setWordWrap(true);
    heading->setObjectName(u"sheetTitle"_s);
    auto* body = new QWidget;
    m_content->setContentsMargins(0, 0, 8, 0);
    m_content->setSpacing(8);
    m_content->addWidget(heading);
    auto* words = new ToneLabel(ToneLabel::Tone::Plain);
    words->setText(text);
    words->setWordWrap(true);
    words->setObjectName(u"sheetText"_s);
    m_content->addWidget(words);
    body->setLayout(m_content);
    auto* scroll = new QScrollArea;
    scroll->setWidget(body);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->viewport()->setAutoFillBackground(false);
    body->setAutoFillBackground(false);
    m_card->column().setContentsMargins(24, 20, 16, 16);
    m_card->column().addWidget(scroll, 1);
    auto* buttons = new QHBoxLayout;
    buttons->setSpacing(9);
    buttons->addStretch(1);
    buttons->addWidget(m_safe);
    buttons->addWidget(m_action);
    m_card->column().addLayout(buttons);
    m_safe->setObjectName(u"sheetSafe"_s);
    m_action->setObjectName(u"sheetAction"_s);
    m_action->setProperty("primary", true);
    m_action->hide();
    setTabOrder(m_safe, m_action);
    connect(m_safe, &QPushButton::clicked, this, [this] { end(false); });
    connect(m_action, &QPushButton::clicked, this, [this] { end(true); });
    window->installEventFilter(this);
    hide();
}

QPushButton* Sheet::setSafeButton(const QString& text)
{
    m_safe->setText(text);
    return m_safe;
}

QPushButton* Sheet::setActionButton(const QString& text)
{
    m_action->setText(text);
    m_action->show();
    return m_action;
}

void Sheet::open()
{
    place();
    show();
    raise();
    place();
    window()->setAttribute(Qt::WA_KeyboardFocusChange); // so that the default is seen
    m_safe->setFocus(Qt::TabFocusReason);
}

void Sheet::reject()
{
    end(false);
}

void Sheet::end(bool accept)
{
    if (m_ended) {
        return;
    }
    m_ended = true;
    hide();
    deleteLater();
    if (accept) {
        Q_EMIT accepted();
    } else {
        Q_EMIT rejected();
    }
    Q_EMIT closed();
}

void Sheet::place()
{
    const QRect all = parentWidget()->rect();
    setGeometry(all);
    const int line = fontMetrics().height();
    const int width = std::min(all.width() - 24, line * 36);
    m_content->activate();
    const int inside = width - 48;
    int height =
        m_content->hasHeightForWidth() ? m_content->heightForWidth(inside) : m_content->sizeHint().height();
    height += 20 + 16 + m_safe->sizeHint().height() + 14;
    height = std::min(height, all.height() - 16);
    m_card->setGeometry((all.width() - width) / 2, std::max(8, (all.height() - height) / 3), width, height);
}

void Sheet::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.fillRect(rect(), QColor(0, 0, 0, 110));
}

void Sheet::keyPressEvent(QKeyEvent* event)
{
    if (event->key() == Qt::Key_Escape) {
        end(false);
    } else if (event->key() == Qt::Key_Return || event->key() == Qt::Key_Enter) {
        // Enter presses the button that has the focus, and nothing from elsewhere.
        if (auto* button = qobject_cast<QPushButton*>(focusWidget());
            button != nullptr && button->hasFocus()) {
            button->click();
        }
    }
    event->accept();
}

bool Sheet::eventFilter(QObject* watched, QEvent* event)
{
    if (watched == parentWidget() && event->type() == QEvent::Resize) {
        place();
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace burin
