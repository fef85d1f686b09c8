#!/bin/sh
# Whether `sonde fleet` finds what was planted, says nothing else, and how long
# it takes:
#
#     make fleet                             three bases, 10 000 reports
#     COUNT=1000 FLEETS=50 sh tools/fleet.sh  false alarms of so many fleets
#
# COUNT reports a fleet (10000), FLEETS fleets (1), FAULTS planted in each (40),
# SEED of the first (1), BASES: reports that the fleet is made of (simulated
# GPUs are measured for these where none are named).
set -eu
B=${B:-build} COUNT=${COUNT:-10000} FLEETS=${FLEETS:-1} FAULTS=${FAULTS:-40}
SEED=${SEED:-1} BASES=${BASES:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ -z "$BASES" ]; then
    for gpu in quick k20c; do
        "$B/sonde" -q -d sim:$gpu --json "$work/$gpu.json" >"$work/out"
        BASES="$BASES $work/$gpu.json"
    done
fi

# "UUID FINDING" of GPUs that are out, and lines of hosts and racks.
out_of() {
    sed -n 's/^sonde_fleet_out{level="\([a-z]*\)",name="\([^"]*\)".*,id="\([^"]*\)".*/\1 \2 \3/p' "$1"
}

all_found=0 all_missed=0 all_false=0 fleets_false=0
for seed in $(seq "$SEED" $((SEED + FLEETS - 1))); do
    rm -rf "$work/fleet"
    "$B/tools/fleet" "$work/fleet" "$COUNT" "$seed" "$FAULTS" $BASES
    begin=$(date +%s.%N)
    "$B/sonde" fleet "$work/fleet" -o "$work/fleet.prom" >"$work/text" || [ $? = 1 ]
    end=$(date +%s.%N)
    out_of "$work/fleet.prom" >"$work/outs"
    # A planted fault is found by its finding; all else of that GPU, and of its
    # host, comes of it.
    awk -F '\t' -v outs="$work/outs" '
        BEGIN { while ((getline line < outs) > 0) {
            split(line, w, " ")
            n++; level[n] = w[1]; who[n] = w[2]; id[n] = w[3] } }
        { planted[$1] = 1
          for (i = 1; i <= n; i++)
              if (who[i] == $1 && index(id[i], $3) == 1) break
          if (i <= n) found++
          else { missed++; print "missed: " $0 > "/dev/stderr" } }
        END {
            for (i = 1; i <= n; i++)
                if (!(who[i] in planted)) {
                    wrong++; print "false: " level[i], who[i], id[i] > "/dev/stderr" }
            print found + 0, missed + 0, wrong + 0 }' \
        "$work/fleet.planted" >"$work/counts"
    read -r found missed wrong <"$work/counts"
    all_found=$((all_found + found)) all_missed=$((all_missed + missed))
    all_false=$((all_false + wrong))
    [ "$wrong" = 0 ] || fleets_false=$((fleets_false + 1))
    echo "fleet $seed: $found found, $missed missed, $wrong false alarms," \
        "$(echo "$begin $end" | awk '{ printf "%.1f s", $2 - $1 }')"
done
echo "$FLEETS fleets of $COUNT reports: $all_found faults found, $all_missed" \
    "missed; $all_false false alarms in $fleets_false fleets"
[ "$all_missed" = 0 ] && [ $((10 * fleets_false)) -le "$FLEETS" ]
