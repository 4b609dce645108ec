// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#include "partitiontypes.h"

#include <algorithm>
#include <array>
#include <utility>

namespace burin {

namespace {

constexpr auto kMbrTypes = std::to_array<std::pair<int, std::string_view>>({
    {0x01, "FAT12"},
    {0x04, "FAT16"},
    {0x05, "Extended"},
    {0x06, "FAT16"},
    {0x07, "NTFS or exFAT"},
    {0x0b, "FAT32"},
    {0x0c, "FAT32"},
    {0x0e, "FAT16"},
    {0x0f, "Extended"},
    {0x17, "Hidden NTFS or ISO 9660"},
    {0x27, "Windows recovery"},
    {0x82, "Linux swap"},
    {0x83, "Linux"},
    {0x85, "Extended"},
    {0x8e, "Linux LVM"},
    {0xa5, "FreeBSD"},
    {0xa6, "OpenBSD"},
    {0xa9, "NetBSD"},
    {0xaf, "HFS or HFS+"},
    {0xcd, "ISO 9660"},
    {0xda, "Data"},
    {0xee, "GPT"},
    {0xef, "EFI system"},
    {0xfd, "Linux RAID"},
});

constexpr auto kGptTypes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"c12a7328-f81f-11d2-ba4b-00a0c93ec93b", "EFI system"},
    {"21686148-6449-6e6f-744e-656564454649", "BIOS boot"},
    {"ebd0a0a2-b9e5-4433-87c0-68b6b72699c7", "Basic data"},
    {"e3c9e316-0b5c-4db8-817d-f92df00215ae", "Microsoft reserved"},
    {"de94bba4-06d1-4d40-a16a-bfd50179d6ac", "Windows recovery"},
    {"0fc63daf-8483-4772-8e79-3d69d8477de4", "Linux"},
    {"0657fd6d-a4ab-43c4-84e5-0933c84b4f4f", "Linux swap"},
    {"e6d6d379-f507-44c2-a23c-238f2a3df928", "Linux LVM"},
    {"a19d880f-05fc-4d3b-a006-743f0f84911e", "Linux RAID"},
    {"933ac7e1-2eb4-4f13-b844-0e14e2aef915", "Linux home"},
    {"bc13c2ff-59e6-4262-a352-b275fd6f7172", "Linux extended boot"},
    {"44479540-f297-41b2-9af7-d131d5f0458a", "Linux root (x86)"},
    {"4f68bce3-e8cd-4db1-96e7-fbcaf984b709", "Linux root (x86-64)"},
    {"69dad710-2ce4-4e3c-b16c-21a1d49abed3", "Linux root (ARM)"},
    {"b921b045-1df0-41c3-af44-4c6f280d3fae", "Linux root (ARM64)"},
    {"72ec70a6-cf74-40e6-bd49-4bda08e8f224", "Linux root (RISC-V 64)"},
    {"8484680c-9521-48c6-9c11-b0720656f69e", "Linux /usr (x86-64)"},
    {"b0e01050-ee5f-4390-949a-9101b17104e9", "Linux /usr (ARM64)"},
    {"2c7357ed-ebd2-46d9-aec1-23d437ec2bf5", "Linux /usr verity (x86-64)"},
    {"2c7357ed-ebd2-46d9-aec1-23d437ec2bf0", "Linux root verity (x86-64)"},
    {"fe3a2a5d-4f32-41a7-b725-accc3285a309", "ChromeOS kernel"},
    {"3cb8e202-3b7e-47dd-8a3c-7ff2a13cfcec", "ChromeOS root"},
    {"48465300-0000-11aa-aa11-00306543ecac", "HFS+"},
    {"7c3457ef-0000-11aa-aa11-00306543ecac", "APFS"},
    {"516e7cb4-6ecf-11d6-8ff8-00022d09712b", "FreeBSD"},
    {"83bd6b9d-7f41-11dc-be0b-001560b84f0f", "FreeBSD boot"},
    {"516e7cb6-6ecf-11d6-8ff8-00022d09712b", "FreeBSD UFS"},
    {"516e7cba-6ecf-11d6-8ff8-00022d09712b", "FreeBSD ZFS"},
    {"6a898cc3-1dd2-11b2-99a6-080020736631", "ZFS"},
});

std::string lookUp(const auto& table, const auto& key)
{
    const auto found = std::ranges::find(table, key, [](const auto& entry) { return entry.first; });
    return found == table.end() ? std::string() : std::string(found->second);
}

} // namespace

std::string mbrTypeName(int type)
{
    return lookUp(kMbrTypes, type);
}

std::string gptTypeName(std::string_view guid)
{
    return lookUp(kGptTypes, guid);
}

} // namespace burin
