#!/bin/sh
# Shows that a change of the code changed no answer: runs two builds of sonde
# on all simulated GPUs and on all recordings, and compares what they found.
#
#     make same                               this tree with an earlier commit
#     sh tools/same.sh write BINARY FOLDER    what a build finds, to a folder
#     sh tools/same.sh compare OLD NEW        two such folders
#
# `make same` builds the commit BASE (without it: where this branch left main;
# on main itself HEAD if the tree has changes, else the commit before).  What
# it finds is kept in build/same/COMMIT and not asked again.  Exit status 1: something
# differs; each difference is a line that names run, finding, old and new.
#
# The environment restricts it; lists are separated by blanks:
#     PROFILES    simulated GPUs (default: all that are shipped)
#     SEEDS       of the simulated noise (1 2 3)
#     STUDIES     names of studies, to run these and what they need, in place
#                 of the sets topology, load and replay (all three)
#     ALONE=1     each of the named studies in a run of its own
#     PTX=1       the PTX of each experiment, too (doubles the time)
#     JOBS        runs at a time (one a core)
#     LIMIT       seconds that a run may take (600); a run that took longer is
#                 not compared, and said to be not
#     IGNORE      kinds of differences to count and not show (tools/same.c)
#     MOST        differences of a kind that are shown of each run (20)
#
# The set load is not all studies that load a GPU on all profiles: to simulate
# thousands of busy warps takes minutes a study and profile.  Those that end in
# seconds (20 on the largest) run on all profiles, others on two small
# ones; with the first seed, since their noise is that of the simulator that
# topology draws from.  bandwidth and operators take more than five minutes on
# the smallest: name them in STUDIES if they are what changes (operators is in
# a recording, too).
LIGHT='contention scheduling'
HEAVY='arithmetic loaded hints placement tensor'
HEAVY_PROFILES='gtx560ti k20c'
set -euf

top=$(cd "$(dirname "$0")/.." && pwd)
B=${B:-build}
SAME=${SAME:-$B/tools/same}
LIMIT=${LIMIT:-600}
JOBS=${JOBS:-$(nproc)}
SEEDS=${SEEDS:-1 2 3}
STUDIES=${STUDIES:-topology load replay}

# Where it was not built yet, as `make same` does.
[ -x "$SAME" ] || make -s -C "$top" "$SAME" >&2

profiles() {
    if [ -n "${PROFILES:-}" ]; then
        echo "$PROFILES"
    else
        (cd "$top/profiles" && ls) | sed -n 's/\.json$//p' | tr '\n' ' '
    fi
}

has() { # WORD LIST
    case " $2 " in *" $1 "*) ;; *) return 1 ;; esac
}

# ---- which runs ------------------------------------------------------------
# Each is a line: NAME WORDS of the command line.

on_profiles() { # NAME COMMAND...
    name=$1
    shift
    for profile in $(profiles); do
        for seed in $SEEDS; do
            echo "$profile-$seed-$name $* --seed $seed -d sim:$profile"
        done
    done
}

load_runs() {
    seed=${SEEDS%% *}
    for profile in $(profiles); do
        heavy=
        has "$profile" "$HEAVY_PROFILES" && heavy=$HEAVY
        for study in $heavy $LIGHT; do
            echo "$profile-$seed-$study run $study --seed $seed -d sim:$profile"
        done
    done
}

# tests/replay/NAME.test: RECORDING GOLDEN [PATTERN... | run STUDY...]
replay_runs() {
    for test in $(cd "$top/tests/replay" && set +f && echo *.test); do
        read -r recording golden words <"$top/tests/replay/$test"
        case $words in
        '') words=topology ;;
        'run '*) ;;
        *) words="isa $words" ;;
        esac
        echo "replay-${test%.test} $words -d replay:tests/replay/$recording"
    done
}

