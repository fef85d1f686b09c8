# A study and a probe in words: each is named and says something.
for name in latency chase; do
    "$SONDE" explain $name >words || exit 1
    [ "$(wc -l <words)" -gt 3 ] || echo "$name: too short"
    grep -q $name words || echo "$name: not named"
    grep -n '.\{101\}' words
done

# A finding names the studies that find it, an instruction what is timed, a
# simulated GPU where its numbers come from.
"$SONDE" explain l1.size | grep -q 'finding l1.size, of study size' || echo "no study finds l1.size"
"$SONDE" explain l1.latency add.u32 | grep -q 'isa.add.u32.latency.O3' || echo "nothing is found of add.u32"
"$SONDE" explain sim:k20c | grep -q 'chosen: sets' || echo "sim:k20c has no source"
"$SONDE" explain sim:pair | grep -q "sim:pair:0 to sim:pair:1" || echo "sim:pair has no GPUs"
exit 0
