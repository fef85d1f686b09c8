# results/h100.txt and h200.txt are what the reports of these GPUs show, and the
# answer at the top of README.md the latter's on one screen.  UPDATE=1 in the
# environment writes all anew.
for gpu in h100 h200; do
    "$SONDE" report -v "$TOP/results/$gpu.json" >report.txt
    if [ "${UPDATE:-}" = 1 ]; then
        cp report.txt "$TOP/results/$gpu.txt"
    fi
    diff "$TOP/results/$gpu.txt" report.txt
done
"$SONDE" report "$TOP/results/h200.json" >screen.txt
sh "$TOP/tools/readme.sh" screen.txt "$TOP/README.md" >README.md
if [ "${UPDATE:-}" = 1 ]; then
    cp README.md "$TOP/README.md"
fi
diff "$TOP/README.md" README.md
# The five things to do next are commands that sonde takes: each is run, as
# short as it can be.
sed -n 's/^    \(sonde [^ ].*\)/\1/p' "$TOP/README.md" | sed 's/   *.*//' >commands
[ "$(wc -l <commands)" -ge 5 ] || echo "README.md: $(wc -l <commands) commands"
while read -r line; do
    case $line in *bench*) budget= ;; *) budget='--budget 0.01' ;; esac
    (PATH=$(dirname "$SONDE"):$PATH SONDE_DEVICE=sim:quick
     export PATH SONDE_DEVICE
     eval "$line -q $budget") >out 2>err </dev/null
    [ $? -le 1 ] || { echo "$line:"; cat err; }
done <commands
