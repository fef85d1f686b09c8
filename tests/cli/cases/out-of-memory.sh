# Where the host has no more memory, or a file cannot be written, what was found
# is reported (tools/faults_memory.sh and faults_files.sh try every call).
library=$(dirname "$SONDE")/tests/preload/fail.so
[ -e "$library" ] || { echo "the library is not built"; exit 77; }
ldd "$SONDE" 2>/dev/null | grep -q 'libasan' && { echo "sanitizers have their own malloc"; exit 77; }
fail() { # what call errno
    echo "$1 $2"
    env FAIL=$1 FAIL_AT=$2 FAIL_ERRNO=$3 LD_PRELOAD="$library" \
        "$SONDE" run clock banks -q -d sim:quick --json r.json >text 2>err
    echo "status $?"
    sed 's/^/  /' err
    grep -o '"because": "the host is out of memory"' r.json | head -1
    [ ! -e r.json ] || "$SONDE" report r.json >again || echo "half a report"
    rm -f r.json
}
fail malloc 1000 12
fail write 1 28
fail fsync 1 5
fail rename 1 30
# From one call on there is none at all: a sentence, and no number.
none_from() { # call arguments...
    at=$1
    shift
    env FAIL=malloc FAIL_AT=$at FAIL_ON=1 LD_PRELOAD="$library" \
        "$SONDE" "$@" >text 2>err
    echo "status $?: $(sort -u err)"
}
"$SONDE" run clock -q -d sim:quick --json whole.json >text 2>err
for at in 100 400 700; do
    none_from $at run clock -q -d sim:quick
done
none_from 300 report whole.json
none_from 300 report whole.json --as html
none_from 300 compare whole.json whole.json
none_from 20 list studies
rm -f whole.json
ls