runs() {
    named=
    for study in $STUDIES; do
        case $study in
        topology) on_profiles topology topology ;;
        load) load_runs ;;
        replay) replay_runs ;;
        *) named="$named $study" ;;
        esac
    done
    if [ -n "$named" ] && [ -n "${ALONE:-}" ]; then
        for study in $named; do
            on_profiles "$study" run "$study"
        done
    elif [ -n "$named" ]; then
        on_profiles "$(echo $named | tr ' ' +)" run $named
    fi
}

# ---- one run ---------------------------------------------------------------

# The hash of the PTX of each experiment, each once, before its text.
hash_ptx() { # BINARY EXPERIMENTS DEVICE
    sort -u "$2" | while read -r text; do
        echo "$("$1" ptx "$text" -d "$3" 2>&1 | cksum) $text"
    done
}

one() { # BINARY FOLDER NAME WORDS...
    binary=$1 at=$2/$3
    shift 3
    for device in "$@"; do :; done # the last word
    if [ "$(cat "$at.end" 2>/dev/null || echo limit)" = limit ]; then
        record=
        case " $* " in *' -d sim:'*) record="--record $at.rec" ;; esac
        status=0
        timeout "$LIMIT" "$binary" "$@" -q --no-cache --json "$at.json" \
            $record >/dev/null 2>"$at.said" || status=$?
        [ -z "$record" ] || [ ! -e "$at.rec" ] ||
            "$SAME" texts "$at.rec" >"$at.experiments"
        rm -f "$at.rec"
        [ $status != 124 ] || status=limit
        echo $status >"$at.end"
    fi
    if [ -n "${PTX:-}" ] && [ -e "$at.experiments" ] && [ ! -e "$at.ptx" ]; then
        hash_ptx "$binary" "$at.experiments" "$device" >"$at.ptx.part"
        mv "$at.ptx.part" "$at.ptx"
    fi
}

# Runs that the folder holds already are not run again.
write() { # BINARY FOLDER
    mkdir -p "$2"
    binary=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
    folder=$(cd "$2" && pwd)
    SAME=$(cd "$(dirname "$SAME")" && pwd)/$(basename "$SAME")
    export SAME LIMIT PTX=${PTX:-}
    cd "$top"
    runs | xargs -P "$JOBS" -L 1 sh tools/same.sh one "$binary" "$folder"
    for end in $(cd "$folder" && set +f && echo *.end); do
        [ "$(cat "$folder/$end")" != limit ] ||
            echo "same: ${end%.end} took longer than $LIMIT s" >&2
    done
}

# ---- this tree and an earlier commit ---------------------------------------

base_commit() {
    head=$(git rev-parse HEAD)
    base=$(git merge-base HEAD "${BASE:-main}" 2>/dev/null || echo "$head")
    [ -z "${BASE:-}" ] || base=$(git rev-parse --verify "$BASE^{commit}")
    if [ "$base" = "$head" ] && [ -z "${BASE:-}" ] && git diff --quiet HEAD; then
        base=$(git rev-parse HEAD~1)
    fi
    echo "$base"
}

# Builds a commit in a tree of its own, of which the program alone is kept.
build() { # COMMIT FOLDER
    tree=$2/tree
    rm -rf "$tree"
    mkdir -p "$tree"
    git archive "$1" | tar -x -C "$tree"
    (unset B MAKEFLAGS MFLAGS && make -C "$tree" B=build build/sonde >/dev/null)
    mv "$tree/build/sonde" "$2/sonde"
    rm -rf "$tree"
}

with_base() {
    cd "$top"
    base=$(base_commit)
    old=$B/same/$base new=$B/same/new
    echo "same: comparing with $(git log -1 --format='%h %s' "$base")" >&2
    [ -x "$old/sonde" ] || build "$base" "$old"
    write "$old/sonde" "$old/found"
    rm -rf "$new"
    write "$B/sonde" "$new"
    exec "$SAME" compare "$old/found" "$new"
}

case ${1:-} in
write) [ $# = 3 ] && write "$2" "$3" ;;
compare) [ $# = 3 ] && exec "$SAME" compare "$2" "$3" ;;
with-base) with_base ;;
one) shift && one "$@" ;;
*)
    sed -n '5,8s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
