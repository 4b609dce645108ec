// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "card.h"

class QCheckBox;
class QPushButton;

namespace burin {

/// The last band: options before and during a job, the advice after it, and the buttons that fit.
class Footer : public QWidget
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(Footer)

public:
    enum class Mode { Idle, Running, Verifying, Verified, Ended };

    explicit Footer(QWidget* parent = nullptr);

    void setMode(Mode mode);
    [[nodiscard]] Mode mode() const { return m_mode; }
    void setReady(bool ready); ///< Idle: an image and a drive are chosen
    void setAdvice(const QString& advice, ToneLabel::Tone tone);
    void setDetails(bool available);
    void setEjectable(bool ejectable);
    void setCancelling(bool cancelling);
    [[nodiscard]] QString advice() const { return m_advice->text(); }
    [[nodiscard]] bool verify() const;
    [[nodiscard]] bool onlyDifferences() const;
    void setRewrite(const QString& text); ///< Ended: the button that writes what differs; empty for none
    [[nodiscard]] bool eject() const;     ///< of a drive that was verified
    [[nodiscard]] bool ejectOption() const;
    void setOptions(bool verify, bool eject);

Q_SIGNALS:
    void flashRequested();
    void cancelRequested();
    void skipVerifyRequested();
    void saveReportRequested();
    void detailsRequested();
    void flashAnotherRequested();
    void flashAgainRequested();
    void rewriteRequested();
    void ejectRequested();

protected:
    void paintEvent(QPaintEvent* event) override;

private:
    QPushButton* addButton(const QString& text, const QString& name, void (Footer::*signal)(),
                           bool primary = false);

    Mode m_mode = Mode::Idle;
    bool m_details = false;
    bool m_ejectable = true;
    bool m_offersRewrite = false;
    QWidget* m_options;
    QCheckBox* m_verify;
    QCheckBox* m_eject;
    QCheckBox* m_differences;
    ToneLabel* m_advice;
    QPushButton* m_detailsButton;
    QPushButton* m_saveReport;
    QPushButton* m_skip;
    QPushButton* m_another;
    QPushButton* m_cancel;
    QPushButton* m_rewrite;
    QPushButton* m_again;
    QPushButton* m_ejectButton;
    QPushButton* m_flash;
};

} // namespace burin
