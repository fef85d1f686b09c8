#!/bin/sh
# The report at the top of README.md: sh tools/readme.sh REPORT.txt README.md
# prints README.md with it anew, taken from the report of a real GPU
# (results/h200.txt): some lines of some components, "…" where lines are left
# out.  A test compares; UPDATE=1 sh tests/cli/run.sh build/sonde readme writes.
set -eu

excerpt() { # report
    awk '
    BEGIN {
        keys["shared memory"] = "latency,banks"
        keys["L1 cache"] = "size,line,sector,latency,miss penalty," \
                           "shares with,not measured"
        keys["L2 cache"] = "size,sector,near size,near latency,far latency"
        keys["memory"] = "size,latency,miss penalty"
        branch = "├─ |└─ "
    }
    NR <= 4 || $0 == "SM" { print; next }
    {
        text = $0
        gsub(/│|├─|└─/, " ", text)
        match(text, /^ */)
        indent = RLENGTH
        key = substr(text, indent + 1)
        sub(/  .*/, "", key)
    }
    $0 ~ branch {
        component = key
        kept = key in keys
    }
    $0 !~ branch && indent < 20 {
        kept = key != "" && index("," keys[component] ",", "," key ",") > 0
    }
    kept && left { print "…" }
    kept { print }
    { left = !kept && ($0 ~ branch || left) }
    END { print "…" }' "$1"
}

sed '/^<!-- REPORT-BEGIN/q' "$2"
printf '\n```\n$ sonde\n'
excerpt "$1"
printf '```\n\n'
sed -n '/^<!-- REPORT-END/,$p' "$2"
