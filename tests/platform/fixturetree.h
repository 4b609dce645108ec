// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "platform/systemsnapshot.h"

#include <QTemporaryDir>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>

#include <unistd.h>

namespace burin {

/// A machine's /proc, /sys, /etc and /dev as files in a temporary folder, for readSystemSnapshot().
class FixtureTree
{
public:
    FixtureTree()
    {
        link("/proc/self/ns/pid", "pid:[4026531836]");
        write("/proc/swaps", "Filename\tType\tSize\tUsed\tPriority\n");
        write("/proc/cmdline", "BOOT_IMAGE=/vmlinuz quiet\n");
        write("/sys/power/resume", "0:0\n");
        write("/etc/fstab", "");
        std::filesystem::create_directories(root() + "/dev");
        std::filesystem::create_directories(root() + "/sys/block");
    }

    [[nodiscard]] std::string root() const { return m_folder.path().toStdString(); }

    void write(const std::string& path, const std::string& text) const
    {
        const std::filesystem::path full(root() + path);
        std::filesystem::create_directories(full.parent_path());
        std::ofstream(full) << text;
    }
    void link(const std::string& path, const std::string& target) const
    {
        const std::filesystem::path full(root() + path);
        std::filesystem::create_directories(full.parent_path());
        std::filesystem::remove(full);
        std::filesystem::create_symlink(target, full);
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(root() + path); }

    /// A whole device with an empty node in /dev (links are resolved through it) and udev's data.
    void disk(const std::string& name, const std::string& devno, const UdevProperties& udev = {},
              int megabytes = 16000)
    {
        node("/sys/block/" + name, name, devno, megabytes);
        m_udev[name] = udev;
        m_udev[name].emplace("USEC_INITIALIZED", "1");
    }
    void partition(const std::string& disk, const std::string& name, const std::string& devno,
                   const UdevProperties& udev = {})
    {
        node("/sys/block/" + disk + '/' + name, name, devno, 8000);
        write("/sys/block/" + disk + '/' + name + "/partition", "1\n");
        m_parents[name] = disk;
        m_udev[name] = udev;
        m_udev[name].emplace("USEC_INITIALIZED", "1");
    }
    void stack(const std::string& name, const std::string& devno, std::initializer_list<std::string> slaves)
    {
        disk(name, devno);
        for (const auto& slave : slaves) {
            write("/sys/block/" + name + "/slaves/" + slave, "");
            hold(slave, name);
        }
    }
    void dm(const std::string& name, const std::string& devno, const std::string& uuid,
            const std::string& dmName, std::initializer_list<std::string> slaves)
    {
        stack(name, devno, slaves);
        write("/sys/block/" + name + "/dm/uuid", uuid + '\n');
        write("/sys/block/" + name + "/dm/name", dmName + '\n');
        link("/dev/mapper/" + dmName, "../" + name);
    }
    void md(const std::string& name, const std::string& devno, std::initializer_list<std::string> slaves)
    {
        stack(name, devno, slaves);
        write("/sys/block/" + name + "/md/level", "raid1\n");
    }
    void loop(const std::string& name, const std::string& devno, const std::string& backing)
    {
        disk(name, devno);
        write("/sys/block/" + name + "/loop/backing_file", backing + '\n');
    }
    void hold(const std::string& held, const std::string& holder) const
    {
        const auto parent = m_parents.find(held);
        const auto folder = parent == m_parents.end() ? held : parent->second + '/' + held;
        write("/sys/block/" + folder + "/holders/" + holder, "");
    }
    void forgetUdev(const std::string& name) { m_udev.erase(name); }

    /// Lines of "8:1 / /home ext4 /dev/sda1 [super options]" for pid 1 and Burin alike.
    void mount(const std::string& line)
    {
        mountInit(line);
        mountOwn(line);
    }
    void mountInit(const std::string& line) { m_init += entry(line); }
    void mountOwn(const std::string& line) { m_own += entry(line); }

    [[nodiscard]] SystemSnapshot snapshot()
    {
        if (!std::filesystem::exists(root() + "/proc/1/mountinfo")) {
            write("/proc/1/mountinfo", m_init);
        }
        write("/proc/self/mountinfo", m_own);
        const auto properties = [this](const BlockNode& block) {
            const auto found = m_udev.find(block.name);
            return found == m_udev.end() ? UdevProperties() : found->second;
        };
        auto snapshot = readSystemSnapshot(
            {.root = root(), .udevProperties = properties, .probe = false, .keptFiles = {}});
        snapshot.keptFiles = keptFiles;
        return snapshot;
    }

    std::vector<KeptFile> keptFiles;

private:
    void node(const std::string& folder, const std::string& name, const std::string& devno,
              int megabytes) const
    {
        write(folder + "/dev", devno + '\n');
        write(folder + "/size", std::to_string(megabytes * 2000) + '\n');
        write(folder + "/ro", "0\n");
        std::filesystem::create_directories(root() + folder + "/holders");
        std::filesystem::create_directories(root() + folder + "/slaves");
        write("/dev/" + name, "");
    }
    static std::string entry(const std::string& line)
    {
        const auto words = splitWords(line, " ");
        const auto options = words.size() > 5 ? "rw," + std::string(words[5]) : std::string("rw");
        return "1 1 " + std::string(words[0]) + ' ' + std::string(words[1]) + ' ' + std::string(words[2])
            + " rw shared:1 - " + std::string(words[3]) + ' ' + std::string(words[4]) + ' ' + options + '\n';
    }

    QTemporaryDir m_folder;
    std::map<std::string, UdevProperties> m_udev;
    std::map<std::string, std::string> m_parents;
    std::string m_own;
    std::string m_init;
};

} // namespace burin
