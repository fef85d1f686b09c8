# What was found between GPUs is a matrix: in text, page and picture, of several
# reports a row each, of one a row a quantity.
. "$CLI/lib.sh"
report() { # HOST GPU PEERS VALUES
    cat <<END
{"schema": "sonde-report-2", "run": {"host": "$1", "simulated": true},
 "device": {"spec": "sim:made:$2", "name": "made up", "compute_capability": "9.0"},
 "findings": {
  "link.latency": {"value": [$4], "unit": "cycles", "status": "${5:-measured}",
   "protocol": {"peers": [$3], "gpu": $2}},
  "link.read_bandwidth": {"value": [$(echo "$4" | sed 's/[0-9]\+/&e8/g')], "unit": "B/s", "status": "measured",
   "protocol": {"peers": [$3], "gpu": $2}}}}
END
}
report a 0 1,3 '620, 900' >0.json
report a 1 0,3 '630, 640' in_doubt >1.json
report a 3 0,1 '910, 650' >3.json
report b 1 2 '700' >b.json
echo "# three of four GPUs"
"$SONDE" report 3.json 0.json 1.json | sed -n '/^link.latency, .*GPU/,$p'
echo "# of two hosts"
"$SONDE" report 0.json b.json | sed -n '/^link.latency, .*GPU/,$p'
echo "# one"
"$SONDE" report 1.json | sed -n '/^links between/,$p'
echo "# cells of pictures and pages, with those that are empty"
for file in all.svg all.html; do
    "$SONDE" report 0.json 1.json 3.json -o $file
    echo "$file: $(grep -c 'class="cell' $file), $(grep -c 'class="cell none"' $file)"
    grep -o 'GPU 1, GPU 3: [^<]*' $file
    grep -c -i 'simulated' $file
done
"$SONDE" report 0.json -o one.html
grep -o 'GPU 0, GPU 3: [^<]*' one.html
echo "# none"
sed 's/"peers"/"others"/' 0.json >apart.json
sed 's/"peers"/"others"/' 1.json >apart1.json
"$SONDE" report apart.json | grep -c 'links between'
try report apart.json apart1.json -o apart.svg
"$SONDE" report apart.json apart1.json -o apart.html
grep -c 'class="cell' apart.html
exit 0
