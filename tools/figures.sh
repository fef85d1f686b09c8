#!/bin/sh
# Prints figures of the code in src/: where it is large, long or tangled.
#
#     make figures                   of this tree, with the circles of calls
#     sh tools/figures.sh [TREE]     of any checkout (with B=FOLDER: its build)
#
# A room is a folder of src/ (or of a room: study/cache) with source files in
# it; its files are those that end in .c, .h and .def.  Functions are found by
# universal-ctags (Debian's package universal-ctags), and not told without it;
# the length of one is from the line of its name to its closing brace.  The use
# of a macro, which ctags takes for a function, is none.
#
# Constants without a derivation are a heuristic: lines of src/study and
# src/analysis that compare (< > <= >= == !=) and hold a literal with a point,
# 0.0 excepted, where neither the statement nor the line above it has a
# comment.  The first statement of a function is also excused by a comment
# above the function.  Of all other literals with a point (initialisers, rows,
# arguments) a comment above the function or the definitions stands for all
# that follows up to its end, or an empty line; whole numbers, halves and
# quartiles need none.  #define and enum are not looked at: read their comments.
set -euf

cd "${1:-$(dirname "$0")/..}"
B=${B:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find src -type f | grep -E '\.(c|h|def)$' | LC_ALL=C sort >"$work/files"
xargs wc -l <"$work/files" | grep -v ' total$' >"$work/lines"

# ---- rooms -----------------------------------------------------------------

# Of nested rooms the outer one counts what lies in it alone.
rooms() {
    awk '{
        n = split($2, part, "/")
        room = n > 2 ? part[2] : "src"
        for (i = 3; i < n; i++)
            room = room "/" part[i]
        lines[room] += $1
        files[room]++
        sources[room] += $2 ~ /\.c$/
        all += $1
    }
    END {
        for (room in lines) {
            mark = files[room] > 20 ? "   more than 20 files" : ""
            printf "%-24s %6d lines %3d files %3d .c%s\n", room, lines[room],
                   files[room], sources[room], mark | "sort"
        }
        close("sort")
        printf "%-24s %6d lines %3d files\n", "all", all, NR
    }' "$work/lines"
    echo
    awk '{ split($2, part, "/"); if (part[3] != "") lines[part[2]] += $1 }
    END { for (room in lines)
              printf "%-24s %6d lines with its rooms\n", room, lines[room] }' \
        "$work/lines" | sort
}

# ---- functions -------------------------------------------------------------

# FILE LINE LENGTH PARAMETERS NAME COMMENTED of each function; COMMENTED is 1
# if a comment ends right above it.
functions() {
    ctags -x --c-kinds=f --_xformat='%F %n %{end} %N %S' -L "$work/files" |
        awk '$4 !~ /^[A-Z0-9_]+$/ { # the use of a macro is no function
            list = $0
            sub(/^[^(]*\(/, "", list)
            sub(/\)[^)]*$/, "", list)
            depth = 0
            count = list == "" || list == "void" ? 0 : 1
            for (i = 1; i <= length(list); i++) {
                c = substr(list, i, 1)
                depth += (c == "(") - (c == ")")
                count += c == "," && depth == 0
            }
            print $1, $2, $3 - $2 + 1, count, $4
        }' | awk '
        $1 != file {
            file = $1
            delete text
            for (n = 1; (getline line < file) > 0; n++)
                text[n] = line
            close(file)
        }
        { print $0, text[$2 - 1] ~ /\*\/ *$/ || text[$2 - 2] ~ /\*\/ *$/ }' \
            >"$work/functions"
}

# Nearest rank, as sorted lengths come in.
quantiles='{ v[NR] = $1 }
    function rank(p,  r) { r = int(p * NR); return v[r < p * NR ? r + 1 : r] }
    END { if (NR > 0) printf "%-24s %5d functions: median %d, 90 %% %d, 95 %% %d, longest %d\n",
          room, NR, rank(0.5), rank(0.9), rank(0.95), v[NR] }'

