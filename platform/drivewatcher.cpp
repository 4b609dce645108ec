// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "drivewatcher.h"

#include "engine/uniquefd.h"
#include "sysfile.h"

#include <QSocketNotifier>
#include <QThreadPool>
#include <QTimer>

#include <chrono>

#include <fcntl.h>
#include <libudev.h>

namespace burin {

using namespace std::chrono_literals;

namespace {

/// From the first event of a burst to the re-read: a stick with four partitions sends a dozen.
constexpr auto kBurst = 50ms;

struct UdevFree {
    void operator()(udev* context) const { udev_unref(context); }
    void operator()(udev_monitor* monitor) const { udev_monitor_unref(monitor); }
    void operator()(udev_device* device) const { udev_device_unref(device); }
};

} // namespace

struct DriveWatcher::Private {
    std::unique_ptr<udev, UdevFree> context;
    std::unique_ptr<udev_monitor, UdevFree> monitor;
    std::unique_ptr<QSocketNotifier> events;
    std::vector<UniqueFd> tableFds;
    std::vector<std::unique_ptr<QSocketNotifier>> tables;
    QTimer burst;
    QThreadPool reader;
    bool reading = false;
    bool readAgain = false; ///< something changed while it was read

    void watchEvents();
    void watchTable(const char* path);
    void drain() const;
    void changed()
    {
        // Not restarted by later events, or a busy system would put the re-read off for ever.
        if (!burst.isActive()) {
            burst.start();
        }
    }
};

void DriveWatcher::Private::watchEvents()
{
    context.reset(udev_new());
    if (!context) {
        return;
    }
    // Without udevd nobody sends on its channel; the kernel's own still speaks.
    const auto* source = exists("/run/udev/control") ? "udev" : "kernel";
    monitor.reset(udev_monitor_new_from_netlink(context.get(), source));
    if (!monitor || udev_monitor_filter_add_match_subsystem_devtype(monitor.get(), "block", nullptr) < 0
        || udev_monitor_enable_receiving(monitor.get()) < 0) {
        monitor.reset();
        return;
    }
    events = std::make_unique<QSocketNotifier>(udev_monitor_get_fd(monitor.get()), QSocketNotifier::Read);
    QObject::connect(events.get(), &QSocketNotifier::activated, &burst, [this] {
        drain();
        changed();
    });
}

void DriveWatcher::Private::watchTable(const char* path)
{
    UniqueFd fd(::open(path, O_RDONLY | O_CLOEXEC));
    if (!fd) {
        return;
    }
    // mountinfo and swaps show a change as POLLPRI (proc_pid_mounts(5), proc_swaps in the kernel).
    auto notifier = std::make_unique<QSocketNotifier>(fd.get(), QSocketNotifier::Exception);
    QObject::connect(notifier.get(), &QSocketNotifier::activated, &burst, [this] { changed(); });
    tableFds.push_back(std::move(fd));
    tables.push_back(std::move(notifier));
}

void DriveWatcher::Private::drain() const
{
    // What the event says doesn't matter: the list is read anew. The socket is non-blocking.
    while (const std::unique_ptr<udev_device, UdevFree> device{udev_monitor_receive_device(monitor.get())}) {
    }
}

DriveWatcher::DriveWatcher(ListOptions options, QObject* parent)
    : QObject(parent), m_d(std::make_unique<Private>()), m_options(std::move(options))
{
    m_d->burst.setSingleShot(true);
    m_d->burst.setInterval(kBurst);
    connect(&m_d->burst, &QTimer::timeout, this, &DriveWatcher::refresh);
    // Before the first reading, so that no change falls between.
    m_d->watchEvents();
    m_d->watchTable("/proc/self/mountinfo");
    m_d->watchTable("/proc/1/mountinfo");
    m_d->watchTable("/proc/swaps");
    m_drives = listDrives(m_options);
}

DriveWatcher::~DriveWatcher()
{
    m_d->reader.waitForDone();
}

void DriveWatcher::setOptions(ListOptions options)
{
    m_options = std::move(options);
    refresh();
}

void DriveWatcher::refresh()
{
    if (m_d->reading) {
        m_d->readAgain = true;
        return;
    }
    m_d->reading = true;
    m_d->readAgain = false;
    m_d->reader.start([this, options = m_options] {
        auto drives = listDrives(options);
        QMetaObject::invokeMethod(
            this, [this, drives = std::move(drives)]() mutable { take(std::move(drives)); },
            Qt::QueuedConnection);
    });
}

void DriveWatcher::take(std::vector<DriveInfo> drives)
{
    m_d->reading = false;
    if (m_d->readAgain) {
        refresh();
    }
    if (drives != m_drives) {
        m_drives = std::move(drives);
        Q_EMIT drivesChanged(m_drives);
    }
}

} // namespace burin
