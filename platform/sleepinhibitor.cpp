// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "sleepinhibitor.h"

#include <QDBusConnection>
#include <QDBusMessage>
#include <QDBusUnixFileDescriptor>

#include <fcntl.h>

namespace burin {

using namespace Qt::StringLiterals;

SleepInhibitor::SleepInhibitor(const std::string& reason)
{
    constexpr int kTimeoutMs = 2000;
    const auto name = u"burin-inhibit-%1"_s.arg(reinterpret_cast<quintptr>(this));
    {
        auto bus = QDBusConnection::connectToBus(QDBusConnection::SystemBus, name);
        if (bus.isConnected()) {
            auto message =
                QDBusMessage::createMethodCall(u"org.freedesktop.login1"_s, u"/org/freedesktop/login1"_s,
                                               u"org.freedesktop.login1.Manager"_s, u"Inhibit"_s);
            message << u"sleep:idle:shutdown"_s << u"Burin"_s << QString::fromStdString(reason) << u"block"_s;
            const auto reply = bus.call(message, QDBus::Block, kTimeoutMs);
            const auto descriptor = reply.arguments().value(0).value<QDBusUnixFileDescriptor>();
            if (descriptor.isValid()) {
                m_fd.reset(::fcntl(descriptor.fileDescriptor(), F_DUPFD_CLOEXEC, 3));
            }
        }
    }
    QDBusConnection::disconnectFromBus(name);
}

} // namespace burin
