// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "throughputchart.h"

#include "formatting.h"
#include "theme.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QLocale>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <utility>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr double kCellPitch = 6.7;
constexpr double kPointPitch = 2;   ///< pixels between two points of a curve
constexpr double kHairAbove = 1.04; ///< of the axis; a curve may stand out so far

QString rateLabel(double megabytes)
{
    return QLocale().toString(megabytes, 'f', megabytes < 10 && megabytes != std::floor(megabytes) ? 1 : 0);
}

QPainterPath markPath(HeadlineMark mark, const QRectF& box)
{
    QPainterPath path;
    if (mark == HeadlineMark::Good) {
        path.moveTo(box.left(), box.top() + box.height() * 0.55);
        path.lineTo(box.left() + box.width() * 0.35, box.bottom());
        path.lineTo(box.right(), box.top());
    } else if (mark == HeadlineMark::Bad) {
        path.moveTo(box.topLeft());
        path.lineTo(box.bottomRight());
        path.moveTo(box.topRight());
        path.lineTo(box.bottomLeft());
    }
    return path;
}

/// The points of a curve, neighbours averaged so that they stand kPointPitch apart at least.
QList<QPointF> pointsOf(const ChartCurve& curve, const PixelMap& x, const PixelMap& y, double highest)
{
    QList<QPointF> points;
    const double binPixels = x.pixel(double(curve.binWidth)) - x.pixel(0);
    const auto group = std::size_t(std::max(1.0, std::ceil(kPointPitch / std::max(binPixels, 1e-6))));
    for (std::size_t i = 0; i < curve.rates.size(); i += group) {
        const std::size_t end = std::min(i + group, curve.rates.size());
        double sum = 0;
        for (std::size_t j = i; j < end; ++j) {
            sum += curve.rates[j];
        }
        const double rate = std::min(sum / double(end - i) / 1e6, highest);
        const double middle = double(i + end) / 2 * double(curve.binWidth);
        points << QPointF(x.pixel(std::min(middle, double(curve.reached))), y.pixel(rate));
    }
    if (!points.isEmpty()) {
        points.prepend({x.pixel(0), points.front().y()});
        points.append({x.pixel(double(curve.reached)), points.back().y()});
    }
    return points;
}

QColor translucent(QColor colour, double alpha)
{
    colour.setAlphaF(float(alpha));
    return colour;
}

} // namespace

struct ThroughputChart::Layout {
    QFont headlineFont;
    QFont detailFont;
    QFont axisFont;
    QRectF headline;
    QRectF detail;
    QRectF plot;
    QRectF strip;
    double axisLabels = 0; ///< baseline box top of the position labels
    PixelMap x;
    PixelMap y;
};

