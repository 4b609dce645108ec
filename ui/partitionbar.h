// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/imageprobe.h"

#include <QWidget>

#include <vector>

namespace burin {

/// The image's partitions in proportion, with names, file systems and sizes.
class PartitionBar : public QWidget
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(PartitionBar)

public:
    explicit PartitionBar(QWidget* parent = nullptr);

    void setImage(const ImageInfo& image);
    [[nodiscard]] QSize sizeHint() const override;
    [[nodiscard]] QSize minimumSizeHint() const override;

protected:
    void paintEvent(QPaintEvent* event) override;
    bool event(QEvent* event) override;

private:
    [[nodiscard]] std::vector<QRectF> segments() const;

    std::vector<ImagePartition> m_partitions;
    Bytes m_extent = 0;
};

} // namespace burin