lengths() { # ROOM PATTERN
    grep "^$2" "$work/functions" | awk '{ print $3 }' | sort -n |
        awk -v room="$1" "$quantiles"
}

print_functions() {
    for room in $(sed -n 's|^src/\([^/]*\)/.*|\1|p' "$work/files" | sort -u); do
        lengths "$room" "src/$room/"
    done
    lengths all src/
    echo
    awk '$3 > 40 { n++ } END { print n + 0, "functions of more than 40 lines" }' \
        "$work/functions"
    awk '$3 > 40 { printf "    %3d %s:%d %s%s\n", $3, $1, $2, $5,
                   $6 ? "" : "   no comment above" }' "$work/functions" |
        sort -rn
    awk '$4 > 6 { n++ } END { print n + 0, "functions of more than 6 parameters" }' \
        "$work/functions"
    awk '$4 > 6 { printf "    %3d %s:%d %s\n", $4, $1, $2, $5 }' \
        "$work/functions" | sort -rn
}

# ---- macros ----------------------------------------------------------------

# A definition goes on for as long as its lines end in a backslash.
macros() {
    xargs awk '
    FNR == 1 { first = 0 }
    !first && /^#[ \t]*define/ { first = FNR; name = $0
                                sub(/^#[ \t]*define[ \t]*/, "", name)
                                sub(/[^A-Za-z0-9_].*/, "", name) }
    first && !/\\$/ {
        if (FNR - first >= 40)
            printf "    %3d %s:%d %s\n", FNR - first + 1, FILENAME, first, name
        first = 0
    }' <"$work/files" >"$work/macros"
    echo "$(grep -c . "$work/macros") macros of more than 40 lines"
    sort -rn "$work/macros"
}

# ---- constants -------------------------------------------------------------

