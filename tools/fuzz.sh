#!/bin/sh
# Readers under libFuzzer: fuzz.sh BINARY
#
# Each target of tests/fuzz/targets.def runs for SECONDS_EACH (600), one after
# the other or only those of TARGETS, from its seeds, the inputs of
# tests/fuzz/corpus and what an earlier run left in the folder FUZZ_WORK
# (build/fuzz).  A line each: how many inputs, how much of the code they reach,
# and what became of it.  An input may be of 256 KiB, as a recording is in plain
# text; of 64 KiB it may take 256 MiB and two seconds, ten under the sanitizers, or
# TIMEOUT_S where the host does much else.
#
# CORPUS=1 chooses anew what tests/fuzz/corpus holds, which `make check` reads: of
# the inputs of at most 4 KiB those that together reach what all of them do, and
# of these CORPUS_MOST (32; a quarter where an input is measured or run), short
# and long ones.  FUZZ=0 does nothing else.
set -u
binary=$1
work=${FUZZ_WORK:-build/fuzz}
seconds=${SECONDS_EACH:-600}
most=${CORPUS_MOST:-32}
limit=${TIMEOUT_S:-10}
: "${TARGETS:=$(sed -n 's/^TARGET(\([a-z_]*\),.*/\1/p' tests/fuzz/targets.def)}"
mkdir -p "$work"
TMPDIR=$(realpath "$work")/tmp.$$
export TMPDIR
status=0

fuzz() { # TARGET: runs it
    FUZZ_TARGET=$1 FUZZ_SEEDS=$work/$1 "$binary" \
        -max_total_time="$seconds" -timeout="$limit" -max_len=262144 \
        -rss_limit_mb=1024 -print_final_stats=1 -artifact_prefix="$work/$1-" \
        "$work/$1" "tests/fuzz/corpus/$1" >"$work/$1.log" 2>&1
}

keep() { # TARGET: its corpus anew
    rm -rf "$work/$1.kept" "$work/$1.small"
    mkdir -p "$work/$1.kept" "$work/$1.small"
    find "$work/$1" "tests/fuzz/corpus/$1" -type f ! -name 'seed-*' -size -9 \
        -exec cp -t "$work/$1.small" {} +
    FUZZ_TARGET=$1 "$binary" -set_cover_merge=1 "$work/$1.kept" \
        "$work/$1.small" >"$work/$1.merge" 2>&1 || return
    cost=$(sed -n "s/^TARGET($1, .*, \([0-9]*\))/\1/p" tests/fuzz/targets.def)
    find "tests/fuzz/corpus/$1" -type f ! -name 'crash-*' -delete
    ls -S "$work/$1.kept" | awk -v most="$((cost < 20 ? most : most / 4))" '
        { name[NR] = $0 }
        END {
            step = NR > most ? NR / most : 1
            for (i = 1; int(i) <= NR; i += step) print name[int(i)]
        }' | while IFS= read -r name; do
        cp "$work/$1.kept/$name" "tests/fuzz/corpus/$1/$name"
    done
}

for target in $TARGETS; do
    mkdir -p "$work/$target" "tests/fuzz/corpus/$target" "$TMPDIR"
    if [ "${FUZZ:-1}" = 0 ]; then
        keep "$target"
        rm -rf "$TMPDIR"
        continue
    fi
    fuzz "$target"
    code=$?
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    reached=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$work/$target.log" | tail -1)
    echo "$target: ${inputs:-0} inputs, ${reached:-0} edges, $([ $code = 0 ] && echo none failed || echo "FAILED, $work/$target.log")"
    [ $code = 0 ] || status=1
    [ -z "${CORPUS:-}" ] || keep "$target"
    rm -rf "$TMPDIR"
done
exit $status
