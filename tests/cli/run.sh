#!/bin/sh
# Commands as a user types them: run.sh SONDE [CASE...]
#
# A case is cases/NAME.sh.  It runs in an empty folder, and what it prints must
# be NAME.stdout.exact and NAME.stderr.exact; where there is no such file,
# nothing.  It must end with status 0; with 77 it says that it cannot run here,
# and why.  UPDATE=1 rewrites the exact files instead: read the difference
# before you commit it.
set -u
[ $# -ge 1 ] || { echo "usage: run.sh SONDE [CASE...]" >&2; exit 2; }
SONDE=$(realpath "$1")
shift
CLI=$(realpath "$(dirname "$0")")
TOP=$(realpath "$CLI/../..")
export SONDE CLI TOP

# The same on every machine: no GPU, no colours, no cache of the user's.
unset NO_COLOR SONDE_PROFILES SONDE_DEVICE SONDE_LIBCUDA
unset SLURM_JOB_ID PBS_JOBID LSB_JOBID
export LC_ALL=C.UTF-8 CUDA_VISIBLE_DEVICES=
# A make that a case calls is nobody's child: no jobserver to warn of.
unset MAKEFLAGS MFLAGS MAKELEVEL

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export XDG_CACHE_HOME="$work/cache"
passed=0 failed=0 skipped=0

# Compares what was printed with the exact file, or makes it that.
compare() { # printed exact
    if [ "${UPDATE:-}" = 1 ]; then
        rm -f "$2"
        [ ! -s "$1" ] || cp "$1" "$2"
    elif [ -e "$2" ]; then
        diff -u "$2" "$1"
    else
        diff -u /dev/null "$1"
    fi
}

run_case() { # name
    rm -rf "$work/here"
    mkdir "$work/here"
    (cd "$work/here" && sh -u "$CLI/cases/$1.sh") \
        >"$work/stdout" 2>"$work/stderr" </dev/null
    status=$?
    if [ $status = 77 ]; then
        echo "skipped $1: $(cat "$work/stdout")"
        return 77
    fi
    same=0
    compare "$work/stdout" "$CLI/cases/$1.stdout.exact" || same=1
    compare "$work/stderr" "$CLI/cases/$1.stderr.exact" || same=1
    [ $status = 0 ] || echo "status $status"
    [ $status = 0 ] && [ $same = 0 ]
}

[ $# -gt 0 ] || set -- $(cd "$CLI/cases" && ls *.sh | sed 's/\.sh$//')
for name; do
    run_case "$name"
    case $? in
    0) passed=$((passed + 1)) ;;
    77) skipped=$((skipped + 1)) ;;
    *)
        failed=$((failed + 1))
        echo "FAILED $name (sh tests/cli/run.sh $SONDE $name)"
        ;;
    esac
done
echo "$passed passed, $failed failed, $skipped skipped"
[ $failed = 0 ]
