#!/bin/sh
# Sees that the libraries which are named are there, by what pkg-config says of
# them: sh tools/deps.sh jansson libzstd.  Where Debian's apt-get is, those that
# are not are installed: as root, or through sudo; otherwise, and elsewhere, the
# line to type is printed.
set -eu

# What a system calls pkg-config and each library.
package() { # manager library
    case $1:$2 in
    apt-get:pkg-config) echo pkg-config ;;
    apt-get:jansson) echo libjansson-dev ;;
    apt-get:libzstd) echo libzstd-dev ;;
    zypper:jansson) echo libjansson-devel ;;
    dnf:pkg-config) echo pkgconf-pkg-config ;;
    zypper:pkg-config) echo pkg-config ;;
    *:pkg-config) echo pkgconf ;;
    dnf:jansson) echo jansson-devel ;;
    dnf:libzstd | zypper:libzstd) echo libzstd-devel ;;
    dnf:check | zypper:check) echo check-devel ;;
    apk:jansson) echo jansson-dev ;;
    apk:libzstd) echo zstd-dev ;;
    apk:check) echo check-dev ;;
    pacman:libzstd) echo zstd ;;
    *) echo "$2" ;;
    esac
}

pkg_config=${PKG_CONFIG:-pkg-config}
missing=
for library in pkg-config "$@"; do
    if [ "$library" = pkg-config ]; then
        command -v "$pkg_config" >/dev/null 2>&1 || missing="$missing $library"
    else
        "$pkg_config" --exists "$library" 2>/dev/null ||
            missing="$missing $library"
    fi
done
[ -n "$missing" ] || exit 0

manager=
for manager in apt-get dnf zypper pacman apk none; do
    ! command -v "$manager" >/dev/null 2>&1 || break
done
packages=
for library in $missing; do
    packages="$packages $(package "$manager" "$library")"
done
case $manager in
apt-get) install="apt-get install -y --no-install-recommends$packages" ;;
dnf) install="dnf install$packages" ;;
zypper) install="zypper install$packages" ;;
pacman) install="pacman -S$packages" ;;
apk) install="apk add$packages" ;;
*)
    echo "sonde needs$missing, which pkg-config does not know of;" \
        "please install them with their headers" >&2
    exit 1
    ;;
esac
if [ $manager = apt-get ] && [ "$(id -u)" = 0 ]; then
    as_root=
elif [ $manager = apt-get ] && command -v sudo >/dev/null 2>&1 &&
    sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    [ "$(id -u)" = 0 ] || install="sudo $install"
    echo "sonde needs$missing; please type:" >&2
    echo "    $install" >&2
    exit 1
fi
echo "installing$packages"
# An image may come without package lists: ask for them once if need be.
$as_root env DEBIAN_FRONTEND=noninteractive $install >/dev/null 2>&1 || {
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive $install >/dev/null
}
