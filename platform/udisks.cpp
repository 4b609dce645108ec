// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "udisks.h"

#include <QDBusError>
#include <QDBusObjectPath>
#include <QDBusPendingCall>
#include <QDBusPendingReply>
#include <QDBusUnixFileDescriptor>
#include <QDBusVariant>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <thread>

#include <fcntl.h>

namespace burin {

using namespace Qt::StringLiterals;
using namespace std::chrono_literals;

namespace {

constexpr auto kService = "org.freedesktop.UDisks2"_L1;
constexpr auto kBlock = "org.freedesktop.UDisks2.Block"_L1;
constexpr auto kDrive = "org.freedesktop.UDisks2.Drive"_L1;
constexpr auto kFilesystem = "org.freedesktop.UDisks2.Filesystem"_L1;
constexpr auto kEncrypted = "org.freedesktop.UDisks2.Encrypted"_L1;
constexpr auto kProperties = "org.freedesktop.DBus.Properties"_L1;

constexpr auto kPoll = 20ms;
constexpr auto kQuestion = 10min; ///< how long a password question may stand
constexpr auto kQuick = 25s;

QString freshName()
{
    static std::atomic<unsigned> count = 0;
    return u"burin-udisks-%1"_s.arg(++count);
}

ErrorCode codeOfMessage(const QString& message)
{
    // udisksd runs open(2) itself and hands back the text of the errno, in the C locale.
    constexpr std::array<std::pair<QLatin1StringView, ErrorCode>, 6> kTexts{
        {{"Device or resource busy"_L1, ErrorCode::DriveBusy},
         {"target is busy"_L1, ErrorCode::DriveBusy},
         {"Read-only file system"_L1, ErrorCode::DriveReadOnly},
         {"No medium found"_L1, ErrorCode::DriveNoMedium},
         {"No such device"_L1, ErrorCode::DriveGone},
         {"Invalid argument"_L1, ErrorCode::DriveNoDirectIo}}};
    const auto found =
        std::ranges::find_if(kTexts, [&](const auto& item) { return message.contains(item.first); });
    return found == kTexts.end() ? ErrorCode::Internal : found->second;
}

ErrorCode codeOf(const QString& name, const QString& message)
{
    const auto udisks = "org.freedesktop.UDisks2.Error."_L1;
    if (name.startsWith(udisks)) {
        const auto what = name.sliced(udisks.size());
        if (what == "NotAuthorizedDismissed"_L1 || what == "Cancelled"_L1 || what == "TimedOut"_L1) {
            return ErrorCode::AuthDismissed;
        }
        // polkit would allow it after a question, but nobody is there to ask it (udisks: udisksdaemonutil.c).
        if (what == "NotAuthorizedCanObtain"_L1) {
            return ErrorCode::AuthNoAgent;
        }
        if (what == "NotAuthorized"_L1 || what == "OptionNotPermitted"_L1
            || what == "MountedByOtherUser"_L1) {
            return ErrorCode::AuthDenied;
        }
        return what == "DeviceBusy"_L1 ? ErrorCode::DriveBusy : codeOfMessage(message);
    }
    // The bus has systemd start the service, which may say that it is masked, or failed.
    if (name.startsWith("org.freedesktop.systemd1."_L1)) {
        return ErrorCode::ServiceMissing;
    }
    const auto dbus = "org.freedesktop.DBus.Error."_L1;
    const auto what = name.startsWith(dbus) ? name.sliced(dbus.size()) : QString();
    if (what == "AccessDenied"_L1 || what == "AuthFailed"_L1) {
        return ErrorCode::AuthDenied;
    }
    if (what == "NoReply"_L1 || what == "Timeout"_L1 || what == "TimedOut"_L1) {
        return ErrorCode::AuthDismissed;
    }
    constexpr std::array kMissing{"ServiceUnknown"_L1,   "NameHasNoOwner"_L1, "NoServer"_L1,
                                  "Disconnected"_L1,     "FileNotFound"_L1,   "UnknownMethod"_L1,
                                  "UnknownInterface"_L1, "UnknownObject"_L1,  "NotSupported"_L1};
    if (what.startsWith("Spawn."_L1) || std::ranges::find(kMissing, what) != kMissing.end()) {
        return ErrorCode::ServiceMissing;
    }
    return codeOfMessage(message);
}

} // namespace

FlashError udisksError(const QString& name, const QString& message)
{
    return {.code = codeOf(name, message),
            .phase = Phase::Preparing,
            .sysErrno = 0,
            .offset = {},
            .detail = (name + ": "_L1 + message).toStdString()};
}

QString udisksBlockPath(const std::string& node)
{
    // udisks_safe_append_to_object_path(): anything but letters and digits becomes _ and its code in hex.
    auto path = u"/org/freedesktop/UDisks2/block_devices/"_s;
    for (const char c : node) {
        const auto byte = static_cast<unsigned char>(c);
        if (std::isalnum(byte) != 0) {
            path += QLatin1Char(c);
        } else {
            path += u"_%1"_s.arg(static_cast<unsigned>(byte), 2, 16, QLatin1Char('0'));
        }
    }
    return path;
}

Udisks::Udisks(std::stop_token stop)
    : m_stop(std::move(stop)), m_connectionName(freshName()),
      m_bus(QDBusConnection::connectToBus(QDBusConnection::SystemBus, m_connectionName))
{
}

Udisks::~Udisks()
{
    QDBusConnection::disconnectFromBus(m_connectionName);
}

Result<QDBusMessage> Udisks::call(const QString& path, const QString& interface, const QString& method,
                                  const QVariantList& arguments, std::chrono::milliseconds timeout)
{
    if (!m_bus.isConnected()) {
        return std::unexpected(
            udisksError(u"org.freedesktop.DBus.Error.NoServer"_s, m_bus.lastError().message()));
    }
    auto message = QDBusMessage::createMethodCall(kService, path, interface, method);
    message.setArguments(arguments);
    message.setInteractiveAuthorizationAllowed(true);
    const auto pending = m_bus.asyncCall(message, static_cast<int>(timeout.count()));
    // QtDBus reads the bus in a thread of its own, so the answer arrives without an event loop here.
    while (!pending.isFinished()) {
        if (m_stop.stop_requested()) {
            return failure(ErrorCode::AuthDismissed, "stopped");
        }
        std::this_thread::sleep_for(kPoll);
    }
    if (pending.isError()) {
        return std::unexpected(udisksError(pending.error().name(), pending.error().message()));
    }
    return pending.reply();
}

Result<void> Udisks::callVoid(const QString& path, const QString& interface, const QString& method)
{
    const auto reply = call(path, interface, method, {QVariantMap()}, kQuestion);
    return reply ? Result<void>() : std::unexpected(reply.error());
}

Result<UniqueFd> Udisks::openDevice(const std::string& node, bool write, int flags)
{
    const QVariantMap options{{u"flags"_s, flags}};
    const auto reply = call(udisksBlockPath(node), kBlock, u"OpenDevice"_s,
                            {QString(write ? u"rw"_s : u"r"_s), options}, kQuestion);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    const auto descriptor = reply->arguments().value(0).value<QDBusUnixFileDescriptor>();
    if (!descriptor.isValid()) {
        return failure(ErrorCode::Internal, "OpenDevice gave no descriptor");
    }
    // The reply keeps its own descriptor, which goes with it.
    UniqueFd fd(::fcntl(descriptor.fileDescriptor(), F_DUPFD_CLOEXEC, 3));
    return fd ? Result<UniqueFd>(std::move(fd)) : failure(ErrorCode::Internal, errno);
}

Result<void> Udisks::unmount(const std::string& node)
{
    return callVoid(udisksBlockPath(node), kFilesystem, u"Unmount"_s);
}

Result<void> Udisks::mount(const std::string& node)
{
    return callVoid(udisksBlockPath(node), kFilesystem, u"Mount"_s);
}

Result<void> Udisks::lock(const std::string& node)
{
    return callVoid(udisksBlockPath(node), kEncrypted, u"Lock"_s);
}

Result<QString> Udisks::driveOf(const std::string& node)
{
    const auto reply =
        call(udisksBlockPath(node), kProperties, u"Get"_s, {QString(kBlock), u"Drive"_s}, kQuick);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    const auto value = reply->arguments().value(0).value<QDBusVariant>().variant();
    return value.value<QDBusObjectPath>().path();
}

Result<QVariant> Udisks::driveProperty(const QString& drive, const QString& name)
{
    const auto reply = call(drive, kProperties, u"Get"_s, {QString(kDrive), name}, kQuick);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    return reply->arguments().value(0).value<QDBusVariant>().variant();
}

Result<void> Udisks::eject(const QString& drive)
{
    return callVoid(drive, kDrive, u"Eject"_s);
}

Result<void> Udisks::powerOff(const QString& drive)
{
    return callVoid(drive, kDrive, u"PowerOff"_s);
}

Result<QStringList> Udisks::drives()
{
    const auto folder = u"/org/freedesktop/UDisks2/drives"_s;
    const auto reply = call(folder, u"org.freedesktop.DBus.Introspectable"_s, u"Introspect"_s, {}, kQuick);
    if (!reply) {
        return std::unexpected(reply.error());
    }
    // The only children of that object are drives: <node name="SanDisk_Ultra_4C53"/>.
    QStringList paths;
    const auto xml = reply->arguments().value(0).toString();
    const auto opening = u"<node name=\""_s;
    for (auto at = xml.indexOf(opening); at >= 0; at = xml.indexOf(opening, at + 1)) {
        const auto begin = at + opening.size();
        paths += folder + '/'_L1 + xml.sliced(begin, xml.indexOf('"'_L1, begin) - begin);
    }
    return paths;
}

} // namespace burin
