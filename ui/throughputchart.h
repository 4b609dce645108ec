// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chartmodel.h"

#include <QWidget>

#include <optional>

class QPainter;

namespace burin {

enum class HeadlineMark { None, Good, Bad };

/// Speed over the position on the image, the write and the verify on one axis, and the chunk map below:
/// the chart is the progress bar. Hovering, or the arrow keys, read it out.
class ThroughputChart : public QWidget
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(ThroughputChart)

public:
    explicit ThroughputChart(QWidget* parent = nullptr);

    void setModel(ChartModel model);
    [[nodiscard]] const ChartModel& model() const { return m_model; }
    void setHeadline(const QString& headline, const QString& detail, HeadlineMark mark = HeadlineMark::None);
    [[nodiscard]] const QString& headline() const { return m_headline; }
    [[nodiscard]] const QString& detail() const { return m_detail; }
    /// Words in the middle of an empty chart.
    void setMessage(const QString& message);
    [[nodiscard]] const QString& message() const { return m_message; }
    /// "2.17 GB · write 41.2 MB/s · rootfs"
    [[nodiscard]] QString readOut(Offset position) const;

    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    void mouseMoveEvent(QMouseEvent* event) override;
    void leaveEvent(QEvent* event) override;
    void keyPressEvent(QKeyEvent* event) override;
    void focusOutEvent(QFocusEvent* event) override;

private:
    struct Layout;
    [[nodiscard]] Layout layout() const;
    void paintHeadline(QPainter& painter, const Layout& l) const;
    void paintMessage(QPainter& painter, const Layout& l) const;
    void paintReadOut(QPainter& painter, const Layout& l) const;
    void setReadOut(std::optional<Offset> position);
    void describe();

    ChartModel m_model;
    QString m_headline;
    QString m_detail;
    HeadlineMark m_mark = HeadlineMark::None;
    QString m_message;
    std::optional<Offset> m_readOut;
};

} // namespace burin
