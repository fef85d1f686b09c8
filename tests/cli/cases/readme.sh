# results/h200.txt is what the recording of that GPU shows, and the top of
# README.md is taken from it.  UPDATE=1 in the environment writes both anew.
"$SONDE" -d "replay:$TOP/tests/replay/h200.rec" >report.txt 2>/dev/null
if [ "${UPDATE:-}" = 1 ]; then
    cp report.txt "$TOP/results/h200.txt"
fi
diff "$TOP/results/h200.txt" report.txt
sh "$TOP/tools/readme.sh" report.txt "$TOP/README.md" >README.md
if [ "${UPDATE:-}" = 1 ]; then
    cp README.md "$TOP/README.md"
fi
diff "$TOP/README.md" README.md
