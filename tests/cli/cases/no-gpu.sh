# No GPU and no -d: two lines say so and why, and that what follows is
# simulated, before anything is measured; and the report's last line again.
. "$CLI/lib.sh"

# Lines of a file, without what is this machine's.
shown() {
    sed 's/measured*: .*/measured: WHY/; s/(no .*)/(WHY)/; s/\(cuda: .*\)/WHY/' "$1"
}
measure() { # options...
    echo "\$ sonde $*"
    "$SONDE" "$@" >out 2>err
    echo "[$?]"
    shown err
    grep -o '^No GPU.*' out
}
measure run clock -q
tail -1 out
measure run clock -q -v
measure isa add.u32 --levels 3 -q
measure bench 'add.u32 %r0, %r0, %r1;' --levels 3 -q
measure run clock -q -d sim:v100
measure ptx chase
[ -s out ] || echo "no results"
# Each line is short.
"$SONDE" run clock 2>&1 >out | awk 'length > 120 { print "too long:", $0 }'

# All that there is to see takes two seconds.
"$SONDE" -q 2>/dev/null >out
grep '^L1\|^L2\|^TLB\|^No GPU' out

# On standard output as they come: the notice is there before the results.
"$SONDE" run clock -q 2>&1 | sed -n 's/^sonde: no GPU.*/first the notice/p; /^clock/p; $p'

# What outlives the notice must be asked for.
for option in --json --csv --record; do
    measure isa add.u32 $option file
    measure isa add.u32 -d sim:v100 --levels 3 $option file
    rm file
    measure isa add.u32 $option file --budget 1
    [ ! -e file ] || echo "something was written"
done
measure isa add.u32 --json -
measure probe clock --record file
[ ! -s out ] || echo "something was measured"

# $SONDE_DEVICE stands for -d, which goes first.
export SONDE_DEVICE=sim:k20c
measure run clock -q --json file
grep '"spec"' file
measure run clock -q -d sim:gtx780 --json file
grep '"spec"' file
SONDE_DEVICE=sim:nothing-like-it
measure run clock
measure list studies
SONDE_DEVICE=
measure run clock
