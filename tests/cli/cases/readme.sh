# results/h200.txt is what the report of that GPU shows, and the answer at the
# top of README.md the same on one screen.  UPDATE=1 in the environment writes
# both anew.
"$SONDE" report -v "$TOP/results/h200.json" >report.txt
"$SONDE" report "$TOP/results/h200.json" >screen.txt
if [ "${UPDATE:-}" = 1 ]; then
    cp report.txt "$TOP/results/h200.txt"
fi
diff "$TOP/results/h200.txt" report.txt
sh "$TOP/tools/readme.sh" screen.txt "$TOP/README.md" >README.md
if [ "${UPDATE:-}" = 1 ]; then
    cp README.md "$TOP/README.md"
fi
diff "$TOP/README.md" README.md
