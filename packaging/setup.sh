# SPDX-FileCopyrightText: The Burin developers
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# Sourced by packaging/run and tests/run. It installs what is missing and offers
#
#   burin_setup build|tests     makes the machine ready
#   burin_inside COMMAND...     runs COMMAND, as the caller, where Burin can be built
#
# "Where" is this system itself if it packages KArchive for Qt 6 (Debian 13 and later, Ubuntu 24.10
# and later, Fedora 40 and later, Arch). Elsewhere it is a Debian 13 root in the user's cache folder,
# made by mmdebstrap; the host's own packages stay as they are. Only Debian 12 and 13 were tried.

: "${HOME:=$(getent passwd "$(id -u)" | cut -d: -f6)}"
export HOME
burin_top=$(dirname "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")")
burin_cache=${XDG_CACHE_HOME:-$HOME/.cache}/burin
burin_root=$burin_cache/trixie
burin_place=      # "host" or "root", set by burin_setup

# --- What is needed, by the name that each distribution gives it -------------------------------

burin_debian_build=(
    g++ cmake ninja-build pkg-config qt6-base-dev qt6-l10n-tools qt6-tools-dev libkf6archive-dev
    libarchive-dev libudev-dev libblkid-dev libext2fs-dev liblzma-dev libzstd-dev liblz4-dev libbz2-dev zlib1g-dev libisal-dev libssl-dev libxxhash-dev
    e2fsprogs qt6-qpa-plugins qt6-svg-plugins qt6-wayland fonts-inter xkb-data ca-certificates)
burin_debian_tests=(
    ccache clang libclang-rt-dev clang-format clang-tidy git python3 umockdev libumockdev-dev fuse3 libfuse3-dev dbus
    xvfb xdotool x11-utils imagemagick openbox xz-utils zstd bzip2 gzip zip tar fdisk dosfstools mtools bmap-tools
    mount util-linux diffutils procps udev strace
    pigz pbzip2 pixz tabix lz4 lzip 7zip qemu-utils android-sdk-libsparse-utils # what packs images
    memtest86+ grub-rescue-pc ipxe # disk images to flash
    qemu-system-x86 mmdebstrap debian-archive-keyring) # a virtual machine with drives to pull
burin_fedora_build=(
    gcc-c++ cmake ninja-build pkgconf-pkg-config qt6-qtbase-devel qt6-linguist qt6-qtsvg qt6-qtwayland
    kf6-karchive-devel systemd-devel libblkid-devel e2fsprogs-devel xz-devel libzstd-devel bzip2-devel zlib-ng-compat-devel
    isa-l-devel openssl-devel xxhash-devel libarchive-devel lz4-devel e2fsprogs)
burin_fedora_tests=(
    ccache clang compiler-rt clang-tools-extra git python3 umockdev umockdev-devel fuse3 fuse3-devel dbus-daemon
    xorg-x11-server-Xvfb xdotool xwininfo ImageMagick openbox xz zstd bzip2 zip tar util-linux dosfstools mtools bmap-tools procps-ng
    pigz pbzip2 pixz htslib-tools lz4 lzip 7zip qemu-img android-tools
    libasan libubsan libtsan)
burin_arch_build=(
    gcc cmake ninja pkgconf qt6-base qt6-tools qt6-svg qt6-wayland karchive systemd-libs util-linux-libs xz zstd
    bzip2 zlib isa-l openssl xxhash libarchive lz4 e2fsprogs)
burin_arch_tests=(
    ccache clang compiler-rt git python umockdev fuse3 dbus xorg-server-xvfb xdotool xorg-xwininfo imagemagick openbox zip tar
    util-linux dosfstools mtools procps-ng pigz pbzip2 pixz htslib lz4 lzip 7zip qemu-img android-tools)

# --- Small helpers -----------------------------------------------------------------------------

# Everything that set-up says goes to standard error: standard output belongs to burin itself.
burin_say() { printf 'burin set-up: %s\n' "$*" >&2; }
burin_die() { burin_say "$*"; exit 1; }

burin_as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"
    elif command -v sudo >/dev/null; then sudo -- "$@"
    else burin_die "needs root for: $* (run as root, or install sudo)"
    fi
}

# VERSION_ID and ID of this system, or empty.
burin_os() { (. /etc/os-release 2>/dev/null; printf '%s' "${!1:-}"); }

# The Debian mirror that this machine's apt uses already, else the public one.
burin_mirror() {
    local uri
    uri=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(LABEL)' 2>/dev/null |
        awk '$2 == "Debian" && $3 == "Debian" { print $1; exit }')
    if [ -z "$uri" ]; then
        uri=$(cat /etc/apt/sources.list.d/*.sources /etc/apt/sources.list 2>/dev/null |
            sed -nE 's/^URIs: *([^ ]+).*/\1/p; s/^deb +(\[[^]]*\] +)?([^ ]+) .*/\2/p' |
            grep -m1 -E '/debian/?$' || true)
    fi
    printf '%s' "${uri:-http://deb.debian.org/debian}"
}

# --- Packages of this system -------------------------------------------------------------------

burin_apt_install() {
    local p missing=()
    for p in "$@"; do
        [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
    done
    [ ${#missing[@]} = 0 ] && return
    burin_say "installing ${#missing[@]} packages with apt: ${missing[*]}"
    burin_as_root apt-get update -q >&2
    burin_as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "${missing[@]}" >&2
}

burin_host_install() {
    case "$1" in
    debian) shift; burin_apt_install "$@" ;;
    fedora) shift; rpm -q "$@" >/dev/null 2>&1 || burin_as_root dnf install -y "$@" >&2 ;;
    arch) shift; pacman -Q "$@" >/dev/null 2>&1 || burin_as_root pacman -S --needed --noconfirm "$@" >&2 ;;
    esac
}

