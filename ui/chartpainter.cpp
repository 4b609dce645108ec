// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "chartpainter.h"

#include "formatting.h"
#include "theme.h"
#include "words.h"

#include <QLocale>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <cmath>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr double kCellPitch = 6.7;
constexpr double kPointPitch = 2;   ///< pixels between two points of a curve
constexpr double kHairAbove = 1.04; ///< of the axis

QString rateLabel(double megabytes)
{
    return QLocale().toString(megabytes, 'f', megabytes < 10 && megabytes != std::floor(megabytes) ? 1 : 0);
}

QColor translucent(QColor colour, double alpha)
{
    colour.setAlphaF(float(alpha));
    return colour;
}

} // namespace

double ChartGeometry::heightOf(double bytesPerSecond) const
{
    return y.pixel(std::min(bytesPerSecond / 1e6, y.top * kHairAbove));
}

ChartGeometry chartGeometry(const ChartModel& model, const QRectF& area, const QFont& font)
{
    ChartGeometry g;
    g.axisFont = scaledFont(font, 0.86);
    const QFontMetricsF axis(g.axisFont);
    double left = axis.horizontalAdvance(Words::tr("MB/s"));
    for (const QString& label : {u"000"_s, rateLabel(model.rates.top), rateLabel(model.rates.step)}) {
        left = std::max(left, axis.horizontalAdvance(label));
    }
    left += 8;
    const double stripHeight = std::round(axis.height() * 1.1);
    const double bottom = area.bottom() - axis.height() - 6;
    g.strip = {area.left() + left, bottom - stripHeight, area.width() - left - 6, stripHeight};
    g.plot = {g.strip.left(), area.top() + axis.height() * 1.15, g.strip.width(), 0};
    g.plot.setBottom(std::max(g.strip.top() - 10, g.plot.top() + 1));
    g.axisLabels = bottom + 6;
    g.right = area.right();
    g.x = {.from = g.plot.left(), .to = g.plot.right(), .top = double(std::max<Bytes>(model.extent, 1))};
    g.y = {.from = g.plot.bottom(), .to = g.plot.top(), .top = model.rates.top};
    return g;
}

void ChartPainter::paint()
{
    paintRateAxis();
    paintSizeAxis();
    paintCurve(m_model.write, m_colours.write);
    paintCurve(m_model.verify, m_colours.verify);
    if (m_model.write.isEmpty()) {
        paintMean(m_model.verify, m_colours.verify);
    } else {
        paintMean(m_model.write, m_colours.write);
    }
    paintCells();
}

void ChartPainter::paintRateAxis()
{
    const QRectF& plot = m_geometry.plot;
    const QFontMetricsF metrics(m_geometry.axisFont);
    m_painter.setFont(m_geometry.axisFont);
    const int last = m_model.rates.ticks() - 1;
    const bool crowded = plot.height() < metrics.height() * last;
    for (int i = 0; i <= last; ++i) {
        const double value = i * m_model.rates.step;
        const double y = std::round(m_geometry.y.pixel(value)) + 0.5;
        m_painter.setPen(QPen(m_colours.grid, 1));
        m_painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
        m_painter.setPen(m_colours.muted);
        if (crowded && i != 0 && i != last) {
            continue;
        }
        m_painter.drawText(QRectF(0, y - metrics.height() / 2, plot.left() - 8, metrics.height()),
                           int(Qt::AlignRight) | int(Qt::AlignVCenter), rateLabel(value));
    }
    const double unitTop = m_geometry.strip.center().y() - metrics.height() / 2 + 2;
    m_painter.drawText(QRectF(0, unitTop, plot.left() - 8, metrics.height()),
                       int(Qt::AlignRight) | int(Qt::AlignVCenter), Words::tr("MB/s"));
}

void ChartPainter::paintSizeAxis()
{
    const QFontMetricsF metrics(m_geometry.axisFont);
    const int fitting = int(m_geometry.plot.width() / (metrics.horizontalAdvance(u"000 MB"_s) * 2));
    const Axis sizes = sizeAxis(m_model.extent, std::clamp(fitting, 1, 8));
    for (int i = 0; i < sizes.ticks(); ++i) {
        const double value = i * sizes.step;
        const QString label = i == 0 ? QLocale().toString(0) : formatSize(Bytes(value));
        const double half = metrics.horizontalAdvance(label) / 2 + 1;
        const double x = m_geometry.x.pixel(value);
        if (x + half <= m_geometry.right) {
            m_painter.drawText(QRectF(x - half, m_geometry.axisLabels, half * 2, metrics.height()),
                               int(Qt::AlignCenter), label);
        }
    }
}

