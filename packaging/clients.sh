#!/bin/sh
# Programs that use the library as it is installed below ROOT with the prefix
# PREFIX: clients.sh ROOT PREFIX FOLDER EXAMPLES builds all of examples/ in the
# folder, linked with the shared library and with the archive, and runs them on
# a simulated GPU.
set -eu
root=$1 prefix=$2 folder=$3 examples=$4
rm -rf "$folder"
mkdir -p "$folder"
examples=$(realpath "$examples")
cd "$folder"
if [ -n "$root" ]; then
    PKG_CONFIG_SYSROOT_DIR=$root
    PKG_CONFIG_PATH=$root$prefix/lib/pkgconfig
    LD_LIBRARY_PATH=$root$prefix/lib
    # What the system's own are is known without a word.
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
    PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
    export PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH LD_LIBRARY_PATH
    export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS PKG_CONFIG_ALLOW_SYSTEM_LIBS
fi
warnings='-Wall -Wextra -Wpedantic -Werror'
cflags=$(pkg-config --cflags sonde)
libs="$(pkg-config --libs sonde) -lm -pthread"
archive="-Wl,-Bstatic -lsonde -Wl,-Bdynamic $(
    pkg-config --libs --static sonde | sed 's/-lsonde//')"

build() { # example
    case $1 in
    *.c) "${CC:-cc}" -std=c11 $warnings $cflags "$@" ;;
    *.cc) "${CXX:-c++}" -std=c++17 $warnings $cflags "$@" ;;
    esac
}

run() { # program
    case $1 in
    *list_devices*) "$1" | grep 'sim:k20c' ;;
    *read_report*) ./report.py >/dev/null && "$1" report.json ;;
    *) "$1" sim:quick ;;
    esac
}

# A report to read, by the library itself.
cat >report.py <<'END'
#!/usr/bin/env python3
import ctypes as c
lib = c.CDLL("libsonde.so.0")
s, text, device = c.c_void_p(), c.c_char_p(), (c.c_char_p * 32)(b"sim:quick")
assert lib.sonde_open(c.byref(s), device, None) == 0
assert lib.sonde_run(s, (c.c_char_p * 1)(b"line"), c.c_size_t(1), None) == 0
assert lib.sonde_report(s, b"json", None, c.byref(text), None) == 0
open("report.json", "wb").write(text.value)
END
chmod +x report.py
for source in "$examples"/*.c "$examples"/*.cc; do
    name=$(basename "${source%.*}")
    build "$source" -o "$name" $libs
    build "$source" -o "$name-static" -L"$root$prefix/lib" $archive -lm -pthread
    echo "$name:"
    run "./$name" >shared.out
    run "./$name-static" >static.out
    cat shared.out
    [ -s shared.out ]
    [ "$name" = sessions ] || cmp shared.out static.out
done
echo sonde.py:
python3 "$examples/sonde.py" sim:quick
