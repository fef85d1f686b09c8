# What is missing is what pkg-config does not know; it is installed by apt-get, or
# the line to type is said in the words of the system that there is.
mkdir bin
for tool in sh env id echo; do ln -s "$(command -v $tool)" bin/$tool; done
fake() { # name, and what it does
    printf '#!/bin/sh\n%s\n' "$2" >bin/$1
    chmod +x bin/$1
}
deps() {
    PATH=$PWD/bin PKG_CONFIG= sh "$TOP/tools/deps.sh" jansson libzstd check 2>&1
    echo "[$?]"
}
fake pkg-config 'exit 0'
deps
fake pkg-config 'test "$2" = jansson'
for manager in dnf zypper pacman apk; do
    fake $manager 'echo never'
    deps | sed 's/sudo //'
    rm bin/$manager
done
deps
rm bin/pkg-config
fake apk 'echo never'
deps | sed 's/sudo //'
# As root, or with sudo, apt-get installs.
fake sudo 'shift; [ "$*" = true ] || exec "$@"'
fake apt-get 'echo "$*" >&3'
deps 3>asked
cat asked