ThroughputChart::ThroughputChart(QWidget* parent) : QWidget(parent)
{
    setObjectName(u"throughputChart"_s);
    setMouseTracking(true);
    setFocusPolicy(Qt::TabFocus);
    setAccessibleName(tr("Throughput chart"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
    describe();
}

void ThroughputChart::setModel(ChartModel model)
{
    m_model = std::move(model);
    describe();
    update();
}

void ThroughputChart::setHeadline(const QString& headline, const QString& detail, HeadlineMark mark)
{
    const bool news = std::exchange(m_headline, headline).section(u' ', 0, 0) != headline.section(u' ', 0, 0);
    m_detail = detail;
    m_mark = mark;
    describe();
    if (news) {
        QAccessibleEvent event(this, QAccessible::DescriptionChanged);
        QAccessible::updateAccessibility(&event);
    }
    update();
}

void ThroughputChart::setMessage(const QString& message)
{
    m_message = message;
    describe();
    update();
}

void ThroughputChart::describe()
{
    QStringList parts{m_headline, m_detail, m_message, chartDescription(m_model)};
    if (m_readOut) {
        parts.prepend(readOut(*m_readOut));
    }
    parts.removeAll(QString());
    setAccessibleDescription(parts.join(u". "_s));
}

QSize ThroughputChart::sizeHint() const
{
    return {fontMetrics().height() * 50, fontMetrics().height() * 22};
}

QSize ThroughputChart::minimumSizeHint() const
{
    return {fontMetrics().height() * 20, fontMetrics().height() * 9};
}

ThroughputChart::Layout ThroughputChart::layout() const
{
    Layout l;
    l.headlineFont = scaledFont(font(), 1.13, QFont::DemiBold);
    l.detailFont = scaledFont(font(), 1);
    l.axisFont = scaledFont(font(), 0.86);
    const QFontMetricsF head(l.headlineFont);
    const QFontMetricsF detail(l.detailFont);
    const QFontMetricsF axis(l.axisFont);
    const QRectF all = QRectF(rect());
    l.headline = {all.left(), all.top(), all.width(), head.height()};
    l.detail = l.headline;
    double top = head.height();
    const double mark = m_mark == HeadlineMark::None ? 0 : head.height();
    if (head.horizontalAdvance(m_headline) + mark + detail.horizontalAdvance(m_detail) + head.height()
        > all.width()) {
        l.detail = {all.left(), top, all.width(), detail.height()};
        top += detail.height();
    }
    double left = axis.horizontalAdvance(tr("MB/s"));
    for (const QString& label : {u"000"_s, rateLabel(m_model.rates.top), rateLabel(m_model.rates.step)}) {
        left = std::max(left, axis.horizontalAdvance(label));
    }
    left += 8;
    const double stripHeight = std::round(axis.height() * 1.1);
    const double bottom = all.bottom() - axis.height() - 6;
    l.strip = {all.left() + left, bottom - stripHeight, all.width() - left - 6, stripHeight};
    l.plot = {l.strip.left(), top + axis.height() * 1.15, l.strip.width(), 0};
    l.plot.setBottom(std::max(l.strip.top() - 10, l.plot.top() + 1));
    l.axisLabels = bottom + 6;
    l.x = {.from = l.plot.left(), .to = l.plot.right(), .top = double(std::max<Bytes>(m_model.extent, 1))};
    l.y = {.from = l.plot.bottom(), .to = l.plot.top(), .top = m_model.rates.top};
    return l;
}

void ThroughputChart::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Layout l = layout();
    const Theme& colours = theme(palette());
    paintHeadline(painter, l);
    paintAxes(painter, l);
    paintCurve(painter, l, m_model.write, colours.write);
    paintCurve(painter, l, m_model.verify, colours.verify);
    if (m_model.write.isEmpty()) {
        paintMean(painter, l, m_model.verify, colours.verify);
    } else {
        paintMean(painter, l, m_model.write, colours.write);
    }
    paintCells(painter, l);
    paintMessage(painter, l);
    paintReadOut(painter, l);
    if (hasFocus() && window()->testAttribute(Qt::WA_KeyboardFocusChange)) {
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(colours.accent, 1.5));
        painter.drawRoundedRect(QRectF(rect()).adjusted(0.75, 0.75, -0.75, -0.75), 6, 6);
    }
}

void ThroughputChart::paintHeadline(QPainter& painter, const Layout& l) const
{
    const Theme& colours = theme(palette());
    QRectF headline = l.headline;
    if (m_mark != HeadlineMark::None) {
        const double side = QFontMetricsF(l.headlineFont).capHeight();
        const QRectF box(headline.left() + 1, headline.center().y() - side / 2 + 0.5, side, side);
        painter.setBrush(Qt::NoBrush);
        painter.setPen(QPen(m_mark == HeadlineMark::Good ? colours.good : colours.bad, side / 5.5,
                            Qt::SolidLine, Qt::RoundCap, Qt::RoundJoin));
        painter.drawPath(markPath(m_mark, box.adjusted(1, 1, -1, -1)));
        headline.adjust(side + 6, 0, 0, 0);
    }
    painter.setFont(l.headlineFont);
    painter.setPen(colours.text);
    painter.drawText(headline, int(Qt::AlignLeft) | int(Qt::AlignVCenter),
                     QFontMetricsF(l.headlineFont).elidedText(m_headline, Qt::ElideRight, headline.width()));
    painter.setFont(l.detailFont);
    painter.setPen(colours.muted);
    const auto side = l.detail.top() > l.headline.top() ? Qt::AlignLeft : Qt::AlignRight;
    painter.drawText(l.detail, int(side) | int(Qt::AlignVCenter),
                     QFontMetricsF(l.detailFont).elidedText(m_detail, Qt::ElideRight, l.detail.width()));
}

void ThroughputChart::paintAxes(QPainter& painter, const Layout& l) const
{
    const Theme& colours = theme(palette());
    const QFontMetricsF metrics(l.axisFont);
    painter.setFont(l.axisFont);
    const int last = m_model.rates.ticks() - 1;
    const bool crowded = l.plot.height() < metrics.height() * last;
    for (int i = 0; i <= last; ++i) {
        const double value = i * m_model.rates.step;
        const double y = std::round(l.y.pixel(value)) + 0.5;
        painter.setPen(QPen(colours.grid, 1));
        painter.drawLine(QPointF(l.plot.left(), y), QPointF(l.plot.right(), y));
        painter.setPen(colours.muted);
        if (crowded && i != 0 && i != last) {
            continue;
        }
        painter.drawText(QRectF(0, y - metrics.height() / 2, l.plot.left() - 8, metrics.height()),
                         int(Qt::AlignRight) | int(Qt::AlignVCenter), rateLabel(value));
    }
    painter.drawText(
        QRectF(0, l.strip.center().y() - metrics.height() / 2 + 2, l.plot.left() - 8, metrics.height()),
        int(Qt::AlignRight) | int(Qt::AlignVCenter), tr("MB/s"));
    const int fitting = int(l.plot.width() / (metrics.horizontalAdvance(u"000 MB"_s) * 2));
    const Axis sizes = sizeAxis(m_model.extent, std::clamp(fitting, 1, 8));
    for (int i = 0; i < sizes.ticks(); ++i) {
        const double value = i * sizes.step;
        const QString label = i == 0 ? QLocale().toString(0) : formatSize(Bytes(value));
        const double half = metrics.horizontalAdvance(label) / 2 + 1;
        const double x = l.x.pixel(value);
        if (x + half <= width()) {
            painter.drawText(QRectF(x - half, l.axisLabels, half * 2, metrics.height()), int(Qt::AlignCenter),
                             label);
        }
    }
}

