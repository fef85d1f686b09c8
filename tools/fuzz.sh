#!/bin/sh
# Readers under libFuzzer: fuzz.sh BINARY
#
# Each target of tests/fuzz/targets.def runs for SECONDS_EACH (600), one after
# the other or only those of TARGETS, from the inputs of tests/fuzz/corpus and
# what an earlier run left in the folder FUZZ_WORK (build/fuzz).  A line each:
# how many inputs, and what became of it.  An input of at most 64 KiB may take
# 256 MiB and two seconds, ten under the sanitizers.
set -u
binary=$1
work=${FUZZ_WORK:-build/fuzz}
seconds=${SECONDS_EACH:-600}
: "${TARGETS:=$(sed -n 's/^TARGET(\([a-z_]*\),.*/\1/p' tests/fuzz/targets.def)}"
status=0
for target in $TARGETS; do
    mkdir -p "$work/$target" "tests/fuzz/corpus/$target"
    FUZZ_TARGET=$target "$binary" -max_total_time="$seconds" -timeout=10 \
        -max_len=65536 -rss_limit_mb=1024 -print_final_stats=1 \
        -artifact_prefix="$work/$target-" "$work/$target" \
        "tests/fuzz/corpus/$target" >"$work/$target.log" 2>&1
    code=$?
    inputs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$work/$target.log")
    echo "$target: ${inputs:-0} inputs, $([ $code = 0 ] && echo none failed || echo "FAILED, $work/$target.log")"
    [ $code = 0 ] || status=1
done
exit $status
