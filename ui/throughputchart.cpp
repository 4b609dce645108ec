// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "throughputchart.h"

#include "chartpainter.h"
#include "formatting.h"
#include "theme.h"

#include <QAccessible>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QPainterPath>

#include <algorithm>
#include <utility>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

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

} // namespace

struct ThroughputChart::Layout {
    QFont headlineFont;
    QFont detailFont;
    QRectF headline;
    QRectF detail;
    ChartGeometry chart;
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
    const QFontMetricsF head(l.headlineFont);
    const QFontMetricsF detail(l.detailFont);
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
    l.chart = chartGeometry(m_model, all.adjusted(0, top, 0, 0), font());
    return l;
}

void ThroughputChart::paintEvent(QPaintEvent* /*event*/)
{
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    const Layout l = layout();
    const Theme& colours = theme(palette());
    paintHeadline(painter, l);
    ChartPainter(painter, m_model, l.chart, colours).paint();
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

void ThroughputChart::paintMessage(QPainter& painter, const Layout& l) const
{
    if (m_message.isEmpty()) {
        return;
    }
    const Theme& colours = theme(palette());
    painter.setFont(scaledFont(font(), 1.05));
    const QFontMetricsF metrics(painter.font());
    const QRectF& plot = l.chart.plot;
    const double width = std::min(metrics.horizontalAdvance(m_message) + 48, plot.width());
    QRectF box = metrics.boundingRect(QRectF(0, 0, width - 40, 1000),
                                      int(Qt::AlignCenter) | int(Qt::TextWordWrap), m_message);
    box = QRectF(plot.center().x() - width / 2, plot.center().y() - box.height() / 2 - 4, width,
                 box.height() + 8);
    const bool covers = !m_model.write.isEmpty() || !m_model.verify.isEmpty();
    if (covers) {
        box.moveTop(plot.top() + (plot.height() - box.height()) / 5);
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
    const QRectF& plot = l.chart.plot;
    const double x = std::round(l.chart.x.pixel(double(*m_readOut))) + 0.5;
    painter.setPen(QPen(colours.muted, 1));
    painter.drawLine(QPointF(x, plot.top()), QPointF(x, l.chart.strip.bottom()));
    for (const auto& [curve, colour] :
         {std::pair{&m_model.write, colours.write}, {&m_model.verify, colours.verify}}) {
        if (const auto rate = curve->rateAt(*m_readOut)) {
            painter.setPen(QPen(colours.card, 1.5));
            painter.setBrush(colour);
            painter.drawEllipse(QPointF(x, l.chart.heightOf(*rate)), 4, 4);
        }
    }
    const QString text = readOut(*m_readOut);
    painter.setFont(l.chart.axisFont);
    const QFontMetricsF metrics(l.chart.axisFont);
    QRectF box(0, plot.top() + 4, metrics.horizontalAdvance(text) + 16, metrics.height() + 8);
    box.moveLeft(std::clamp(x + 8, plot.left(), std::max(plot.left(), plot.right() - box.width())));
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
    const ChartGeometry chart = layout().chart;
    const QRectF live(chart.plot.topLeft(), QPointF(chart.plot.right(), chart.strip.bottom()));
    const bool something =
        !m_model.write.isEmpty() || !m_model.verify.isEmpty() || !m_model.partitions.empty();
    if (something && live.contains(event->position())) {
        setReadOut(Offset(std::max(0.0, chart.x.value(event->position().x()))));
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
