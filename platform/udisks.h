// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/error.h"
#include "engine/uniquefd.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QVariant>

#include <chrono>
#include <stop_token>
#include <string>

namespace burin {

/// The few calls to udisks2 that Burin needs, on a system bus connection of its own. Every call waits in the
/// calling thread, without an event loop, and ends early when `stop` is asked for (AuthDismissed).
class Udisks
{
public:
    explicit Udisks(std::stop_token stop = {});
    ~Udisks();
    Udisks(const Udisks&) = delete;
    Udisks& operator=(const Udisks&) = delete;

    /// One polkit question. flags: O_EXCL | O_DIRECT | O_CLOEXEC.
    [[nodiscard]] Result<UniqueFd> openDevice(const std::string& node, bool write, int flags);
    [[nodiscard]] Result<void> unmount(const std::string& node);
    [[nodiscard]] Result<void> mount(const std::string& node);
    /// Locks an encrypted device; `node` is the encrypted one, not what is inside.
    [[nodiscard]] Result<void> lock(const std::string& node);

    /// The object path of the drive that a block device is on; "/" where it has none (loop devices).
    [[nodiscard]] Result<QString> driveOf(const std::string& node);
    [[nodiscard]] Result<QVariant> driveProperty(const QString& drive, const QString& name);
    [[nodiscard]] Result<void> eject(const QString& drive);
    [[nodiscard]] Result<void> powerOff(const QString& drive);
    /// The object paths of all drives.
    [[nodiscard]] Result<QStringList> drives();

private:
    [[nodiscard]] Result<QDBusMessage> call(const QString& path, const QString& interface,
                                            const QString& method, const QVariantList& arguments,
                                            std::chrono::milliseconds timeout);
    [[nodiscard]] Result<void> callVoid(const QString& path, const QString& interface, const QString& method);

    std::stop_token m_stop;
    QString m_connectionName;
    QDBusConnection m_bus;
};

/// What a D-Bus error means to Burin. The name and the message go into detail.
[[nodiscard]] FlashError udisksError(const QString& name, const QString& message);

/// The object path of a node: "/org/freedesktop/UDisks2/block_devices/dm_2d0" for dm-0.
[[nodiscard]] QString udisksBlockPath(const std::string& node);

} // namespace burin
