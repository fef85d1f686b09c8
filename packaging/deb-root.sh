#!/bin/sh
# Installs the packages in a folder into a clean root of Debian, runs the
# program, builds examples/ there, and removes the packages: deb-root.sh FOLDER.
# What they leave behind is wrong.
set -eu
here=$(dirname "$(realpath "$0")")
debs=$(realpath "$1")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
suite=$(. /etc/os-release && echo "$VERSION_CODENAME")
mmdebstrap --variant=apt --include=gcc,g++,libc6-dev,pkg-config,python3,libjansson-dev,libzstd-dev \
    "$suite" "$root/system"
cp "$debs"/*.deb "$here/clients.sh" "$root/system/tmp/"
rm -f "$root"/system/tmp/*dbgsym*
inside() {
    chroot "$root/system" /bin/sh -euc "$*"
}
all_files() {
    (cd "$root/system" && find . -path ./proc -prune -o -path ./tmp -prune -o \
        -path ./var -prune -o -print | sort)
}
all_files >"$root/before"
inside 'apt-get install -y -qq --no-install-recommends /tmp/sonde_*.deb >/dev/null
    sonde --version
    sonde -q -d sim:quick | sed -n "1,5p"
    if ldconfig -p | grep libsonde; then exit 1; fi
    apt-get install -y -qq --no-install-recommends /tmp/libsonde*.deb >/dev/null
    sh /tmp/clients.sh "" /usr /tmp/clients /usr/share/doc/libsonde-dev/examples
    apt-get purge -y -qq sonde libsonde0 libsonde-dev >/dev/null
    [ ! -e /usr/bin/sonde ]'
all_files >"$root/after"
diff "$root/before" "$root/after"
echo "removed without a rest"
