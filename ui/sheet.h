// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QPushButton;
class QVBoxLayout;

namespace burin {

class Card;

/// A question over the window, which it dims and blocks. The first button is the safe one: it has the
/// focus, and Escape means it. Deletes itself when answered.
class Sheet : public QWidget
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Sheet)

public:
    Sheet(const QString& title, const QString& text, QWidget* window);

    [[nodiscard]] QVBoxLayout& content() { return *m_content; }
    QPushButton* setSafeButton(const QString& text);
    QPushButton* setActionButton(const QString& text);
    [[nodiscard]] QPushButton* actionButton() const { return m_action; }
    void open();
    void reject();

Q_SIGNALS:
    void accepted();
    void rejected();
    /// Said once, after accepted or rejected.
    void closed();

protected:
    void paintEvent(QPaintEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void end(bool accept);
    void place();

    Card* m_card;
    QVBoxLayout* m_content;
    QPushButton* m_safe;
    QPushButton* m_action;
    bool m_ended = false;
};

} // namespace burin
