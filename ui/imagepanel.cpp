// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "imagepanel.h"

#include "blockwords.h"
#include "errortext.h"
#include "formatting.h"
#include "partitionbar.h"
#include "theme.h"

#include <QCheckBox>
#include <QComboBox>
#include <QDragEnterEvent>
#include <QFileInfo>
#include <QFutureWatcher>
#include <QMimeData>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedLayout>
#include <QUrl>
#include <QtConcurrentRun>

#include <algorithm>

using namespace Qt::StringLiterals;

namespace burin {

namespace {

/// The dashed field of the drop page.
class DropZone : public QWidget
{
public:
    using QWidget::QWidget;

protected:
    void paintEvent(QPaintEvent* /*event*/) override
    {
        const Theme& colours = theme(palette());
        const bool hovered = property("hovered").toBool();
        QPainter painter(this);
        painter.setRenderHint(QPainter::Antialiasing);
        QPen pen(hovered ? colours.accent : colours.muted, hovered ? 2 : 1.2);
        pen.setDashPattern({6, 5});
        painter.setPen(pen);
        painter.setBrush(hovered ? QBrush(colours.selection) : QBrush(Qt::NoBrush));
        painter.drawRoundedRect(QRectF(rect()).adjusted(1, 1, -1, -1), 6, 6);
    }
};

QString draggedFile(const QMimeData* data)
{
    const QList<QUrl> urls = data->urls();
    if (urls.size() != 1) {
        return {};
    }
    return urls.front().isLocalFile() || isUrl(urls.front().toString().toStdString())
        ? localFile(urls.front().toString(QUrl::FullyEncoded))
        : QString();
}

} // namespace

QString localFile(const QString& pathOrUrl)
{
    const QUrl url(pathOrUrl);
    if (url.isLocalFile()) {
        return url.toLocalFile();
    }
    if (isUrl(pathOrUrl.toStdString())) {
        return pathOrUrl;
    }
    return QFileInfo(pathOrUrl).absoluteFilePath();
}

ImagePanel::ImagePanel(Probe probe, QWidget* parent)
    : Card(parent), m_probe(std::move(probe)), m_pages(new QStackedLayout)
{
    setObjectName(u"imagePanel"_s);
    setAcceptDrops(true);
    auto* heading = new ToneLabel(ToneLabel::Tone::Muted, 1, QFont::DemiBold, this);
    heading->setText(tr("1 Image"));
    column().addWidget(heading);
    column().addSpacing(2);
    m_pages->addWidget(makeDropPage());
    m_pages->addWidget(makeImagePage());
    column().addLayout(m_pages, 1);
}

ImagePanel::~ImagePanel()
{
    m_stop.request_stop();
}

QWidget* ImagePanel::makeDropPage()
{
    m_dropZone = new DropZone(this);
    auto* layout = new QVBoxLayout(m_dropZone);
    layout->setContentsMargins(12, 8, 12, 8);
    layout->setSpacing(6);
    m_dropTitle = new ToneLabel(ToneLabel::Tone::Plain, 1.13, QFont::DemiBold, m_dropZone);
    m_dropTitle->setText(tr("Drop a disk image here"));
    m_dropTitle->setAlignment(Qt::AlignCenter);
    m_dropTitle->setObjectName(u"dropTitle"_s);
    m_dropText = new ToneLabel(ToneLabel::Tone::Muted, 0.93, QFont::Normal, m_dropZone);
    m_dropText->setText(tr("img, iso, xz, zst, gz, bz2, zip, tar …"));
    m_dropText->setAlignment(Qt::AlignCenter);
    m_dropText->setWordWrap(true);
    m_dropText->setObjectName(u"dropText"_s);
    m_choose = new QPushButton(tr("&Choose image…"), m_dropZone);
    m_choose->setObjectName(u"chooseButton"_s);
    m_choose->setAutoDefault(true);
    connect(m_choose, &QPushButton::clicked, this, &ImagePanel::chooseRequested);
    layout->addStretch(1);
    layout->addWidget(m_dropTitle);
    layout->addWidget(m_dropText);
    layout->addSpacing(4);
    layout->addWidget(m_choose, 0, Qt::AlignCenter);
    layout->addStretch(1);
    return m_dropZone;
}

/// Which of several images inside, and what the checksums say.
void ImagePanel::makeSumRows(QWidget* facts)
{
    m_member = new QComboBox(facts);
    m_member->setObjectName(u"memberBox"_s);
    m_member->setAccessibleName(tr("Image inside the archive"));
    m_member->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
    connect(m_member, &QComboBox::activated, this, &ImagePanel::pickMember);
    m_check = new ToneLabel(ToneLabel::Tone::Muted, 0.93, QFont::Normal, facts);
    m_check->setObjectName(u"imageCheck"_s);
    m_check->setWordWrap(true);
    m_ignore = new QPushButton(tr("Write it all the &same"), facts);
    m_ignore->setObjectName(u"ignoreSumButton"_s);
    m_ignore->setProperty("small", true);
    m_ignore->setAutoDefault(true);
    connect(m_ignore, &QPushButton::clicked, this, &ImagePanel::ignoreSums);
    connect(&m_sums, &SumChecker::changed, this, &ImagePanel::showSums);
}

QWidget* ImagePanel::makeImagePage()
{
    auto* facts = new QWidget;
    auto* layout = new QVBoxLayout(facts);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(5);
    m_name = new ToneLabel(ToneLabel::Tone::Plain, 1.2, QFont::DemiBold, facts);
    m_name->setObjectName(u"imageName"_s);
    m_summary = new ToneLabel(ToneLabel::Tone::Muted, 0.97, QFont::Normal, facts);
    m_summary->setObjectName(u"imageSummary"_s);
    m_bar = new PartitionBar(facts);
    m_warning = new ToneLabel(ToneLabel::Tone::Warning, 0.93, QFont::Medium, facts);
    m_warning->setObjectName(u"imageWarning"_s);
    m_warning->setWordWrap(true);
    m_coverage = new ToneLabel(ToneLabel::Tone::Muted, 0.93, QFont::Normal, facts);
    m_coverage->setObjectName(u"imageCoverage"_s);
    m_coverage->setWordWrap(true);
    m_everyBlock = new QCheckBox(tr("Write every bloc&k"), facts);
    m_everyBlock->setObjectName(u"everyBlockBox"_s);
    m_everyBlock->setProperty("quiet", true);
    connect(m_everyBlock, &QCheckBox::toggled, this, [this] {
        showBlocks();
        Q_EMIT blocksChanged();
    });
    makeSumRows(facts);
    m_change = new QPushButton(tr("Chan&ge…"), facts);
    m_change->setObjectName(u"changeButton"_s);
    m_change->setProperty("small", true);
    m_change->setAutoDefault(true);
    connect(m_change, &QPushButton::clicked, this, &ImagePanel::chooseRequested);
    for (ToneLabel* label : {m_name, m_summary}) {
        label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Fixed);
        layout->addWidget(label);
    }
    layout->addWidget(m_coverage);
    layout->addWidget(m_everyBlock, 0, Qt::AlignLeft);
    layout->insertWidget(2, m_bar);
    layout->insertWidget(3, m_warning);
    layout->insertWidget(4, m_member);
    layout->insertWidget(5, m_check);
    layout->insertWidget(6, m_ignore, 0, Qt::AlignLeft);
    layout->insertSpacing(2, 4);
    layout->insertSpacing(4, 2);
    layout->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setWidget(facts);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->viewport()->setAutoFillBackground(false);
    facts->setAutoFillBackground(false);
    auto* whole = new QWidget(this);
    auto* rows = new QVBoxLayout(whole);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->addWidget(scroll, 1);
    rows->addWidget(m_change, 0, Qt::AlignLeft);
    return whole;
}

