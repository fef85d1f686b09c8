# Is a GPU as a report says?  A line a GPU.
. "$CLI/lib.sh"
sed 's/"memory": \[416, 446, 496\]/"memory": [520, 550, 600]/' "$TOP/profiles/quick.json" >slow.json
cmp -s slow.json "$TOP/profiles/quick.json" && echo "nothing is slower"
"$SONDE" run latency -q -d sim:quick --json golden.json >out
"$SONDE" check golden.json -q -d sim:./slow.json,sim:quick -o '%i.json' 2>err
echo "[$?]"
grep -c slow.json err
ls -- *.json
try check golden.json -d sim:k20c
try check none.json -d sim:quick
try check golden.json -d sim:none
try check slow.json -d sim:quick