void ThroughputChart::paintCurve(QPainter& painter, const Layout& l, const ChartCurve& curve,
                                 const QColor& colour) const
{
    if (curve.isEmpty()) {
        return;
    }
    const QList<QPointF> points = pointsOf(curve, l.x, l.y, m_model.rates.top * kHairAbove);
    if (points.isEmpty()) {
        return;
    }
    QPainterPath area;
    area.moveTo(points.front().x(), l.plot.bottom());
    for (const QPointF& point : points) {
        area.lineTo(point);
    }
    area.lineTo(points.back().x(), l.plot.bottom());
    painter.fillPath(area, translucent(colour, 0.16));
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(colour, 1.5, Qt::SolidLine, Qt::FlatCap, Qt::RoundJoin));
    painter.drawPolyline(points.constData(), int(points.size()));
}

void ThroughputChart::paintMean(QPainter& painter, const Layout& l, const ChartCurve& curve,
                                const QColor& colour) const
{
    if (curve.isEmpty() || curve.mean <= 0) {
        return;
    }
    const double mean = curve.mean / 1e6;
    const double y = std::round(l.y.pixel(mean)) + 0.5;
    QPen pen(colour, 1);
    pen.setDashPattern({5, 4});
    painter.setPen(pen);
    painter.drawLine(QPointF(l.plot.left(), y), QPointF(l.plot.right(), y));
    const QFontMetricsF metrics(l.axisFont);
    const QString label = tr("mean %1").arg(QLocale().toString(mean, 'f', mean < 99.95 ? 1 : 0));
    const double width = metrics.horizontalAdvance(label);
    QRectF box(l.plot.right() - width - 10, y - metrics.height() - 5, width + 8, metrics.height() + 2);
    if (box.top() < l.plot.top()) {
        box.moveTop(y + 4);
    }
    painter.setPen(Qt::NoPen);
    painter.setBrush(translucent(theme(palette()).card, 0.85));
    painter.drawRoundedRect(box, 3, 3);
    painter.setFont(l.axisFont);
    painter.setPen(colour);
    painter.drawText(box, int(Qt::AlignCenter), label);
}

void ThroughputChart::paintCells(QPainter& painter, const Layout& l) const
{
    const Theme& colours = theme(palette());
    painter.setPen(QPen(colours.border, 1));
    painter.setBrush(colours.well);
    painter.drawRoundedRect(l.strip.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
    const QRectF inside = l.strip.adjusted(1.5, 1.5, -1.5, -1.5);
    const int count = std::max(1, int(inside.width() / kCellPitch));
    const double pitch = inside.width() / count;
    const auto cells = m_model.cells(count);
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (cells[i] == CellState::Waiting) {
            continue;
        }
        const QRectF cell(inside.left() + double(i) * pitch + 0.5, inside.top(), pitch - 1, inside.height());
        painter.setPen(Qt::NoPen);
        painter.setBrush(cells[i] == CellState::Written        ? colours.writtenCell
                             : cells[i] == CellState::Verified ? colours.verifiedCell
                                                               : colours.badCell);
        // Told apart by shape too: written cells are half as high, and a cross marks what differs.
        const double cut = cells[i] == CellState::Written ? inside.height() * 0.22 : 0;
        painter.drawRoundedRect(cell.adjusted(0, cut, 0, -cut), 1.5, 1.5);
        if (cells[i] == CellState::Different) {
            painter.setPen(QPen(colours.onAccent, 1.2));
            const QRectF cross(cell.center().x() - 2, cell.center().y() - 2, 4, 4);
            painter.drawPath(markPath(HeadlineMark::Bad, cross));
        }
    }
}

