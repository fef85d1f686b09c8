# With --json - there is one document on standard output and nothing else.
"$SONDE" run clock -d sim:k20c --json - >out || exit 1
head -1 out
sed -n 's/^  "\([a-z]*\)".*/\1/p' out
tail -1 out
if command -v python3 >/dev/null; then python3 -m json.tool out >parsed; fi
# To a file: the same, and the text beside it.
"$SONDE" run clock -d sim:k20c --json file.json >text || exit 1
[ -s text ] || echo "no text"
timeless() { sed '/^    "start": /d; /^    "seconds": /d' "$1"; }
timeless out >was
timeless file.json | sed 's/"file\.json"/"-"/' | cmp - was
