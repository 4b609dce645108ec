// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "partitionbar.h"

#include "formatting.h"
#include "theme.h"

#include <QHelpEvent>
#include <QPainter>
#include <QToolTip>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

constexpr double kSmallest = 10; ///< pixels, so that a tiny partition can still be seen

QString nameOf(const ImagePartition& partition)
{
    for (const std::string* name : {&partition.label, &partition.name, &partition.type}) {
        if (!name->empty()) {
            return QString::fromStdString(*name);
        }
    }
    return PartitionBar::tr("partition");
}

QString wordsOf(const ImagePartition& partition)
{
    QStringList words{nameOf(partition), QString::fromStdString(partition.fileSystem),
                      formatSize(partition.range.length)};
    words.removeAll(QString());
    return words.join(u' ');
}

QColor colourOf(std::size_t i, const Theme& colours)
{
    QColor colour = i % 2 == 0 ? colours.verify : colours.write;
    if (colours.card.lightness() < 128) {
        return colour.darker(i % 2 == 0 ? 165 : 190);
    }
    const double amount = i % 4 < 2 ? 0.55 : 0.35;
    return QColor::fromRgbF(float(1 - (1 - colour.redF()) * amount),
                            float(1 - (1 - colour.greenF()) * amount),
                            float(1 - (1 - colour.blueF()) * amount));
}

} // namespace

PartitionBar::PartitionBar(QWidget* parent) : QWidget(parent)
{
    setObjectName(u"partitionBar"_s);
    setAccessibleName(tr("Partitions of the image"));
    setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Fixed);
}

void PartitionBar::setImage(const ImageInfo& image)
{
    m_partitions = image.partitions;
    m_extent = image.unpackedSize.value_or(0);
    if (m_partitions.empty() && !image.fileSystem.empty()) {
        m_partitions.push_back({.range = {.offset = 0, .length = std::max<Bytes>(m_extent, 1)},
                                .name = {},
                                .fileSystem = image.fileSystem,
                                .label = image.label,
                                .type = {}});
    }
    std::ranges::sort(m_partitions, {}, [](const ImagePartition& p) { return p.range.offset; });
    QStringList words;
    for (const ImagePartition& partition : m_partitions) {
        m_extent = std::max(m_extent, partition.range.end());
        words << wordsOf(partition);
    }
    setAccessibleDescription(words.join(u", "_s));
    setVisible(!m_partitions.empty());
    update();
}

QSize PartitionBar::sizeHint() const
{
    return {200, qRound(fontMetrics().height() * 1.65)};
}

QSize PartitionBar::minimumSizeHint() const
{
    return {60, sizeHint().height()};
}

std::vector<QRectF> PartitionBar::segments() const
{
    std::vector<QRectF> all;
    const QRectF inside = QRectF(rect()).adjusted(2, 1, -2, -1);
    double free = inside.left();
    for (const ImagePartition& partition : m_partitions) {
        const double scale = inside.width() / double(std::max<Bytes>(m_extent, 1));
        const double left = std::max(inside.left() + double(partition.range.offset) * scale, free);
        const double right =
            std::max(inside.left() + double(partition.range.end()) * scale, left + kSmallest);
        all.emplace_back(left, inside.top(), std::min(right, inside.right()) - left, inside.height());
        free = right;
    }
    return all;
}

void PartitionBar::paintEvent(QPaintEvent* /*event*/)
{
    const Theme& colours = theme(palette());
    QPainter painter(this);
    painter.setRenderHint(QPainter::Antialiasing);
    painter.setPen(QPen(colours.border, 1));
    painter.setBrush(colours.well);
    painter.drawRoundedRect(QRectF(rect()).adjusted(0.5, 0.5, -0.5, -0.5), 4, 4);
    const QFont small = scaledFont(font(), 0.86, QFont::Medium);
    const QFontMetricsF metrics(small);
    painter.setFont(small);
    const auto places = segments();
    for (std::size_t i = 0; i < places.size(); ++i) {
        const QRectF place = places[i].adjusted(1, 0, -1, 0);
        if (place.width() < 2) {
            continue;
        }
        painter.setPen(Qt::NoPen);
        painter.setBrush(colourOf(i, colours));
        painter.drawRoundedRect(place, 3, 3);
        const QString full = wordsOf(m_partitions[i]);
        const bool fits = metrics.horizontalAdvance(full) + 14 <= place.width();
        const QString text = fits ? full : nameOf(m_partitions[i]);
        const double margin = metrics.horizontalAdvance(text) + 14 <= place.width() ? 7 : 3;
        const QString shown = metrics.elidedText(text, Qt::ElideRight, place.width() - 2 * margin);
        if (shown.size() < 3 && shown != text) {
            continue; // "…" alone says nothing
        }
        painter.setPen(colours.text);
        painter.drawText(place.adjusted(margin, 0, -margin, 0), int(Qt::AlignLeft) | int(Qt::AlignVCenter),
                         shown);
    }
}

bool PartitionBar::event(QEvent* event)
{
    if (event->type() != QEvent::ToolTip) {
        return QWidget::event(event);
    }
    const auto* help = static_cast<QHelpEvent*>(event);
    const auto places = segments();
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i].contains(help->pos())) {
            QToolTip::showText(help->globalPos(), wordsOf(m_partitions[i]).toHtmlEscaped(), this);
            return true;
        }
    }
    QToolTip::hideText();
    return true;
}

} // namespace burin