# --- The Debian 13 root ------------------------------------------------------------------------

burin_make_root() {
    local mirror tmp proxy opts=()
    burin_say "this system has no KArchive for Qt 6, so Burin is built in a Debian 13 root"
    burin_say "step 1 of 3: what makes the root"
    burin_apt_install mmdebstrap debian-archive-keyring
    mirror=$(burin_mirror)
    proxy=$(apt-config dump --format '%v' Acquire::http::Proxy 2>/dev/null || true)
    [ -n "$proxy" ] && opts+=(--aptopt="Acquire::http::Proxy \"$proxy\"")
    mkdir -p "$burin_cache"
    burin_as_root find "$burin_cache" -maxdepth 1 -name 'trixie.part.*' -exec rm -rf --one-file-system {} +
    tmp=$burin_cache/trixie.part.$$
    burin_say "step 2 of 3: Debian 13 into $burin_root from $mirror (about a minute, in all about 1.5 GB)"
    # In a mount namespace of its own: what mmdebstrap mounts can't outlive it, even if it is killed.
    burin_as_root unshare --mount mmdebstrap --mode=root --variant=minbase --include=ca-certificates \
        --keyring=/usr/share/keyrings --aptopt='APT::Install-Recommends "false"' "${opts[@]}" \
        trixie "$tmp" "deb $mirror trixie main" >&2
    burin_as_root mv -T "$tmp" "$burin_root"
}

# Installs packages in the root unless exactly these were installed before.
burin_root_install() {
    local stamp want
    want=$(printf '%s\n' "$@" | sha256sum | cut -c1-16)
    stamp=$burin_root/var/lib/burin-setup.$want
    [ -e "$stamp" ] && return
    burin_say "step 3 of 3: $# packages and what they need, in the Debian 13 root"
    burin_as_root cp -L /etc/resolv.conf "$burin_root/etc/resolv.conf"
    burin_as_root unshare --mount sh -eu -c '
        root=$1; shift
        for d in dev proc sys; do mount --rbind "/$d" "$root/$d"; done
        export DEBIAN_FRONTEND=noninteractive
        # What an interrupted run has left.
        chroot "$root" dpkg --configure -a || true
        chroot "$root" apt-get update -q
        chroot "$root" apt-get install -y -q --fix-broken --no-install-recommends "$@"
        chroot "$root" apt-get clean' sh "$burin_root" "$@" >&2
    burin_as_root touch "$stamp"
}

# Variables that a program needs to find the caller's display, bus, language and settings.
burin_environment() {
    local v
    for v in HOME USER LOGNAME TERM COLORTERM NO_COLOR COLUMNS LINES SHELL TZ CI DISPLAY WAYLAND_DISPLAY XAUTHORITY \
        DBUS_SESSION_BUS_ADDRESS DBUS_SYSTEM_BUS_ADDRESS ICEAUTHORITY LANG LANGUAGE \
        $(compgen -e | grep -E '^(LC_|QT_|XDG_|BURIN_|KDE_|GTK_|ASAN_|UBSAN_|TSAN_|CTEST_|CCACHE_)' || true); do
        [ -n "${!v+x}" ] && printf '%s=%s\0' "$v" "${!v}"
    done
    printf 'PATH=/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin\0'
}

burin_inside_root() {
    local env=()
    mapfile -d '' -t env < <(burin_environment)
    burin_as_root unshare --mount --propagation slave -- bash "$burin_top/packaging/enter-root" \
        "$burin_root" "$(id -u):$(id -g)" "$(id -G | tr ' ' ,)" "$PWD" env -i "${env[@]}" "$@"
}

# --- What the two scripts call -----------------------------------------------------------------

burin_family() {
    case " $(burin_os ID) $(burin_os ID_LIKE) " in
    *" debian "* | *" ubuntu "*) echo debian ;;
    *" fedora "*) echo fedora ;;
    *" arch "*) echo arch ;;
    *) burin_die "doesn't know this system; README.md lists what Burin needs. Then: cmake --preset release && cmake --build --preset release" ;;
    esac
}

burin_setup() {
    local family build tests packages
    family=$(burin_family)
    build="burin_${family}_build[@]"
    tests="burin_${family}_tests[@]"
    packages=("${!build}")
    [ "$1" = tests ] && packages+=("${!tests}")
    if [ "$family" = debian ] && ! burin_has_karchive; then
        burin_place=root
        mkdir -p "$burin_cache"
        exec 8>"$burin_cache/setup.lock"
        flock -n 8 || { burin_say "waiting for another set-up to end"; flock 8; }
        [ -d "$burin_root" ] || burin_make_root
        burin_root_install "${packages[@]}"
        exec 8>&-
    else
        burin_place=host
        burin_host_install "$family" "${packages[@]}"
    fi
}

burin_has_karchive() {
    dpkg-query -W -f '${db:Status-Status}' libkf6archive-dev 2>/dev/null | grep -qx installed && return
    # An empty package list (a new container) says nothing; then the release decides.
    case "$(burin_os ID) $(burin_os VERSION_ID)" in
    "debian 12" | "ubuntu 24.04" | "ubuntu 22.04" | "debian 11") return 1 ;;
    esac
    return 0
}

burin_inside() {
    if [ "$burin_place" = root ]; then burin_inside_root "$@"; else "$@"; fi
}
