#!/bin/sh
# Do tests notice?  mutate.sh, from the folder of the source (make mutate)
#
# Changes one place of the source at a time, in a copy: a comparison, a sign, a
# constant, an and for an or, a term that is dropped.  Each mutant is compiled,
# and the suites that belong to its file run until one fails.  Noticed is what
# fails, ends by a signal or takes longer than its time; what does not compile is
# none.  A line for each mutant that lives, then the sum.
#   N=60 SEED=1        how many, and which
#   FILES='src/model/cache.c ...'   of these files alone
#   SAN=address,undefined           under the sanitizers, as what is recorded in
#                       docs/trust.md should be: they alone notice what reads a
#                       place behind an end.  Suites take four times as long, each
#                       file's own ones still a second or two
#   TRUTH=1            of analysis and twin studies on whole GPUs, too, and all
#                       recordings; of studies the slow tests of their suites
#   LIMIT=5            seconds of a core for a test; 20 under the sanitizers; six
#                       times as many of a test on whole GPUs
#   SUITES='replay/h200'  these suites alone, or of `replay` that recording, or of
#                       `truth_small` those of that study
#   ONLY='FILE:LINE:COLUMN:OLD:NEW'  this one; several, each in a line of its own:
#                       those that lived without the sanitizers, under them
set -u
number=${N:-60} seed=${SEED:-1} limit=${LIMIT:-${SAN:+20}}
limit=${limit:-5}
files=${FILES:-$(find src/analysis src/model src/study src/twin -name '*.c' | sort)}
work=$(pwd)/${B:-build}/mutate
mkdir -p "$work"

# Each place as FILE:LINE:COLUMN:OLD:NEW, of code alone: no comments, strings,
# lines of the preprocessor, tables of text or declarations of constants' names.
places() {
    awk '
    FNR == 1 { comment = 0 }
    function put(at, old, new) { print FILENAME ":" FNR ":" at ":" old ":" new }
    function each(old, new,   at, from, rest) {
        from = 1
        while ((at = index(substr(code, from), old)) > 0) {
            put(from + at - 1, old, new)
            from += at + length(old) - 1
        }
    }
    {
        code = $0
        if (comment || code ~ /^ *\/\*/) {
            comment = code !~ /\*\//
            next
        }
        if (code ~ /^#/ || code ~ /^ *"/ || code ~ /assert/)
            next
        # What stands in quotes becomes blanks, so that columns stay.
        while (match(code, /"([^"\\]|\\.)*"/))
            code = substr(code, 1, RSTART - 1) sprintf("%" RLENGTH "s", "") \
                substr(code, RSTART + RLENGTH)
        sub(/\/\*.*/, "", code)
        each(" < ", " <= "); each(" <= ", " < "); each(" > ", " >= ")
        each(" >= ", " > "); each(" == ", " != "); each(" != ", " == ")
        each(" + ", " - "); each(" - ", " + "); each(" && ", " || ")
        each(" || ", " && "); each(" += ", " -= "); each(" / ", " * ")
        # A constant and one more.
        rest = code; from = 0
        while (match(rest, /[^A-Za-z0-9_.][0-9]+[^A-Za-z0-9_.]/)) {
            n = substr(rest, RSTART + 1, RLENGTH - 2)
            put(from + RSTART + 1, n, n + 1)
            from += RSTART + RLENGTH - 2
            rest = substr(code, from + 1)
        }
        # A term and nothing.
        rest = code; from = 0
        while (match(rest, / (\+|-|&&|\|\|) [A-Za-z_][A-Za-z0-9_]*[;),]/)) {
            put(from + RSTART, substr(rest, RSTART, RLENGTH - 1), "")
            from += RSTART + RLENGTH - 1
            rest = substr(code, from + 1)
        }
    }' $files
}

# Which `number` of them, by the seed; a generator of our own, since those of awks
# differ.
choose() {
    awk -v seed="$seed" -v number="$number" '
        { all[NR] = $0 }
        END {
            x = seed % 2147483646 + 1
            for (i = 1; i <= number && i <= NR; i++) {
                for (j = 0; j < 3; j++) x = x * 16807 % 2147483647
                at = i + x % (NR - i + 1)
                one = all[at]; all[at] = all[i]; all[i] = one
                print one
            }
        }'
}