/// The points of a curve, neighbours averaged so that they stand kPointPitch apart at least.
QList<QPointF> ChartPainter::pointsOf(const ChartCurve& curve) const
{
    QList<QPointF> points;
    const PixelMap& x = m_geometry.x;
    const double binPixels = x.pixel(double(curve.binWidth)) - x.pixel(0);
    const auto group = std::size_t(std::max(1.0, std::ceil(kPointPitch / std::max(binPixels, 1e-6))));
    for (std::size_t i = 0; i < curve.rates.size(); i += group) {
        const std::size_t end = std::min(i + group, curve.rates.size());
        double sum = 0;
        for (std::size_t j = i; j < end; ++j) {
            sum += curve.rates[j];
        }
        const double middle = double(i + end) / 2 * double(curve.binWidth);
        points << QPointF(x.pixel(std::min(middle, double(curve.reached))),
                          m_geometry.heightOf(sum / double(end - i)));
    }
    if (!points.isEmpty()) {
        points.prepend({x.pixel(0), points.front().y()});
        points.append({x.pixel(double(curve.reached)), points.back().y()});
    }
    return points;
}

void ChartPainter::paintCurve(const ChartCurve& curve, const QColor& colour)
{
    if (curve.isEmpty()) {
        return;
    }
    const QList<QPointF> points = pointsOf(curve);
    if (points.isEmpty()) {
        return;
    }
    QPainterPath area;
    area.moveTo(points.front().x(), m_geometry.plot.bottom());
    for (const QPointF& point : points) {
        area.lineTo(point);
    }
    area.lineTo(points.back().x(), m_geometry.plot.bottom());
    m_painter.fillPath(area, translucent(colour, 0.16));
    m_painter.setBrush(Qt::NoBrush);
    m_painter.setPen(QPen(colour, 1.5, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
    m_painter.drawPolyline(points.constData(), int(points.size()));
}

void ChartPainter::paintMean(const ChartCurve& curve, const QColor& colour)
{
    if (curve.isEmpty() || curve.mean <= 0) {
        return;
    }
    const QRectF& plot = m_geometry.plot;
    const double mean = curve.mean / 1e6;
    const double y = std::round(m_geometry.y.pixel(mean)) + 0.5;
    QPen pen(colour, 1);
    pen.setDashPattern({5, 4});
    m_painter.setPen(pen);
    m_painter.drawLine(QPointF(plot.left(), y), QPointF(plot.right(), y));
    const QFontMetricsF metrics(m_geometry.axisFont);
    const QString label = Words::tr("mean %1").arg(QLocale().toString(mean, 'f', mean < 99.95 ? 1 : 0));
    const double width = metrics.horizontalAdvance(label);
    QRectF box(plot.right() - width - 10, y - metrics.height() - 5, width + 8, metrics.height() + 2);
    if (box.top() < plot.top()) {
        box.moveTop(y + 4);
    }
    m_painter.setPen(Qt::NoPen);
    m_painter.setBrush(translucent(m_colours.card, 0.85));
    m_painter.drawRoundedRect(box, 3, 3);
    m_painter.setFont(m_geometry.axisFont);
    m_painter.setPen(colour);
    m_painter.drawText(box, int(Qt::AlignCenter), label);
}

void ChartPainter::paintCells()
{
    const QRectF& strip = m_geometry.strip;
    m_painter.setPen(QPen(m_colours.border, 1));
    m_painter.setBrush(m_colours.well);
    m_painter.drawRoundedRect(strip.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    const QRectF inside = strip.adjusted(1.5, 1.5, -1.5, -1.5);
    const int count = std::max(1, int(inside.width() / kCellPitch));
    const double pitch = inside.width() / count;
    const auto cells = m_model.cells(count);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == CellState::Waiting) {
            continue;
        }
        const QRectF cell(inside.left() + double(i) * pitch + 0.5, inside.top(), pitch - 1, inside.height());
        if (cells[i] == CellState::Unused) { // a line: passed over
            m_painter.setPen(QPen(m_colours.muted, 1));
            m_painter.drawLine(QPointF(cell.left(), cell.center().y()),
                               QPointF(cell.right(), cell.center().y()));
            continue;
        }
        m_painter.setPen(Qt::NoPen);
        m_painter.setBrush(cells[i] == CellState::Written        ? m_colours.writtenCell
                               : cells[i] == CellState::Verified ? m_colours.verifiedCell
                                                                 : m_colours.badCell);
        // Told apart by shape too: written cells are half as high, and a cross marks what differs.
        const double cut = cells[i] == CellState::Written ? inside.height() * 0.22 : 0;
        m_painter.drawRoundedRect(cell.adjusted(0, cut, 0, -cut), 1.5, 1.5);
        if (cells[i] == CellState::Different) {
            m_painter.setPen(QPen(m_colours.onAccent, 1.2));
            const QRectF cross(cell.center().x() - 2, cell.center().y() - 2, 4, 4);
            m_painter.drawLine(cross.topLeft(), cross.bottomRight());
            m_painter.drawLine(cross.topRight(), cross.bottomLeft());
        }
    }
}

} // namespace burin
