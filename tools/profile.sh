#!/bin/sh
# The shipped profile of a GPU that was measured, made of its reports:
#
#     make profile GPU=h100
#
# writes profiles/h100.json of results/h100.json, and of h100-load.json and
# h100-isa.json where these are there, as `sonde report -o h100.profile.json`
# does, with the noise that shipped profiles have.  What was not measured comes
# from the nearest of the *other* shipped profiles, so that a second time writes
# the same: with a sonde that does not have this one, in build/others.
set -eu
gpu=$1
others=build/others
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
${MAKE:-make} -s B=$others PROFILE_SRC="$(ls profiles/*.json profiles/hosts/*.json |
    grep -v "^profiles/$gpu\.json$" | tr '\n' ' ')" $others/sonde
set -- "results/$gpu.json"
for more in load isa; do
    [ ! -e "results/$gpu-$more.json" ] || set -- "$@" "results/$gpu-$more.json"
done
$others/sonde report --merge "$@" -o "$work/made.profile.json"
# A cache, a path, a TLB, an instruction are a line each; what lies in no such
# part is one, too.
awk -v noise='"noise": {"jitter_cycles": 1.5, "spike_rate": 0.002, "spike_cycles": 300}' '
    function end_line() { if (line != "") print line; line = "" }
    /^  "source":/ { sub(/",$/, ", noise\",") }
    /^}$/ { end_line(); print; next }
    /^{$/ { print; next }
    /^  [^ ]/ {
        part = $0 ~ /"(caches|paths|isa|tlbs)": \{$/
        if ($0 ~ /^  "isa"/) { end_line(); print "  " noise "," }
    }
    /^  [^ }]/ || (in_part && /^    [^ }\]]/) { end_line(); line = $0; in_part = part; next }
    in_part && /^  \}/ { end_line(); print; in_part = 0; next }
    {
        sub(/^ +/, "")
        line = line (line ~ /[[{]$/ || /^[]}]/ ? "" : " ") $0
    }' "$work/made.profile.json" >"profiles/$gpu.json"
