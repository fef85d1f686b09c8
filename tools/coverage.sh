#!/bin/sh
# Which share of src/ the tests run: coverage.sh FOLDER (make coverage)
#
# What gcc's --coverage counted in FOLDER while tests ran there: lines that ran,
# and branches that were taken, each way, by room.  Status 1 where that is less
# than 90 % of the lines or 80 % of the branches.  FILES=1: by file.
set -u
folder=$1
find "$folder/src" -name '*.gcda' | sort | while IFS= read -r counts; do
    gcov -b -n -o "$counts" "$counts" 2>/dev/null
done | awk -v by_file="${FILES:-0}" '
    # Of headers each includer tells its own part; they are left out.  A last
    # line, after all files, is their sum.
    /^File / { file = $2; gsub("\047", "", file); counts = file ~ /^src\/.*\.c$/; first = 1 }
    !counts { next }
    /^Lines executed:/ && first { add(line, line_ran, $0); first = 0 }
    /^Taken at least once:/ { add(branch, branch_ran, $0) }
    function add(all, ran, text,   part, n, where) {
        part = text; sub(/.*:/, "", part); sub(/%.*/, "", part)
        n = text; sub(/.* of /, "", n)
        where = file
        if (!by_file) { sub(/^src\//, "", where); sub(/\/.*/, "", where) }
        all[where] += n; ran[where] += n * part / 100
        all["all"] += n; ran["all"] += n * part / 100
        if (where != "all") rooms[where]
    }
    function row(where) {
        return sprintf("%-44s %7d lines %5.1f %%  %7d branches %5.1f %%", where,
            line[where], share(line_ran[where], line[where]), branch[where],
            share(branch_ran[where], branch[where]))
    }
    function share(part, all) { return all > 0 ? 100 * part / all : 100 }
    END {
        for (room in rooms)
            print row(room) | "sort"
        close("sort")
        print row("all")
        exit share(line_ran["all"], line["all"]) < 90 || share(branch_ran["all"], branch["all"]) < 80
    }'
