#!/bin/sh
# The host out of memory: faults_memory.sh SONDE FAIL.so
#
# Commands whose nth call of malloc, calloc or realloc fails (ours, jansson's, the
# C library's), that one alone or all from there on.  Each must end with status
# 0 to 4; say a sentence, or a report that gives it, where it is not 0; where it
# is 0 have said and written what it does with memory, all of it; and what lies
# at the path of a report is a whole one or nothing.  A line for each command and
# kind: how many were tried, how many failed.
#   EVERY=40  each 40th call alone (default: 1)
#   COMMANDS='1 4'  these alone
set -u
sonde=$(realpath "$1")
library=$(realpath "$2")
every=${EVERY:-1}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
bad=0
export XDG_CACHE_HOME="$work"

command_of() { # NUMBER
    case $1 in
    1) echo run clock -d sim:quick --json r.json --record r.rec ;;
    2) echo run cached banks -d sim:quick --csv r.csv ;;
    3) echo run clock -d replay:whole.rec --html r.html ;;
    4) echo report whole.json ;;
    5) echo report whole.json --json r.json ;;
    6) echo report whole.json --as html ;;
    7) echo explain sim:k20c ;;
    8) echo compare whole.json whole.json ;;
    9) echo probe chase bytes=4K stride=128 -d sim:quick ;;
    10) echo ptx chase bytes=4K stride=128 -d sim:quick ;;
    11) echo list studies ;;
    12) echo explain latency ;;
    13) echo bench --file snippet -d sim:quick ;;
    15) echo report whole.json whole.json again.json --as json ;;
    14) echo run clock --require nothing.*,clock.* -d sim:quick ;;
    esac
}

# Of a run itself nothing is compared, only of what it found.
plain() { # FILE
    grep -vE '"(start|seconds|host|system)"' "$1"
}

run() { # NUMBER AT [all]
    rm -f r.*
    eval "set -- $2 '${3:-}' $(command_of "$1")"
    at=$1 all=$2
    shift 2
    timeout 60 env FAIL=malloc FAIL_AT="$at" ${all:+FAIL_ON=1} FAIL_ERRNO=12 \
        FAIL_COUNT="$work/count" LD_PRELOAD="$library" "$sonde" "$@" >out 2>err
    status=$?
}

same() { # FILE
    [ ! -e "clean.$1" ] || plain "$1" | cmp -s - "clean.$1"
}

judge() { # NAME
    why=
    [ $status -le 4 ] || why="status $status"
    if [ $status = 0 ]; then
        for file in out r.json r.csv r.html; do
            same $file || why="status 0, and not all in $file"
        done
    elif ! grep -q '[a-z]' err && ! grep -q 'out of memory' out; then
        why="status $status and no sentence"
    fi
    [ ! -e r.json ] || [ $status = 0 ] || "$sonde" report r.json >/dev/null 2>&1 || why="half a report"
    [ ! -e r.rec ] || "$sonde" run clock -q -d replay:r.rec >/dev/null 2>replay ||
        [ $? -le 2 ] || why="the recording cannot be replayed"
    [ -z "$why" ] || { bad=$((bad + 1)) failed=$((failed + 1)) && echo "  $1: $why"; }
}

sweep() { # NUMBER [all]
    tried=0 failed=0 n=1
    while [ "$n" -le "$calls" ]; do
        run "$1" "$n" "${2:-}"
        judge "command $1, call $n ${2:+and all that follow}"
        tried=$((tried + 1)) n=$((n + every))
    done
    echo "$(command_of "$1"): $calls calls, $tried ${2:+with all that follow }tried, $failed wrong"
}

"$sonde" run banks -q -d sim:quick --json again.json >/dev/null 2>&1
echo 'add.u32 %r0, %r0, %r1;' >snippet
"$sonde" run clock cached -q -d sim:quick --json whole.json --record whole.rec >/dev/null 2>&1
for number in ${COMMANDS:-1 2 3 4 5 6 7 8 9 10 11 12 13 14 15}; do
    rm -f clean.*
    run "$number" 0
    calls=$(cat count)
    for file in out r.json r.csv r.html; do
        [ ! -e $file ] || plain $file >clean.$file
    done
    expected=$status
    [ "$expected" -le 1 ] || echo "command $number: status $expected"
    sweep "$number"
    sweep "$number" all
done
exit $((bad > 0))