void ImagePanel::open(const QString& path, const std::string& member)
{
    if (m_locked) {
        return;
    }
    m_stop.request_stop();
    m_stop = std::stop_source();
    const quint64 turn = ++m_turn;
    m_probing = true;
    m_image.reset();
    m_sums.stop();
    m_dropTitle->setText(tr("Looking at the image…"));
    m_dropText->setText(QFileInfo(path).fileName());
    m_dropText->setToolTip(path.toHtmlEscaped());
    m_pages->setCurrentIndex(0);
    Q_EMIT imageChanged();
    const std::string file = QFile::encodeName(path).toStdString();
    QtConcurrent::run([probe = m_probe, file, member, stop = m_stop.get_token()] {
        return probe(file, stop, member);
    }).then(this, [this, turn, path](const Result<ImageInfo>& result) { take(turn, path, result); });
}

void ImagePanel::take(quint64 turn, const QString& path, const Result<ImageInfo>& result)
{
    if (turn != m_turn) {
        return;
    }
    m_probing = false;
    if (result) {
        showImage(*result);
    } else {
        showError(result.error(), path);
    }
}

void ImagePanel::showImage(const ImageInfo& image)
{
    const QString path = QFile::decodeName(image.path.c_str());
    m_image = image;
    const QString name = QFileInfo(path).fileName();
    m_name->setText(name);
    m_name->setToolTip(path.toHtmlEscaped());
    m_summary->setText(imageSummary(image));
    m_summary->setToolTip(imageSummary(image).toHtmlEscaped());
    m_bar->setImage(image);
    QStringList warnings;
    for (const ImageWarning warning : image.warnings) {
        warnings << u"⚠ "_s + warningText(warning);
    }
    m_warning->setText(warnings.join(u'\n'));
    m_warning->setVisible(!warnings.isEmpty());
    m_sums.start(image);
    m_everyBlock->setChecked(false);
    showBlocks();
    showCandidates(image);
    m_pages->setCurrentIndex(1);
    Q_EMIT imageChanged();
}

