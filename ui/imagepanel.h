// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "card.h"
#include "engine/imageprobe.h"
#include "sumchecker.h"

#include <functional>
#include <optional>
#include <stop_token>

class QCheckBox;
class QComboBox;
class QPushButton;
class QStackedLayout;

namespace burin {

class PartitionBar;

/// The first band: where an image is dropped or chosen, and what it is. The look at the file runs in a
/// pool thread; the last file that was asked for wins.
class ImagePanel : public Card
{
    Q_OBJECT
    Q_DISABLE_COPY_MOVE(ImagePanel)

public:
    /// As probeImage(): path, stop, member.
    using Probe = std::function<Result<ImageInfo>(const std::string&, std::stop_token, const std::string&)>;

    explicit ImagePanel(Probe probe, QWidget* parent = nullptr);
    ~ImagePanel() override;

    /// `member`: the file in a container that was picked.
    void open(const QString& path, const std::string& member = {});
    void showImage(const ImageInfo& image);
    void setLocked(bool locked); ///< while a job runs
    [[nodiscard]] const std::optional<ImageInfo>& image() const { return m_image; }
    [[nodiscard]] QString message() const;
    /// The sum that a person pasted, in place of those beside the image.
    void setSum(const KnownSum& sum);
    [[nodiscard]] const SumChecker& sums() const { return m_sums; }
    [[nodiscard]] bool isProbing() const { return m_probing; }
    /// Which blocks a person wants to be written; nothing: every one.
    [[nodiscard]] std::shared_ptr<const UsedBlocks> usedBlocks() const;
    /// There is a block map that can't be used, and nobody has said yet to write every block.
    [[nodiscard]] bool needsEveryBlock() const;

Q_SIGNALS:
    /// A person wants to choose a file.
    void chooseRequested();
    /// Another image, or none any more.
    void imageChanged();
    /// What the published sums say of the image.
    void sumsChanged();
    /// Which blocks are to be written.
    void blocksChanged();

protected:
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dragLeaveEvent(QDragLeaveEvent* event) override;
    void dropEvent(QDropEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* makeDropPage();
    QWidget* makeImagePage();
    void makeSumRows(QWidget* facts);
    void showError(const FlashError& error, const QString& path);
    void take(quint64 turn, const QString& path, const Result<ImageInfo>& result);
    void setHovered(bool hovered);
    void makeRoomForText();
    void showSums();
    void showBlocks();
    void ignoreSums();
    void showCandidates(const ImageInfo& image);
    void pickMember(int index);

    Probe m_probe;
    std::stop_source m_stop;
    quint64 m_turn = 0;
    bool m_probing = false;
    bool m_locked = false;
    std::optional<ImageInfo> m_image;

    QStackedLayout* m_pages;
    QWidget* m_dropZone = nullptr;
    ToneLabel* m_dropTitle = nullptr;
    ToneLabel* m_dropText = nullptr;
    QPushButton* m_choose = nullptr;
    QPushButton* m_change = nullptr;
    ToneLabel* m_name = nullptr;
    ToneLabel* m_summary = nullptr;
    PartitionBar* m_bar = nullptr;
    ToneLabel* m_warning = nullptr;
    QComboBox* m_member = nullptr; ///< where a container holds several images
    SumChecker m_sums;
    SumChecker::State m_shownSums = SumChecker::State::None;
    ToneLabel* m_check = nullptr;
    QPushButton* m_ignore = nullptr; ///< goes on with an image that differs from its sum
    ToneLabel* m_coverage = nullptr;
    QCheckBox* m_everyBlock = nullptr; ///< where something could be left out
};

/// The local file that was dropped, named by path or file: URL; empty if it is none.
[[nodiscard]] QString localFile(const QString& pathOrUrl);

} // namespace burin
