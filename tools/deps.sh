#!/bin/sh
# Sees that the Debian packages which the build needs are there, and installs
# those that are not: as root, or through sudo; otherwise it prints the line
# to type.
set -eu

packages='pkg-config libjansson-dev libzstd-dev check'
missing=
for package in $packages; do
    dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

install="apt-get install -y --no-install-recommends$missing"
if [ "$(id -u)" = 0 ]; then
    as_root=
elif command -v sudo >/dev/null 2>&1 && sudo -n true 2>/dev/null; then
    as_root='sudo -n'
else
    echo "sonde needs Debian's packages$missing; please type:" >&2
    echo "    sudo $install" >&2
    exit 1
fi
echo "installing$missing"
# An image may come without package lists: ask for them once if need be.
$as_root env DEBIAN_FRONTEND=noninteractive $install >/dev/null 2>&1 || {
    $as_root apt-get update -qq
    $as_root env DEBIAN_FRONTEND=noninteractive $install >/dev/null
}
