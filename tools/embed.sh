#!/bin/sh
# Writes the given profiles as C: the bytes of each, and a table of them by
# name (the file's name without .json), which device/sim/profile.c reads.  The
# first is not in the table: it is what is measured where there is no GPU.
# Those of a folder `hosts` have a table of their own.
# Bytes and not string literals, as a C compiler need not take literals of
# more than 4095 characters.
set -eu

echo '/* Made by tools/embed.sh of the files in profiles/. */'
echo '#include "device/sim/profile/shipped.h"'
number=0
for file in "$@"; do
    echo "static const char text_$number[] = {"
    od -A n -v -t d1 "$file" | sed -e 's/[0-9][0-9]*/&,/g'
    echo '0};'
    number=$((number + 1))
done
echo 'const char *const quick_profile = text_0;'
echo 'const struct shipped_profile shipped_profiles[] = {'
number=1
shift
hosts=
for file in "$@"; do
    row="    {\"$(basename "$file" .json)\", text_$number},"
    case $file in
    */hosts/*) hosts="$hosts$row
" ;;
    *) echo "$row" ;;
    esac
    number=$((number + 1))
done
echo '    {0, 0},'
echo '};'
echo 'const struct shipped_profile shipped_hosts[] = {'
printf '%s' "$hosts"
echo '    {0, 0},'
echo '};'
