# Which findings of reports differ; 0 alike, 1 not, 2 bad input.
. "$CLI/lib.sh"
base=$CLI/cases/example.json
cp "$base" base.json
sed '/"l1.size"/,/}/s/"measured"/"at_least"/
     s/"name": "Example GPU"/"name": "Example \\u001b[2J GPU"/' base.json >status.json
sed '/"l1.latency"/,/}/{s/32.06/36.5/;s/32.05/36/;s/32.07/37/}' base.json >slow.json
"$SONDE" report slow.json --as csv | grep '^[^,]*,l1.lat'
try compare base.json base.json
try compare base.json slow.json
try compare base.json slow.json status.json base.json
try compare base.json slow.json --only 'l2.*'
try compare base.json slow.json --tolerance 50%
try compare base.json slow.json --only l1.latency --json -
try compare base.json slow.json --json d.json | sed -n 1,2p
grep -c '"verdict"' d.json
# What cannot be compared.
try compare base.json
try compare base.json none.json
try compare base.json slow.json --only l9.size
try compare base.json slow.json --tolerance 2x
try compare base.json slow.json --tolerance -1%
try compare base.json slow.json --json no/such/file.json
