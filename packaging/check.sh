#!/bin/sh
# Tries what packaging makes: check.sh SONDE-VERSION.tar.gz FOLDER.  Each part
# says "ok", what is wrong, or that a tool for it is not there; the status is 1
# if anything is wrong.
#
#   archive     builds with no git, knows its commit, is installed, and taken
#               away again without a rest
#   clients     programs in C, C++ and Python, built of what was installed
#   sanitized   two sessions at once, of which one is stopped, and a third, with
#               the library under the sanitizers
#   deb         packages are built, lintian is quiet; installed in a clean root
#               they run, programs are built, and they are removed
#   static      a program that needs no library
#   musl        one for a libc that is not GNU's, with libraries built for it
#               (MUSL=PREFIX says where these are)
set -eu
archive=$(realpath "$1")
here=$(dirname "$(realpath "$0")")
name=$(basename "$archive" .tar.gz)
jobs=-j$(nproc)
unset MAKEFLAGS MFLAGS MAKELEVEL

skip() {
    echo "$*"
    exit 77
}

archive() {
    tar xzf "$archive"
    make -C "$name" $jobs PREFIX=/usr DESTDIR="$work/root" install
    "$name/build/sonde" --version | grep -q " ($(
        gzip -dc "$archive" | git get-tar-commit-id | cut -c 1-12))$"
    "$work/root/usr/bin/sonde" -q topology -d sim:quick >answer
    [ "$(wc -l <answer)" -le 24 ]
    cp -R root installed
    make -C "$name" PREFIX=/usr DESTDIR="$work/root" uninstall
    [ -z "$(find root -type f -o -type l)" ]
}

clients() {
    nm -D --defined-only installed/usr/lib/libsonde.so.0 >visible
    if grep -v ' T sonde_[a-z_]*$' visible; then exit 1; fi
    sh "$here/clients.sh" "$work/installed" /usr "$work/clients" "$work/installed/usr/share/doc/sonde/examples"
}

sanitized() {
    make -C "$name" $jobs SAN=address,undefined build/san/libsonde.so
    cc -g -fsanitize=address,undefined -fno-sanitize-recover=all -I "$name/include" \
        "$name/examples/sessions.c" -o sessions \
        "$name/build/san/libsonde.so" -Wl,-rpath,"$work/$name/build/san" -pthread
    ln -sf libsonde.so "$name/build/san/libsonde.so.0"
    ./sessions sim:quick | sort | tee said
    [ "$(grep -c '^L1 has lines of' said)" = 2 ] && grep -q '^stopped$' said
}

deb() {
    command -v dpkg-buildpackage >/dev/null || skip "dpkg-buildpackage is not there"
    sh "$here/deb.sh" "$archive" debs
    cat debs/build.log | grep -q '^[0-9]* passed, 0 failed'
    command -v mmdebstrap >/dev/null || skip "built; mmdebstrap, for a clean root, is not there"
    sh "$here/deb-root.sh" debs
}

static() {
    make -C "$name" $jobs static
    if ldd "$name/build/static/sonde"; then exit 1; fi
    "$name/build/static/sonde" -q run clock -d sim:quick
}

musl() {
    command -v musl-gcc >/dev/null || skip "musl-gcc is not there"
    sh "$here/musl.sh" "$work/$name" "$work/musl"
}

# Each part is a process of its own: a command that fails ends it.
if [ $# = 3 ]; then
    work=$2
    cd "$work"
    "$3"
    exit 0
fi
rm -rf "$2"
mkdir -p "$2"
work=$(realpath "$2")
wrong=0
for part in archive clients sanitized deb static musl; do
    status=0
    sh "$here/check.sh" "$archive" "$work" $part >"$work/$part.log" 2>&1 ||
        status=$?
    case $status in
    0) echo "$part: ok" ;;
    77) echo "$part: $(tail -1 "$work/$part.log")" ;;
    *)
        wrong=1
        echo "$part: WRONG"
        tail -15 "$work/$part.log"
        ;;
    esac
done
exit $wrong
