#!/bin/sh
# The examples of a document: sh tools/examples.sh DOC.md prints it with what
# its commands print anew.  Between "```console" and "```" each line "$ COMMAND"
# is run, and all other lines are what these printed.  SONDE is the program.  A
# test compares; UPDATE=1 sh tests/cli/run.sh build/sonde examples writes.
set -eu
sonde() {
    "$SONDE" "$@"
}
inside=no
while IFS= read -r line; do
    case $inside$line in
    yes'$ '*)
        printf '%s\n' "$line"
        (eval "${line#\$ }") 2>&1 </dev/null | sed 's/[[:space:]]*$//'
        ;;
    yes'```')
        inside=no
        printf '%s\n' "$line"
        ;;
    yes*) ;;
    *)
        [ "$line" != '```console' ] || inside=yes
        printf '%s\n' "$line"
        ;;
    esac
done <"$1"
