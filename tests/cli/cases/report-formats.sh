# A report in the format that its name means, or that --as says; of one GPU
# several reports are one.
. "$CLI/lib.sh"
cp "$CLI/cases/example.json" a.json
sed '/"spec"/s/example/other/' a.json >other.json
sed '/"spec"/s/sim:example/cuda:0", "uuid": "GPU-1/' a.json >first.json
sed '/"spec"/s/sim:example/cuda:0", "uuid": "GPU-2/' a.json >second.json
sed '/"cuda"/s/13.0/12.8/; /"spec"/s/sim:example/cuda:0", "uuid": "GPU-1/' \
    a.json >older.json
try report a.json -o b.json
cmp a.json b.json
try report a.json -o - --as json | sed 1d | head -2
# What cannot be meant.
try report a.json -o b.jso
try report a.json --as jso
try report a.json -o .json
try report a.json -o -
try report a.json --as json --json -
try report a.json -o no/such/folder.json
try report a.json -o b.json --json b.json
# What cannot be one report says why.
try report first.json second.json -o b.table
try report first.json older.json -o b.table
try report a.json other.json -o b.table --merge
try report first.json second.json --merge | sed -n 2p
# Several GPUs are a list in JSON, which is read again.
"$SONDE" report first.json second.json -o both.json
"$SONDE" report both.json --as json | cmp - both.json
try report both.json | head -8
try report both.json --as csv | grep l1.latency
# Where one measures they come beside the text.
"$SONDE" run clock -q -d sim:quick -o clock.md --csv clock.csv --html clock.html |
    head -1
head -1 clock.md clock.csv
grep -c '<html' clock.html
"$SONDE" run clock -q -d sim:quick --as prom | tail -1