constants() {
    grep -E '^src/(study|analysis)/.*\.c$' "$work/files" | xargs awk '
    FNR == 1 { above = here = inside = 0; opened = 0 }
    {
        text = $0
        comment = inside || text ~ /\/\*/
        if (text ~ /\/\*/)
            inside = 1
        if (inside && text ~ /\*\//)
            inside = 0
        gsub(/\/\*.*\*\//, "", text)     # what is left is code
        if (comment && (inside || text ~ /\*\//))
            text = ""
        gsub(/"([^"\\]|\\.)*"/, "", text)
        gsub(/->|<<|>>|^#include.*/, " ", text)
        here = here || comment           # the statement so far, and above it
        if (text ~ /[<>]|[=!]=/ && text ~ /[0-9]\.[0-9]/ &&
            text !~ /^#define/ && !here) {
            rest = text
            gsub(/(^|[^0-9])0\.0([^0-9]|$)/, " ", rest)
            if (rest ~ /[0-9]\.[0-9]/)
                print "    " FILENAME ":" FNR " " $0
        }
        # A comment stands for the function under it, and for its first
        # statement; any other statement begins with what is above it.
        if (text ~ /^\{/)
            ;
        else if (text ~ /[;{}] *$/ && text !~ /^ *for \(.*; *$/)
            here = 0
        else if (text ~ /^ *$/ && !comment)
            here = 0
    }' | sed 's/  *$//' >"$work/constants"
    echo "$(grep -c . "$work/constants") comparisons with a constant that has no derivation beside it"
    cat "$work/constants"
}

# The same of what is not compared: initialisers, rows of tables, arguments.
numbers() {
    grep -E '^src/(study|analysis)/.*\.c$' "$work/files" | xargs awk '
    FNR == 1 { body = inside = told = named = 0 }
    {
        text = $0
        comment = inside || text ~ /\/\*/
        if (text ~ /\/\*/)
            inside = 1
        if (inside && text ~ /\*\//)
            inside = 0
        gsub(/\/\*.*\*\//, "", text)
        if (comment && (inside || text ~ /\*\//))
            text = ""
        gsub(/"([^"\\]|\\.)*"/, "", text)
        if (text ~ /^ *$/ && !comment)
            told = 0
        told = told || comment
        if (text ~ /^\{/) {
            body = 1
            named = told
        }
        if (text ~ /^[^#]*[0-9]\.[0-9]/ && !told && !named) {
            rest = text
            while (gsub(/(^|[^0-9.])([0-9]+\.0|0\.5|0\.25|0\.75)([^0-9]|$)/,
                        " ", rest))
                ;
            if (rest ~ /[0-9]\.[0-9]/)
                print "    " FILENAME ":" FNR " " $0
        }
        if (text ~ /^\}/)
            told = named = body = 0
        else if (body && text ~ /[;{}] *$/ && text !~ /^ *for \(.*; *$/)
            told = 0
    }' | sed 's/  *$//' >"$work/numbers"
    echo "$(grep -c . "$work/numbers") other numbers that have none"
    cat "$work/numbers"
}

# ---- arrows and circles ----------------------------------------------------

# Reads arrows "FROM TO" and prints each set of which all reach all others.
circles() {
    awk '
    function visit(at,  i) {
        if (seen[at]++)
            return
        for (i = 1; i <= fan[at]; i++)
            visit(next_of[at, i])
    }
    { if (!(($1, $2) in arrow)) next_of[$1, ++fan[$1]] = $2
      arrow[$1, $2]; node[$1]; node[$2] }
    END {
        for (a in node) {
            split("", seen)
            for (i = 1; i <= fan[a]; i++)
                visit(next_of[a, i])
            for (b in seen)
                reach[a, b]
        }
        for (a in node) {
            if (done[a]++ || !((a, a) in reach))
                continue
            line = a
            for (b in node)
                if (b != a && ((a, b) in reach) && ((b, a) in reach)) {
                    done[b]++
                    line = line " " b
                }
            if (line != a)
                print "    " line
        }
    }'
}

count_circles() { # WHAT ARROWS
    sort -u "$2" | circles >"$work/circles"
    echo "$(grep -c . "$work/circles") circles of $1"
    cat "$work/circles"
}

# FROM TO of each include of a file of ours, as files.
includes() {
    xargs grep -H '^#include "' <"$work/files" |
        sed -n 's|^src/\([^:]*\):#include "\([^"]*\)".*|\1 \2|p' >"$work/includes"
}

room_arrows() {
    awk 'function room(file) {
             return sub(/\/[^\/]*$/, "", file) ? file : file == "sonde.h" ? "include" : "src"
         }
         { from = room($1); to = room($2)
           if (from != to) print from, to }' "$work/includes" | sort |
        uniq -c | awk '{ print $2, $3, $1 }' >"$work/rooms"
    awk '{ print $1, $2 }' "$work/rooms" >"$work/arrows"
    echo "$(grep -c . "$work/rooms") arrows between rooms (includes)"
    awk '{ list[$1] = list[$1] " " $2 "(" $3 ")" }
         END { for (room in list) print "    " room " ->" list[room] | "sort" }' \
        "$work/rooms"
}

# FILE FILE for each function of the second that the first calls; tables of
# pointers are no calls.  Two static functions of a name do not meet here, as
# the linker sees neither.
calls() {
    grep '\.c$' "$work/files" | while read -r file; do
        object=$B/${file%.c}.o
        [ ! -e "$object" ] || nm "$object" | awk -v f="${file#src/}" '
            { print $(NF - 1), $NF, f }'
    done | awk '$1 == "T" { home[$2] = $3 }
                $1 == "U" { used[$2, $3] }
                END { for (pair in used) {
                          split(pair, p, SUBSEP)
                          if (p[1] in home)
                              print p[2], home[p[1]]
                      } }' >"$work/calls"
}

rooms
echo
if ctags --version 2>/dev/null | grep -q Universal; then
    functions
    print_functions
else
    echo 'functions: not told, since universal-ctags is not installed'
fi
macros
echo
constants
numbers
echo
includes
room_arrows
count_circles 'rooms (includes)' "$work/arrows"
count_circles 'files (includes)' "$work/includes"
if [ -n "$B" ] && [ -d "$B/src" ]; then
    calls
    count_circles 'files (calls)' "$work/calls"
else
    echo 'circles of calls: not told without a build (B=FOLDER)'
fi
