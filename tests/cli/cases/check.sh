# Is a GPU as a report says?  A line a GPU.
. "$CLI/lib.sh"
sed 's/"memory": \[416, 446, 496\]/"memory": [520, 550, 600]/' "$TOP/profiles/quick.json" >slow.json
cmp -s slow.json "$TOP/profiles/quick.json" && echo "nothing is slower"
"$SONDE" run latency -q -d sim:quick --json golden.json >out
"$SONDE" check golden.json -q -d sim:./slow.json -o '%i.json' 2>err
echo "[$?]"
ls -- *.json
# What is cut short says so; what was found until then is as it was.
"$SONDE" check golden.json -d sim:quick --budget 0.2 2>err | sed 's/[0-9]* findings/N findings/'
grep -c 'cut short' err
try check golden.json -d sim:k20c,sim:k20c -q
try check none.json -d sim:quick
try check golden.json -d sim:none
try check slow.json -d sim:quick