void ThroughputChart::paintMessage(QPainter& painter, const Layout& l) const
{
    if (m_message.isEmpty()) {
        return;
    }
    const Theme& colours = theme(palette());
    painter.setFont(scaledFont(font(), 1.05));
    const QFontMetricsF metrics(painter.font());
    const double width = std::min(metrics.horizontalAdvance(m_message) + 48, l.plot.width());
    QRectF box = metrics.boundingRect(QRectF(0, 0, width - 40, 1000),
                                      int(Qt::AlignCenter) | int(Qt::TextWordWrap), m_message);
    box = QRectF(l.plot.center().x() - width / 2, l.plot.center().y() - box.height() / 2 - 4, width,
                 box.height() + 8);
    const bool covers = !m_model.write.isEmpty() || !m_model.verify.isEmpty();
    if (covers) {
        box.moveTop(l.plot.top() + (l.plot.height() - box.height()) / 5);
        box.adjust(0, -4, 0, 4);
        painter.setPen(QPen(colours.border, 1));
        painter.setBrush(colours.card);
        painter.drawRoundedRect(box, 6, 6);
    } else {
        painter.fillRect(box, colours.card);
    }
    painter.setPen(covers ? colours.text : colours.muted);
    painter.drawText(box.adjusted(20, 0, -20, 0), int(Qt::AlignCenter) | int(Qt::TextWordWrap), m_message);
}

QString ThroughputChart::readOut(Offset position) const
{
    QStringList parts{formatSize(position)};
    if (const auto rate = m_model.write.rateAt(position)) {
        parts << tr("write %1").arg(formatRate(*rate));
    }
    if (const auto rate = m_model.verify.rateAt(position)) {
        parts << tr("verify %1").arg(formatRate(*rate));
    }
    const QString partition = m_model.partitionAt(position);
    if (!partition.isEmpty()) {
        parts << partition;
    }
    return parts.join(u" · "_s);
}

void ThroughputChart::paintReadOut(QPainter& painter, const Layout& l) const
{
    if (!m_readOut) {
        return;
    }
    const Theme& colours = theme(palette());
    const double x = std::round(l.x.pixel(double(*m_readOut))) + 0.5;
    painter.setPen(QPen(colours.muted, 1));
    painter.drawLine(QPointF(x, l.plot.top()), QPointF(x, l.strip.bottom()));
    for (const auto& [curve, colour] :
         {std::pair{&m_model.write, colours.write}, {&m_model.verify, colours.verify}}) {
        if (const auto rate = curve->rateAt(*m_readOut)) {
            painter.setPen(QPen(colours.card, 1.5));
            painter.setBrush(colour);
            painter.drawEllipse(QPointF(x, l.y.pixel(std::min(*rate / 1e6, m_model.rates.top * kHairAbove))),
                                4, 4);
        }
    }
    const QString text = readOut(*m_readOut);
    painter.setFont(l.axisFont);
    const QFontMetricsF metrics(l.axisFont);
    QRectF box(0, l.plot.top() + 4, metrics.horizontalAdvance(text) + 16, metrics.height() + 8);
    box.moveLeft(std::clamp(x + 8, l.plot.left(), std::max(l.plot.left(), l.plot.right() - box.width())));
    painter.setPen(QPen(colours.border, 1));
    painter.setBrush(colours.card);
    painter.drawRoundedRect(box, 4, 4);
    painter.setPen(colours.text);
    painter.drawText(box, int(Qt::AlignCenter), text);
}

void ThroughputChart::setReadOut(std::optional<Offset> position)
{
    m_readOut = position;
    describe();
    update();
}

void ThroughputChart::mouseMoveEvent(QMouseEvent* event)
{
    const Layout l = layout();
    const QRectF live(l.plot.left(), l.plot.top(), l.plot.width(), l.strip.bottom() - l.plot.top());
    const bool something =
        !m_model.write.isEmpty() || !m_model.verify.isEmpty() || !m_model.partitions.empty();
    if (something && live.contains(event->position())) {
        setReadOut(Offset(std::max(0.0, l.x.value(event->position().x()))));
    } else if (m_readOut) {
        setReadOut({});
    }
}

void ThroughputChart::leaveEvent(QEvent* /*event*/)
{
    setReadOut({});
}

void ThroughputChart::focusOutEvent(QFocusEvent* event)
{
    setReadOut({});
    QWidget::focusOutEvent(event);
}

void ThroughputChart::keyPressEvent(QKeyEvent* event)
{
    const Bytes step = std::max<Bytes>(m_model.extent / 100, 1);
    const Offset at = m_readOut.value_or(0);
    switch (event->key()) {
    case Qt::Key_Left:
        setReadOut(at - std::min(at, step));
        break;
    case Qt::Key_Right:
        setReadOut(m_readOut ? std::min(at + step, m_model.extent) : 0);
        break;
    case Qt::Key_Home:
        setReadOut(0);
        break;
    case Qt::Key_End:
        setReadOut(m_model.extent);
        break;
    default:
        QWidget::keyPressEvent(event);
    }
}

} // namespace burin
