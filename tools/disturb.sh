#!/bin/sh
# Is what sonde finds right where the GPU is noisy, shared, slowed down?  Runs
# it on disturbed simulated GPUs and holds each finding against what it finds
# on the same GPU undisturbed, and that against the profile.
#
#     make disturb                  (sh tools/disturb.sh disturb)
#     make calibrate                (sh tools/disturb.sh calibrate)
#
# `disturb` lists what was wrong, under the command that shows it again, then
# for each finding the worst of each kind and strength of disturbance, then how
# many findings were right, bounded, in doubt, not measured, wrong, and not asked
# since the run's time was over; then which share keeps its status at the shipped
# noise, at three times that and beside an intruder, and what others lost it by.
# All counts go to OUT/table.tsv.  What is in doubt is wrong, too, unless its value
# or its interval holds the truth; and so is a run that ends without a report.
# Exit status 1: something was wrong.
#
# `calibrate` prints how often intervals hold the truth, of latencies,
# penalties, sizes, bandwidths and throughputs, beside the confidence that they
# claim, for small GPUs that are quiet (noise 1, as shipped), noisy (noise 2) and
# disturbed (neighbour 2); and in how many runs something was found that is not
# there, which small_bare is for: it has an L2 and nothing else.  RUNS=350 are some
# 1000 runs for each kind of finding, 9 minutes of 16 cores; STUDIES=bandwidth alone
# four.
#
# The environment says what runs; lists are separated by blanks:
#     PROFILES    simulated GPUs, shipped ones, small ones, or files
#                 (disturb: all that are shipped; calibrate: small and small_bare
#                 for topology, small_rates, which has bandwidths, for the others)
#     KINDS       of disturbances (all: `disturb kinds` lists them), with a
#                 strength after a colon or in all of STRENGTHS
#     STRENGTHS   1 2 3 4 5
#     SEEDS       of the noise (1 2 3); calibrate: RUNS seeds, from 1 (3)
#     STUDIES     topology and names of studies, each in a run of its own
#                 (topology; calibrate: bandwidth and arithmetic, too)
#     JOBS        runs at a time (one a core)
#     LIMIT       seconds that a run may take (600); what it has not measured
#                 after two thirds of them it leaves, and says so
#     OUT         folder of what is found (build/disturb, build/calibrate),
#                 emptied before; KEEP=1 keeps the runs that it has
#     SONDE, DISTURB    programs (build/sonde, build/tools/disturb); with both
#                 the script needs nothing else of the tree
set -euf

B=${B:-build}
SONDE=${SONDE:-$B/sonde}
DISTURB=${DISTURB:-$B/tools/disturb}
STRENGTHS=${STRENGTHS:-1 2 3 4 5}
SEEDS=${SEEDS:-1 2 3}
JOBS=${JOBS:-$(nproc)}
LIMIT=${LIMIT:-600}

# The rows of `sonde list` under "Simulated GPUs", without hosts of several.
shipped() {
    "$SONDE" list | sed -n '/^Simulated/,/^$/{/(a host:/d;s/^  \([^ ]*\) .*/\1/p;}' |
        tr '\n' ' '
}

kinds() {
    "$DISTURB" kinds | sed '1d; s/ .*//'
}

# ---- runs --------------------------------------------------------------------

base_of() { # shipped name or file
    basename "$1" .json
}

# Writes the profile of a run, and names the run: NAME PROFILE-FILE STUDY SEED.
plan_one() { # PROFILE KIND STRENGTH SEEDS...
    profile=$1
    gpu=$(base_of "$1")-$2-$3
    file=$OUT/gpus/$gpu.json
    "$DISTURB" write "$1" "$2" "$3" >"$file"
    shift 3
    for study in $STUDIES; do
        case ${ONLY:-}$study-$(base_of "$profile") in
        1topology-small_rates) continue ;;
        1topology-* | 1*-small_rates) ;;
        1*) continue ;;
        esac
        for seed in "$@"; do
            echo "$gpu-$study-$seed $file $study $seed"
        done
    done
}

plan() {
    for profile in $PROFILES; do
        plan_one "$profile" none 0 1
        for kind in $KINDS; do
            case $kind in
            *:*) plan_one "$profile" "${kind%:*}" "${kind#*:}" $SEEDS ;;
            *)
                for strength in $STRENGTHS; do
                    plan_one "$profile" "$kind" "$strength" $SEEDS
                done
                ;;
            esac
        done
    done
}

one() { # NAME PROFILE-FILE STUDY SEED
    at=$OUT/$1
    [ ! -e "$at.end" ] || return 0
    words=$3
    [ "$3" = topology ] || words="run $3"
    status=0
    budget="--budget $((LIMIT * 2 / 3))"
    case $1 in *-none-0-*) budget= ;; esac
    timeout "$LIMIT" "$SONDE" $words $budget -q --no-cache --seed "$4" -d "sim:$2" \
        --json "$at.json" >/dev/null 2>"$at.said" || status=$?
    [ $status != 124 ] || status="limit of $LIMIT s"
    echo "$status" >"$at.end"
}

run_all() {
    [ -n "${KEEP:-}" ] || rm -rf "$OUT"
    mkdir -p "$OUT/gpus"
    export SONDE LIMIT OUT
    plan >"$OUT/plan"
    echo "$(wc -l <"$OUT/plan") runs" >&2
    xargs -P "$JOBS" -L 1 sh "$0" one <"$OUT/plan"
}

case ${1:-} in
disturb)
    OUT=${OUT:-$B/disturb}
    PROFILES=${PROFILES:-$(shipped)}
    KINDS=${KINDS:-$(kinds)}
    STUDIES=${STUDIES:-topology}
    run_all
    exec "$DISTURB" table "$OUT"
    ;;
calibrate)
    OUT=${OUT:-$B/calibrate}
    [ -n "${PROFILES:-}" ] || ONLY=1
    PROFILES=${PROFILES:-small small_bare small_rates}
    KINDS=${KINDS:-noise:1 noise:2 neighbour:2}
    STUDIES=${STUDIES:-topology bandwidth arithmetic}
    SEEDS=$(seq "${RUNS:-3}")
    run_all
    exec "$DISTURB" coverage "$OUT"
    ;;
table | coverage)
    exec "$DISTURB" "$1" "$2"
    ;;
one) shift && one "$@" ;;
*)
    sed -n '6,7s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
