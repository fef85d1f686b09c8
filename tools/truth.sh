#!/bin/sh
# Is what sonde finds right on GPUs that nobody built?  Runs it on random
# simulated GPUs and holds each finding against the profile.
#
#     make truth N=20 SEED=7000     (sh tools/truth.sh run)
#     make truth TABLE=1            the table of docs/truth.md, too
#
# Prints the seeds; what was wrong, under the command that shows it again; then
# by finding on how many GPUs it was right, bounded, in doubt, not measured and
# wrong.  Exit status 1: something was wrong.  The environment says what runs:
#     N           GPUs (20)
#     SEED        of the first; the others follow (by the clock, so that each
#                 run meets new GPUs)
#     JOBS        runs at a time (one a core)
#     LIMIT       seconds that a run may take (300)
#     OUT         folder of profiles and reports (build/truth); what is there of
#                 a seed is not measured again if KEEP=1
#     TABLE       1: write the table into docs/truth.md
#     SONDE, TRUTH    programs (build/sonde, build/tools/truth); with both the
#                 script needs nothing else of the tree
set -euf

B=${B:-build}
SONDE=${SONDE:-$B/sonde}
TRUTH=${TRUTH:-$B/tools/truth}
JOBS=${JOBS:-$(nproc)}
LIMIT=${LIMIT:-300}
OUT=${OUT:-$B/truth}
N=${N:-20}
SEED=${SEED:-$(date +%s)}

one() { # SEED
    at=$OUT/$1
    [ ! -e "$at.judged" ] || return 0
    status=0
    "$TRUTH" profile "$1" >"$at.json"
    timeout "$LIMIT" "$SONDE" topology -q --no-cache --seed "$1" \
        -d "sim:$at.json" --json "$at.report" >/dev/null 2>"$at.said" || status=$?
    if [ ! -s "$at.report" ]; then
        echo "wrong no_report" >"$at.judged"
        echo "    there is no report: status $status" >"$at.wrong"
        return 0
    fi
    "$TRUTH" judge "$at.json" "$1" "$at.report" >"$at.judged" 2>"$at.wrong"
    if [ "$status" -ne 0 ]; then
        echo "wrong exit_status" >>"$at.judged"
        echo "    status $status: $(tail -n 1 "$at.said")" >>"$at.wrong"
    fi
}

seeds() {
    seq "$SEED" $((SEED + N - 1))
}

wrong() {
    for seed in $(seeds); do
        [ -s "$OUT/$seed.wrong" ] || continue
        echo "$SONDE topology --seed $seed -d sim:$OUT/$seed.json"
        cat "$OUT/$seed.wrong"
    done
}

table() {
    seeds | sed "s|.*|$OUT/&.judged|" | xargs cat | "$TRUTH" table
}

# Between the marks of the document.
keep() {
    doc=docs/truth.md
    {
        sed '/<!-- table -->/q' $doc
        echo "Random GPUs $SEED to $((SEED + N - 1)), of the state of" \
            "$(git log -1 --format=%cs)."
        echo
        table || true
        sed -n '/<!-- end -->/,$p' $doc
    } >"$OUT/table"
    cat "$OUT/table" >$doc
}

case ${1:-} in
run)
    mkdir -p "$OUT"
    [ -n "${KEEP:-}" ] || seeds | sed "s|.*|$OUT/&.judged|" | xargs rm -f
    export SONDE TRUTH LIMIT OUT
    echo "random GPUs $SEED to $((SEED + N - 1))"
    seeds | xargs -P "$JOBS" -n 1 sh "$0" one
    wrong
    [ -z "${TABLE:-}" ] || keep
    table
    ;;
one) one "$2" ;;
*)
    sed -n '5,6s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
