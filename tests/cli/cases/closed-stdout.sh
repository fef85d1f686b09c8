# Nobody reads any more: no noise.  It cannot be written: one sentence and
# status 2.
file=$CLI/cases/example.json
"$SONDE" report "$file" >&-
echo "closed: $?"
{ sleep 0.2; "$SONDE" report "$file"; echo "pipe: $?" >status; } | true
cat status
[ -w /dev/full ] || exit 0
"$SONDE" report "$file" >/dev/full
echo "full: $?"
