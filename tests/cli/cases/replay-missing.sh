# A recording that is not there, or is none.
. "$CLI/lib.sh"
echo nothing >text.rec
try_says missing.rec -d replay:missing.rec
try_says text.rec -d replay:text.rec
