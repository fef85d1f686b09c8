#!/bin/sh
# The C library failing at the nth call: faults_files.sh SONDE FAIL.so
#
# A run on sim:quick with a report and a recording; each call of write, fsync,
# rename and mmap fails once, write and fsync with ENOSPC, EIO and EROFS.  The run
# must end with status 0 to 4, say a sentence where it is not 0, and what is at
# the report's path must be a whole report or nothing.  A line for each kind: how
# many were tried, how many failed.  Of malloc it is faults_memory.sh.
set -u
sonde=$(realpath "$1")
library=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
bad=0

run() { # FAIL AT ERRNO
    rm -f r.json r.rec
    timeout 60 env FAIL="$1" FAIL_AT="$2" FAIL_ERRNO="$3" \
        FAIL_COUNT="$work/count" LD_PRELOAD="$library" "$sonde" run clock cached banks -q -d sim:quick \
        --json r.json --record r.rec >out 2>err
    status=$?
}

judge() { # NAME
    why=
    [ $status -le 4 ] || why="status $status"
    [ $status = 0 ] || [ -s err ] || [ $status = 1 ] || why="no sentence"
    [ ! -e r.json ] || "$sonde" report r.json >/dev/null 2>&1 || why="half a report"
    [ ! -e r.rec ] || "$sonde" run clock -q -d replay:r.rec >/dev/null 2>replay ||
        [ $? -le 2 ] || why="the recording cannot be replayed"
    [ $status != 0 ] || [ -e r.json ] || why="status 0 without a report"
    [ -z "$why" ] || { bad=$((bad + 1)) failed=$((failed + 1)) && echo "  $1: $why"; }
}

sweep() { # FAIL ERRNO STEP
    run "$1" 0 0
    calls=$(cat count) tried=0 failed=0 n=1
    while [ $n -le "$calls" ]; do
        run "$1" $n "$2"
        judge "$1 $n errno $2"
        tried=$((tried + 1)) n=$((n + $3))
    done
    echo "$1, errno $2: $calls calls, $tried failed one by one, $failed wrong"
}

for errno in 28 5 30; do
    sweep write $errno "${WRITES:-1}"
    sweep fsync $errno 1
    sweep rename $errno 1
done
sweep mmap 12 1
exit $((bad > 0))
