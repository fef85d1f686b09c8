#!/bin/sh
# A measured GPU becomes a simulated one, of which the same is found: of each
# shipped profile a report, of that a profile, of the simulated GPU that this
# describes a report again, and what differs.
#
#     make closure
#     make closure PROFILES="k20c v100"
#
# Exit 1 if a finding differs by more than the intervals of both, or 2 % where it
# has none.  Bandwidths may, which rest on what instructions cost: topology does
# not tell that, and it is the nearest profile's (quick: 85 B/clk/SM of L1 for at
# least 152).  It takes a
# core some ten minutes; h100 (five more) and h200 are left out unless they are
# named.
set -eu
sonde=${SONDE:-build/sonde}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
profiles=${PROFILES:-$(ls profiles | sed 's/\.json$//' | grep -v '^h[12]00$')}
status=0
for p in $profiles; do
    $sonde topology -q -d "sim:$p" --json "$work/$p.json" >/dev/null
    $sonde report "$work/$p.json" -o "$work/$p.profile.json"
    $sonde topology -q -d "sim:$work/$p.profile.json" \
        --json "$work/$p.again.json" >/dev/null
    if $sonde compare --tolerance 2% "$work/$p.json" "$work/$p.again.json" \
        >"$work/difference"; then
        echo "$p: alike"
    else
        echo "$p:"
        cat "$work/difference"
        status=1
    fi
done
exit $status
