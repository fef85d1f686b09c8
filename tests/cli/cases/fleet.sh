# Many GPUs: who is not as the others.
. "$CLI/lib.sh"
gpu() { # number host latency slices
    cat >"$1.json" <<END
{"schema": "sonde-report-2", "run": {"host": "$2", "start": "2026-11-23T03:00:00Z"},
 "device": {"name": "Test GPU", "spec": "cuda:0", "uuid": "GPU-$1", "driver": "580.1"},
 "findings": {
  "l2.latency": {"value": $3, "unit": "cycles", "status": "measured"},
  "l2.slices": {"value": $4, "status": "measured"}}}
END
}
mkdir reports before
cd reports
for i in 0 1 2 3 4 5 6 7 8 9; do
    gpu $i "r1-n$i" "28$i" 48
    cp $i.json ../before/
done
cd ..
try fleet reports
echo "# changed"
cd reports
gpu 3 r1-n3 420 48
gpu 5 r1-n5 285 47
head -c 90 0.json >cut.json
: >empty.json
echo text >notes.txt
echo '{"schema": "sonde-report-2", "device": 1, "findings": {}}' >broken.json
cp 1.json again.json
rm 9.json
cd ..
printf 'r1-n1\nr1-n9\n' >hosts
try fleet reports --since before --expect hosts
try fleet reports --only 'l2.sl*' -v
echo "# a list of paths, reports, formats"
ls reports/[124].json >list
"$SONDE" fleet - <list
cat reports/[124].json | "$SONDE" fleet - --as prom | grep -v '^#'
"$SONDE" fleet reports -o fleet.html --json fleet.json
echo $?
grep -c '<svg' fleet.html
grep -c '"finding": "l2.latency"' fleet.json
echo "# wrong ones"
try fleet none
try fleet reports --rack '('
try fleet reports --alarms 0
try fleet reports --as csv
mkdir nothing
try fleet nothing
echo "# versions, and racks of any names"
mkdir mixed
for i in 0 1 2 3; do
    gpu $i "n$i-r$((i % 2))" "28$i" 48
    mv $i.json mixed/
done
sed -i 's/"run"/"sonde": {"version": "9.1"}, "run"/' mixed/2.json
try fleet mixed --rack 'r[0-9]$'