void ImagePanel::showSums()
{
    if (!m_image) {
        return;
    }
    const SumChecker::State state = m_sums.state();
    QString text = checkText(*m_image);
    auto tone = ToneLabel::Tone::Muted;
    if (state == SumChecker::State::Running) {
        text =
            tr("Comparing with %1: %2").arg(sumName(m_image->sums.front()), formatPercent(m_sums.fraction()));
    } else if (state == SumChecker::State::Matches) {
        const bool disputed = m_sums.result()->contradictedBy.has_value();
        text = (disputed ? u"⚠ "_s : u"✓ "_s) + sumText(*m_sums.result());
        tone = disputed ? ToneLabel::Tone::Warning : ToneLabel::Tone::Good;
    } else if (state == SumChecker::State::Differs) {
        text = u"✗ "_s
            + tr("%1. The file is damaged or another version: download it again.")
                  .arg(sumText(*m_sums.result()));
        tone = ToneLabel::Tone::Bad;
    } else if (!m_image->sums.empty()) {
        text = tr("%1 is compared while writing").arg(sumName(m_image->sums.front()));
    }
    m_check->setText(text);
    m_check->setTone(tone);
    m_ignore->setVisible(state == SumChecker::State::Differs);
    if (state != m_shownSums) {
        m_shownSums = state;
        Q_EMIT sumsChanged();
    }
}

void ImagePanel::showBlocks()
{
    if (!m_image) {
        return;
    }
    const bool canLeaveOut = usedBlocksOf(*m_image) != nullptr;
    m_everyBlock->setVisible(canLeaveOut || m_image->bmapError);
    if (needsEveryBlock()) {
        const ErrorText words = errorText(
            *m_image->bmapError, {.image = QFileInfo(QFile::decodeName(m_image->path.c_str())).fileName()});
        m_coverage->setText(u"✗ "_s + words.title + u": "_s
                            + QString::fromStdString(m_image->bmapError->detail));
        m_coverage->setTone(ToneLabel::Tone::Bad);
        m_coverage->setToolTip(words.text.toHtmlEscaped());
        return;
    }
    m_coverage->setText(blocksText(*m_image, m_everyBlock->isChecked() && canLeaveOut));
    m_coverage->setTone(ToneLabel::Tone::Muted);
    m_coverage->setToolTip(doubtText(*m_image).toHtmlEscaped());
}

