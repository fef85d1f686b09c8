#!/bin/sh
# A static program for musl, as on Alpine: musl.sh SOURCE PREFIX builds it in
# the folder SOURCE with musl-gcc, of jansson and zstd that are built for it
# below PREFIX (from Debian's source packages, where they are not there yet),
# and runs the commands of check-quick with it.
set -eu
source=$1
mkdir -p "$2"
prefix=$(realpath "$2")
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" CC=musl-gcc

fetch() { # source package
    command -v autoreconf >/dev/null && command -v dpkg-source >/dev/null || {
        echo "autoreconf and dpkg-source are not there"
        exit 77
    }
    (cd "$prefix" && with_sources source -qq "$1") || {
        echo "apt-get has no source of $1"
        exit 77
    }
}

# apt-get with lists of its own, of Debian's sources: the system's stay as they are.
with_sources() {
    mkdir -p "$prefix/apt/lists/partial"
    [ -e "$prefix/apt/sources.list" ] || {
        echo "deb-src http://deb.debian.org/debian $(
            . /etc/os-release && echo "$VERSION_CODENAME") main" \
            >"$prefix/apt/sources.list"
        with_sources update -qq
    }
    apt-get -o Dir::Etc::SourceList="$prefix/apt/sources.list" \
        -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$prefix/apt/lists" "$@"
}

if [ ! -e "$prefix/lib/libjansson.a" ]; then
    fetch jansson
    (cd "$prefix"/jansson-*/ && autoreconf -fi &&
        ./configure --prefix="$prefix" --disable-shared &&
        make -C src install && make install-pkgconfigDATA)
fi
if [ ! -e "$prefix/lib/libzstd.a" ]; then
    fetch libzstd
    make -C "$prefix"/libzstd-*/lib PREFIX="$prefix" libzstd.a install-static \
        install-pc install-includes
fi
make -C "$source" -j"$(nproc)" B=build/musl static
built=$source/build/musl/static/sonde
if ldd "$built" 2>/dev/null; then exit 1; fi
"$built" -q -d sim:quick
sh "$source/tests/cli/run.sh" "$built" $(sed -n 's/^QUICK_CASES = //p' "$source/tests/tests.mk")
