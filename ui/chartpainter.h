// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "chartmodel.h"

#include <QColor>
#include <QFont>
#include <QList>
#include <QPointF>
#include <QRectF>

class QPainter;

namespace burin {

struct Theme;

/// Where the parts of the chart are, for one size and font.
struct ChartGeometry {
    QFont axisFont;
    QRectF plot;
    QRectF strip;          ///< the chunk map
    double axisLabels = 0; ///< top of the position labels
    double right = 0;      ///< where the widget ends
    PixelMap x;            ///< bytes
    PixelMap y;            ///< MB/s

    /// A curve may stand out above the axis by a hair, no more.
    [[nodiscard]] double heightOf(double bytesPerSecond) const;
};
[[nodiscard]] ChartGeometry chartGeometry(const ChartModel& model, const QRectF& area, const QFont& font);

/// Draws the model: the axes, the curves and the chunk map.
class ChartPainter
{
public:
    ChartPainter(QPainter& painter, const ChartModel& model, const ChartGeometry& geometry,
                 const Theme& colours)
        : m_painter(painter), m_model(model), m_geometry(geometry), m_colours(colours)
    {
    }

    void paint();

private:
    void paintRateAxis();
    void paintSizeAxis();
    void paintCurve(const ChartCurve& curve, const QColor& colour);
    void paintMean(const ChartCurve& curve, const QColor& colour);
    void paintCells();
    [[nodiscard]] QList<QPointF> pointsOf(const ChartCurve& curve) const;

    QPainter& m_painter;
    const ChartModel& m_model;
    const ChartGeometry& m_geometry;
    const Theme& m_colours;
};

} // namespace burin
