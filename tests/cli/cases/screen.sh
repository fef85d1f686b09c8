# The answer on one screen of 24 lines and 80 columns, in all three depths.
recording=replay:$TOP/tests/replay/h200.rec
"$SONDE" -q -d "$recording" >screen 2>log
awk 'END { if (NR > 24) print "more than 24 lines:", NR }' screen
[ "$(wc -L <screen)" -le 80 ] || echo "too wide"
# The tree has more, the evidence most.
"$SONDE" -q -v -d "$recording" >tree 2>log
"$SONDE" -q -vv -d "$recording" >evidence 2>log
grep -c '^│' tree | sed 's/^[1-9].*/a tree/'
grep -c 'evidence:' tree evidence | sed 's/:[1-9].*/: some/'
# All instructions are one screen, too, and what was measured under load.
for report in isa load; do
    "$SONDE" report "$TOP/results/h200-$report.json" >screen
    [ "$(wc -l <screen)" -le 24 ] || echo "$report: $(wc -l <screen) lines"
    [ "$(wc -L <screen)" -le 80 ] || echo "$report: $(wc -L <screen) columns"
done
"$SONDE" report -v "$TOP/results/h200-isa.json" | grep -c '^  [a-z]' | sed 's/[0-9]*/all/'
