#!/bin/sh
# Writes what `make disturb` and `make calibrate` found into docs/trust.md, and
# draws it: docs/trust-disturb.svg, docs/trust-calibrate.svg.
#
#     sh tools/trust.sh [DISTURB-FOLDER [CALIBRATE-FOLDER]]
#
# Without folders it takes those that they leave in build; what is not there
# stays as it is.
set -eu

B=${B:-build}
DISTURB=${DISTURB:-$B/tools/disturb}
disturbed=${1:-$B/disturb}
calibrated=${2:-$B/calibrate}
doc=docs/trust.md

profiles_of() { # FOLDER
    echo "of $(sed 's/-.*//' "$1/plan" | sort -u | tr '\n' ' ')"
}

# Tables as the tool prints them, without what was wrong in which run, and why
# what was lost.
judged() {
    "$DISTURB" table "$disturbed" | sed -n '/^worst by strength/,$p' |
        grep -v '^lost ' || true
    profiles_of "$disturbed"
}

covered() {
    "$DISTURB" coverage "$calibrated" || true
    profiles_of "$calibrated"
}

# Puts standard input, as a block of code, between "<!-- NAME -->" and
# "<!-- end -->" of the document.
insert() { # NAME
    { echo; echo '```text'; cat; echo '```'; echo; } >"$doc.part"
    awk -v name="$1" -v part="$doc.part" '
        $0 == "<!-- end -->" { inside = 0 }
        !inside { print }
        $0 == "<!-- " name " -->" {
            inside = 1
            while ((getline line <part) > 0)
                print line
        }' "$doc" >"$doc.new"
    mv "$doc.new" "$doc"
    rm "$doc.part"
}

# ---- plots -------------------------------------------------------------------

svg_functions='
function open_svg(width, height) {
    printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" ", width, height
    printf "font-family=\"sans-serif\" font-size=\"11\">\n"
    printf "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
}
function text(x, y, words, anchor) {
    printf "<text x=\"%g\" y=\"%g\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, words
}
function box(x, y, width, height, color) {
    if (width > 0)
        printf "<rect x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"%g\" fill=\"%s\"/>\n", x, y, width, height, color
}
'

# A bar for each kind and strength: how all findings came out.
draw_judged() {
    awk "$svg_functions"'
    $1 == "kind" { begun = 1; next }
    begun && NF == 11 && $1 != "of" { line[++count] = $0 }
    END {
        split("right bound doubted not_measured wrong", name, " ")
        split("#4c9f70 #4f81bd #e6c229 #bbbbbb #c0392b", color, " ")
        open_svg(680, 14 * count + 60)
        for (k = 1; k <= 5; k++) {
            box(60 + 110 * k, 10, 10, 10, color[k])
            sub("_", " ", name[k])
            text(75 + 110 * k, 19, name[k], "start")
        }
        for (i = 1; i <= count; i++) {
            split(line[i], f, " ")
            all = f[5] + f[6] + f[7] + f[8] + f[9]
            y = 14 * i + 20
            text(100, y + 10, f[1] " " f[2], "end")
            x = 110
            for (k = 1; k <= 5; k++) {
                width = all > 0 ? 500 * f[k + 4] / all : 0
                box(x, y, width, 11, color[k])
                x += width
            }
            text(620, y + 10, f[11], "start")
        }
        text(620, 19, "kept", "start")
        print "</svg>"
    }'
}

# A dot for each class, kind and strength: the share of intervals that hold,
# and a line where the claim is.
draw_covered() {
    awk "$svg_functions"'
    function place(percent) { return percent < 50 ? 150 : 150 + 9 * (percent - 50) }
    NF == 9 && $1 != "of" && $4 > 0 { line[++count] = $0 }
    END {
        open_svg(680, 16 * count + 50)
        for (p = 50; p <= 100; p += 10) {
            box(place(p), 25, 1, 16 * count + 5, "#dddddd")
            label = p
            if (p == 100)
                label = p " % hold"
            text(place(p), 20, label, "middle")
        }
        for (i = 1; i <= count; i++) {
            split(line[i], f, " ")
            y = 16 * i + 16
            text(140, y + 10, f[1] ", " f[2] " " f[3], "end")
            box(place(f[6] + 0) - 1, y, 2, 12, "#c0392b")
            printf "<circle cx=\"%.1f\" cy=\"%g\" r=\"4\" fill=\"#4f81bd\"/>\n", place(f[5] + 0), y + 6
            text(650, y + 10, f[5], "end")
        }
        text(150, 16 * count + 45, "dot: intervals that hold the truth; line: what they claim", "start")
        print "</svg>"
    }'
}

write() { # NAME PRINT DRAW
    $2 >"$doc.found"
    insert "$1" <"$doc.found"
    $3 <"$doc.found" >"docs/trust-$1.svg"
    rm "$doc.found"
}

[ ! -e "$disturbed/plan" ] || write disturb judged draw_judged
[ ! -e "$calibrated/plan" ] || write calibrate covered draw_covered