std::shared_ptr<const UsedBlocks> ImagePanel::usedBlocks() const
{
    return m_image && !m_everyBlock->isChecked() ? usedBlocksOf(*m_image) : nullptr;
}

bool ImagePanel::needsEveryBlock() const
{
    return m_image && m_image->bmapError && !m_everyBlock->isChecked();
}

void ImagePanel::setSum(const KnownSum& sum)
{
    if (m_image && !m_locked) {
        m_image->sums = {sum};
        m_sums.start(*m_image);
    }
}

void ImagePanel::ignoreSums()
{
    m_image->sums.clear();
    m_sums.stop();
    m_change->setFocus();
}

void ImagePanel::showCandidates(const ImageInfo& image)
{
    m_member->clear();
    m_member->setVisible(image.candidates.size() > 1);
    if (image.candidates.size() < 2) {
        return;
    }
    const std::string& chosen =
        std::ranges::find_if(image.layers, [](const auto& layer) { return !layer.member.empty(); })->member;
    for (const auto& candidate : image.candidates) {
        m_member->addItem(
            tr("%1 (%2)").arg(QString::fromStdString(candidate.member), formatSize(candidate.size)));
        if (candidate.member == chosen) {
            m_member->setCurrentIndex(m_member->count() - 1);
        }
    }
}

void ImagePanel::pickMember(int index)
{
    if (!m_image || index < 0) {
        return;
    }
    const ImageCandidate candidate = m_image->candidates[static_cast<std::size_t>(index)];
    open(QFile::decodeName(m_image->path.c_str()), candidate.member);
}

void ImagePanel::showError(const FlashError& error, const QString& path)
{
    ErrorContext context;
    context.image = QFileInfo(path).fileName();
    const ErrorText words = errorText(error, context);
    m_dropTitle->setText(words.title);
    m_dropText->setText(words.text);
    m_dropText->setToolTip(words.details.toHtmlEscaped());
    m_pages->setCurrentIndex(0);
    makeRoomForText();
    Q_EMIT imageChanged();
}

void ImagePanel::makeRoomForText()
{
    m_dropText->setMinimumHeight(m_dropText->heightForWidth(m_dropZone->width() - 24));
}

void ImagePanel::resizeEvent(QResizeEvent* event)
{
    Card::resizeEvent(event);
    makeRoomForText();
}

QString ImagePanel::message() const
{
    return m_dropTitle->text() + u'\n' + m_dropText->text();
}

void ImagePanel::setLocked(bool locked)
{
    m_locked = locked;
    if (locked && m_sums.state() == SumChecker::State::Running) {
        m_sums.stop(); // the job compares, in the same pass
    }
    m_choose->setEnabled(!locked);
    m_change->setEnabled(!locked);
    m_member->setEnabled(!locked);
    m_everyBlock->setEnabled(!locked);
}

void ImagePanel::setHovered(bool hovered)
{
    m_dropZone->setProperty("hovered", hovered);
    m_dropZone->update();
}

void ImagePanel::dragEnterEvent(QDragEnterEvent* event)
{
    if (!m_locked && !draggedFile(event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
        setHovered(true);
    }
}

void ImagePanel::dragLeaveEvent(QDragLeaveEvent* /*event*/)
{
    setHovered(false);
}

void ImagePanel::dropEvent(QDropEvent* event)
{
    setHovered(false);
    const QString file = draggedFile(event->mimeData());
    if (!m_locked && !file.isEmpty()) {
        event->acceptProposedAction();
        open(file);
    }
}

} // namespace burin