# The suites that ask this file, the shortest first: replay/h200 runs what a real
# GPU answered through every study in two seconds of a core, and enters few of the
# paths that others take; so simulated ones follow that do, in ten to sixty, which
# a mutant alone costs that lives, or lives long.
suites_of() { # FILE
    random=${TRUTH:+truth_random/slow truth_more_random/slow}
    [ -n "${SUITES:-}" ] && echo "$SUITES" && return
    name=$(basename "$1" .c)
    "$check" -l | grep -x "$name" | tr '\n' ' '
    case $1 in
    src/model/cache.c) echo sim_caches sim truth_seeds ;;
    src/model/*) echo sim truth_banks ;;
    src/analysis/statistics/crowd.c) echo fleet ;;
    src/analysis/statistics/*) echo stats laps guard timer truth_seeds replay/h200 ${TRUTH:+replay truth_levels} ;;
    src/analysis/curve/*) echo change levels knee truth_seeds replay/h200 ${TRUTH:+replay truth_levels} ;;
    src/analysis/structure/*) echo trace_fit policy structure truth_seeds replay/h200-code replay/h200 ${TRUTH:+replay truth_icache truth_conflict truth_levels} ;;
    src/analysis/sass_proof.c) echo sass ;;
    src/analysis/*) echo hits search truth_seeds replay/h200 ${TRUTH:+replay truth_levels} ;;
    src/twin/validate/*) echo twin library ${TRUTH:+truth_validate} ;;
    src/twin/*) echo twin ${TRUTH:+truth_twin truth_validate} ;;
    src/study/cache/instances.c | src/study/cache/sharing.c)
        echo replay/h200 replay/h100-shared truth_small/copies truth_small/sharing truth_sharing ${TRUTH:+truth_sharing/slow} $random ;;
    src/study/cache/eviction.c | src/study/cache/geometry*.c | src/study/cache/pool.c | src/study/cache/structure.c | src/study/cache/l1_policy.c)
        echo structure truth_seeds replay/h200 replay/h100-shared truth_small/structure truth_small/verdict truth_conflict truth_unlike ${TRUTH:+truth_conflict/slow truth_levels} $random ;;
    src/study/cache/*) echo truth_seeds replay/h200 replay/h100-shared truth_small/verdict truth_small/latency truth_small/change truth_unlike truth_more_levels truth_conflict ${TRUTH:+truth_unlike/slow truth_more_levels/slow} $random ;;
    src/study/code/*) echo replay/h200-code truth_small/icache truth_small/icache_sharing truth_icache ${TRUTH:+truth_icache/slow} $random ;;
    src/study/l2/*) echo replay/h200 truth_small/partitions truth_small/slices truth_partitions ${TRUTH:+truth_partitions/slow} $random ;;
    src/study/translation/*) echo replay/h200 replay/h100 replay/h100-shared truth_small/tlb truth_small/patterns truth_tlb ${TRUTH:+truth_tlb/slow} $random ;;
    src/study/instruction/*) echo replay/h200-isa replay/h200-load truth_small/tensor truth_operators library truth_isa ;;
    src/study/load/l2_residency.c) echo truth_small/hints truth_hints replay/h200-load ;;
    src/study/load/contention.c) echo truth_small/contention truth_contention replay/h200 ;;
    src/study/load/bandwidth*) echo replay/h200 truth_small/bandwidth truth_bandwidth ;;
    src/study/load/loaded_latency.c) echo replay/h200 truth_small/loaded truth_loaded ;;
    src/study/load/scheduling.c) echo truth_small/scheduling replay/h200 truth_contention ;;
    src/study/load/sm_groups.c) echo truth_small/placement replay/h200 truth_placement ;;
    src/study/load/links*) echo truth_links ;;
    src/study/load/transpose.c | src/study/load/reads.c) echo truth_small/reads truth_small/operators replay/h200-load replay/h200 truth_operators ;;
    src/study/load/*) echo replay/h200 truth_load truth_placement ;;
    src/study/chip/shared_memory.c) echo truth_small/banks replay/h200 truth_banks ;;
    src/study/chip/*) echo replay/h200 library ;;
    *) echo plan script doubt costs replay/h200 library truth_noisy ;;
    esac
}

# The copy that mutants are made in; it is built once, then one file at a time.
tar cf - Makefile src include tests tools profiles packaging results docs examples .clang-format \
    2>/dev/null | (cd "$work" && tar xf -)
# What the run before left of its last mutant is older than what was built of it.
[ -f "$work/chosen" ] && cut -d: -f1 "$work/chosen" | sort -u | (cd "$work" && xargs touch -c)
out=${SAN:+/san}
check=$work/build$out/check
build() {
    # B by the environment: the Makefile adds /san to it.  What the make that
    # calls this was told of B is not for the copy.
    MAKEFLAGS='' B=build make -s -j "$(nproc)" -C "$work" ${SAN:+SAN=$SAN} "build$out/check" \
        "build$out/tests/fake/libcuda.so.1" >"$work/log" 2>&1
}
build || { tail -20 "$work/log"; exit 2; }

alive=0 noticed=0 none=0
passes() { # SUITE, SUITE/slow, replay/RECORDING or truth_small/STUDY
    # By a core's seconds: what else the host does is all the same.  A mutant that
    # takes too long does so in every test of a suite: that has an end, too.  Check
    # writes a line of each test when it ends: the first that failed is enough.
    recording= slow=
    case $1 in
    replay/*) recording=REPLAY=${1#*/} ;;
    truth_small/*) recording=SMALL=${1#*/} ;;
    */slow) slow=-s ;;
    esac
    # A test of truth measures with a whole study, or all of them.
    case $1 in
    truth_*) most=$((6 * limit)) ;;
    *) most=$limit ;;
    esac
    : >"$work/tap"
    (cd "$work" && ulimit -t "$most" &&
        exec env CK_TIMEOUT_MULTIPLIER=20 CK_TAP_LOG_FILE_NAME="$work/tap" $recording \
            timeout -k 1 $((20 * most)) "$check" -j 1 $slow "${1%/*}" >"$work/out" 2>&1) &
    one=$!
    while kill -0 $one 2>/dev/null; do
        grep -q '^not ok' "$work/tap" && kill $one
        sleep 0.2
    done
    wait $one
}
notice() { # the suites
    for suite in "$@"; do
        grep -qx "$suite" "$work/bad" && continue
        passes "$suite" || return 0
    done
    return 1
}
{ [ -n "${ONLY:-}" ] && printf '%s\n' "$ONLY" || places | choose; } >"$work/chosen"
# What fails, or takes too long, with no mutant tells nothing of one.
: >"$work/bad"
while IFS= read -r place; do
    suites_of "${place%%:*}" | tr ' ' '\n'
