#!/bin/sh
# The report at the top of README.md: sh tools/readme.sh REPORT.txt README.md
# prints README.md with that report in it.  A test compares; UPDATE=1 sh
# tests/cli/run.sh build/sonde readme writes.
set -eu
sed '/^<!-- REPORT-BEGIN/q' "$2"
printf '\n```\n$ sonde report results/h200.json\n'
cat "$1"
printf '```\n\n'
sed -n '/^<!-- REPORT-END/,$p' "$2"
