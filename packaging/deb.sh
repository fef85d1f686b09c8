#!/bin/sh
# Debian packages of an archive of make dist: deb.sh SONDE-VERSION.tar.gz FOLDER
# leaves them in the folder, and says what lintian has to say.
set -eu
archive=$(realpath "$1")
folder=$2
for tool in dpkg-buildpackage dh; do
    command -v $tool >/dev/null || {
        echo "make deb needs $tool; please type:" >&2
        echo "    sudo apt-get install dpkg-dev debhelper lintian" >&2
        exit 1
    }
done
name=$(basename "$archive" .tar.gz)
version=${name#sonde-}
rm -rf "$folder"
mkdir -p "$folder"
cp "$archive" "$folder/sonde_$version.orig.tar.gz"
tar xzf "$archive" -C "$folder"
cp -R "$folder/$name/packaging/debian" "$folder/$name/debian"
cd "$folder/$name"
# A jobserver that called this is none of theirs.
unset MAKEFLAGS MFLAGS MAKELEVEL
dpkg-buildpackage -us -uc >../build.log 2>&1 || {
    tail -20 ../build.log >&2
    exit 1
}
cd ..
ls -- *.deb *.dsc
if command -v lintian >/dev/null; then
    lintian --allow-root --fail-on error,warning -- *.changes && echo "lintian: quiet"
else
    echo "lintian is not there"
fi
