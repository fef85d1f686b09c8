# What `make install` puts there, as users of the library build with it: nothing
# but sonde_* is visible, and the programs of examples/ compile and run, in C, in
# C++, linked statically, and in Python.
build=$(dirname "$SONDE")
case $build in */san) echo "the library of the sanitizers is not installed"; exit 77 ;; esac
command -v pkg-config >/dev/null || { echo "there is no pkg-config"; exit 77; }
make -s -C "$TOP" B="$build" PREFIX="$PWD/usr" install || exit 1
find usr -type f -o -type l | sort
export PKG_CONFIG_PATH="$PWD/usr/lib/pkgconfig" LD_LIBRARY_PATH="$PWD/usr/lib"

foreign() { grep -v ' [A-Z] sonde_[a-z_]*$'; }
nm -D --defined-only usr/lib/libsonde.so.0 | foreign
# What the Debian package says that it has.
nm -D --defined-only usr/lib/libsonde.so.0 | sed 's/.* /~/; s/$/@Base/; s/~/ /' | sort >has
sed -n 's/^\( sonde_[a-z_]*@Base\) .*/\1/p' "$TOP/packaging/debian/libsonde0.symbols" | sort >says
diff has says
nm -g --defined-only usr/lib/libsonde.a | grep ' [A-Z] ' | foreign
objdump -p usr/lib/libsonde.so.0 | grep SONAME | tr -s ' '

CC=${CC:-cc}
warnings='-std=c11 -Wall -Wextra -Wpedantic -Werror'
for example in "$TOP"/examples/*.c; do
    name=$(basename "$example" .c)
    $CC $warnings "$example" -o "$name" $(pkg-config --cflags --libs sonde) -lm -pthread
done
./list_devices | grep k20c
gpu=sim:quick
numbers() { sed 's/[0-9][0-9.]*/N/g'; }
./three_findings "$gpu" | numbers
./tile_size "$gpu" | numbers
# Two sessions at once, of which one is stopped, and a third.
./sessions "$gpu" | sort
./read_report "$CLI/cases/example.json"
./read_report none.json 2>&1
echo "[$?]"
$CC "$TOP/examples/read_report.c" -o static usr/lib/libsonde.a \
    $(pkg-config --cflags --libs --static sonde | sed 's/-lsonde//') -lm
LD_LIBRARY_PATH= ./static "$CLI/cases/example.json" | tail -1
if command -v c++ >/dev/null; then
    c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror "$TOP/examples/latencies.cc" \
        -o latencies $(pkg-config --cflags --libs sonde) && ./latencies "$gpu" | numbers
fi
if command -v python3 >/dev/null; then
    python3 "$TOP/examples/sonde.py" "$gpu" | grep '^l1.latency' | numbers
fi
# sonde.h asks no more of a compiler than C99.
echo '#include <sonde.h>' >c99.c
$CC -std=c99 -Wall -Wextra -Wpedantic -Werror -c c99.c $(pkg-config --cflags sonde)
# Nothing is left behind.
make -s -C "$TOP" B="$build" PREFIX="$PWD/usr" uninstall && find usr -type f -o -type l
