// SPDX-FileCopyrightText: The Burin developers
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "error.h"
#include "imagesource.h"
#include "sumtext.h"
#include "uniquefd.h"
#include "units.h"
#include "usedblocks.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace burin {

/// What an image can be packed in. The names are in imageformat.cpp.
enum class Format {
    // streams
    Gzip,
    Bzip2,
    Xz,
    Zstd,
    Lz4,
    Lzip,
    Lzma,
    // containers
    Zip,
    SevenZip,
    Tar,
    // virtual disks
    Vhd,
    Vhdx,
    Qcow2,
    Vmdk,
    AndroidSparse,
    Dmg,
};

/// One wrapping of an image.
struct ImageLayer {
    Format format = Format::Gzip;
    std::string member{}; ///< of a container: the path of the chosen file

    bool operator==(const ImageLayer&) const = default;
};
/// A file in a container that may be a disk image.
struct ImageCandidate {
    std::string member;
    Bytes size = 0;
};

class FileDigester;
enum class PartitionTable { None, Mbr, Gpt };

/// Something that people should know before they write the image; the words are in ui/errortext.cpp.
enum class ImageWarning {
    NoBootRecord,       ///< neither a partition table nor a boot record
    StartsFromDiscOnly, ///< as before, but an ISO image that starts from an optical disc
    DamagedTable,       ///< a GPT, or its backup, doesn't fit its own CRC
    WindowsInstaller,
    ShorterThanItsTable, ///< a partition, the backup GPT or the ISO volume reaches beyond the end
    ManyMembers,         ///< the container holds other candidates too; the largest was taken
    EndNotMarked,        ///< a URL whose server doesn't say where the file ends
    UnfinishedDownload,  ///< the name is one that browsers give until a download is complete
    OtherSuffix,         ///< the name speaks of another format than the content is
};

/// The very file that was looked at; compared on the descriptor when the job starts and when it ends.
struct FileIdentity {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    Bytes size = 0;
    std::int64_t modifiedNs = 0;
    std::int64_t changedNs = 0;
    std::string validator{}; ///< of a URL: what the server calls this version of the file

    bool operator==(const FileIdentity&) const = default;
};

struct ImagePartition {
    Range range;
    std::string name;       ///< GPT name, empty if none
    std::string fileSystem; ///< as libblkid names it ("ext4", "vfat"), empty if not known
    std::string label;      ///< of the file system
    std::string type;       ///< what the table calls it, in words ("Linux", "EFI system")

    bool operator==(const ImagePartition&) const = default;
};

/// What an image file is, as found by content, never by name.
struct ImageInfo {
    std::string path;
    FileIdentity file;
    std::vector<ImageLayer> layers;         ///< outermost first
    std::vector<ImageCandidate> candidates; ///< of the first container: all that may be meant, largest first
    std::vector<KnownSum> sums;             ///< that files beside it hold for it
    std::vector<std::string> signatures;    ///< beside it; not checked
    std::optional<Bytes> unpackedSize;
    bool checked = false; ///< the format has a check over every byte, so that damage is noticed
    Bytes claimedEnd = 0; ///< where the table, or the volume, says that the image ends; 0: it doesn't
    PartitionTable table = PartitionTable::None;
    bool isoHybrid = false;         ///< an ISO 9660 volume is there too
    std::uint32_t tableBlock = 512; ///< the logical block that a GPT was made for
    std::string fileSystem;         ///< of the whole image, where it has no table
    std::string label;
    std::vector<ImagePartition> partitions;
    std::vector<ImageWarning> warnings;
    std::shared_ptr<const UsedBlocks> used; ///< what its own file systems say; nothing: all of it
    std::optional<UsedDoubt> usedDoubt;     ///< why nothing, or not more, may be left out
    std::shared_ptr<const UsedBlocks> bmap; ///< the block map beside it
    std::string bmapPath;                   ///< also of one that can't be used
    std::optional<FlashError> bmapError;    ///< why it can't: BlockMapBad
};

/// Takes a block map, in place of one beside the image. BlockMapBad if it is for an image of another size.
[[nodiscard]] Result<void> useBmap(ImageInfo& info, const std::string& path);
/// Which bytes have to be on a drive: by the block map, else by the file systems; nothing: all of them.
[[nodiscard]] std::shared_ptr<const UsedBlocks> usedBlocksOf(const ImageInfo& info);

/// An http or https address, which is no file: it lies on no drive.
[[nodiscard]] bool isUrl(std::string_view path);

/// Looks at an image, a file or an http(s) URL: format by content, unpacked size, partitions, warnings.
/// `member` is the file in a container that a person has picked; empty for the largest. Blocks while it reads
/// and unpacks the beginning; call it off the GUI thread. Errors: ImageUnreadable (also for a folder, detail
/// "directory"), ImageEmpty, ImageFormatUnknown, ImageUnsupported (detail: the format's name),
/// ImageNoMember, ImageEncrypted, ImageTruncated, ImageCorrupt, ImageNeedsMemory.
[[nodiscard]] Result<ImageInfo> probeImage(const std::string& path, std::stop_token stop = {},
                                           const std::string& member = {});

/// Memory for unpacking in several threads, in which the command line stays below 100 MB in all: one thread
/// for xz's usual blocks of 24 MiB, two for blocks of up to 16 MiB.
inline constexpr Bytes kSmallThreadingMemory = Bytes{40} * kMiB;
/// Two threads for blocks of 24 MiB (measured with liblzma 5.8: the process takes 78 MB; with 64 MiB it runs
/// only one thread, and with 80 MiB it takes 93 MB for no more threads). What the window allows.
inline constexpr Bytes kThreadingMemory = Bytes{72} * kMiB;

/// An image that can be read only once, from a pipe: looked at and ready to be read.
struct StreamedImage {
    ImageInfo info;
    std::unique_ptr<ImageSource> source;
};
/// Takes an image from a descriptor that can't be read twice. `name` stands for its path. What lies behind
/// the first 4 MiB isn't looked at. Errors as of probeImage().
[[nodiscard]] Result<StreamedImage> openStream(UniqueFd fd, const std::string& name,
                                               Bytes threadingMemory = kSmallThreadingMemory);

struct OpenOptions {
    Bytes threadingMemory = kSmallThreadingMemory;
    /// Takes the digests of the file, if there is one: while it is read, or, where a job doesn't read it from
    /// its beginning to its end (zip, 7z, virtual disks), at once, which `stop` ends.
    std::shared_ptr<FileDigester> digester{};
    bool judgedBySum = false; ///< data after the end are passed over: a sum decides on the whole file
    std::stop_token stop{};
};
/// Opens the image that was probed for one reading. ImageChanged if the file is not the same any more.
[[nodiscard]] Result<std::unique_ptr<ImageSource>> openImage(const ImageInfo& info,
                                                             const OpenOptions& options = {});

} // namespace burin