done <"$work/chosen" | grep . | sort -u >"$work/suites"
while IFS= read -r suite; do
    case $suite in
    replay/*) # of none that is not there nothing is told, and nothing fails
        [ -f "tests/replay/${suite#*/}.rec" ] || { echo "$suite: no such recording" && exit 2; } ;;
    esac
    passes "$suite" || { echo "$suite fails without a mutant" && echo "$suite" >>"$work/bad"; }
done <"$work/suites"
while IFS= read -r place; do
    file=${place%%:*} rest=${place#*:}
    line=${rest%%:*} rest=${rest#*:}
    column=${rest%%:*} rest=${rest#*:}
    old=${rest%%:*} new=${rest#*:}
    cp "$work/$file" "$work/original"
    awk -v line="$line" -v column="$column" -v old="$old" -v new="$new" '
        NR == line {
            $0 = substr($0, 1, column - 1) new substr($0, column + length(old))
        }
        { print }' "$work/original" >"$work/$file"
    if ! build; then
        none=$((none + 1))
    elif notice $(suites_of "$file"); then
        noticed=$((noticed + 1))
    else
        alive=$((alive + 1))
        echo "lives: $place"
        sed -n "${line}p" "$work/$file"
    fi
    cp "$work/original" "$work/$file"
done <"$work/chosen"
echo "seed $seed: $noticed noticed, $alive live, $none do not compile"
