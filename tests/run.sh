#!/bin/sh
# Runs what `make check` built in the folder $1: the suites with the options
# $2, then the cases $3 of commands as a user types them (all; none: -).  Both
# end with a line "N passed, N failed, N skipped"; the last line here is their
# sum.
set -u
build=$1 options=${2:-} cases=${3:-}
log=$(mktemp)
trap 'rm -f "$log" "$log.cases"' EXIT

# Runs a command, shows its output, keeps its closing line; a command that
# ends in failure without having counted one counts as one failed.
counted() {
    { "$@"; echo "status $?"; } |
    awk -v log_file="$log" '
        /^status [0-9]+$/ { status = $2; next }
        { print; fflush() }
        /^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped$/ {
            passed = $1; failed = $3; skipped = $5
        }
        END {
            if (status != 0 && failed == 0) failed = 1
            print passed + 0, failed + 0, skipped + 0 >> log_file
        }'
}

# The cases one after the other, beside the suites; shown after them.
if [ "$cases" != - ]; then
    counted sh tests/cli/run.sh "$build/sonde" $cases >"$log.cases" 2>&1 &
fi
counted "$build/check" $options
wait
[ "$cases" = - ] || cat "$log.cases"
awk '{ passed += $1; failed += $2; skipped += $3 }
     END {
         printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
         exit failed > 0
     }' "$log"
