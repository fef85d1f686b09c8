# What the exit status says: 0 is for all that was asked having run to its end,
# whatever could not be measured.
. "$CLI/lib.sh"
gpu='-q -d sim:gtx560ti'

# The same, of the report only the lines that match, or "no report".
try_report() { # pattern arguments...
    pattern=$1
    shift
    echo "\$ sonde $*"
    "$SONDE" "$@" >out 2>err
    status=$?
    cat err
    grep -- "$pattern" out || echo "no report"
    echo "[$status]"
}

# This GPU has no read-only cache.
"$SONDE" run line $gpu --record line.rec >/dev/null
line='-q -d replay:line.rec'
try_report 'readonly.line' run line $line
try_report 'readonly.line' run line $line --require 'l*.line,l3.*'
try_report 'readonly.line' run line $line --require 'l*.line,clock.overhead'
try_report 'readonly.line' run line $line --require readonly.line
try_report 'readonly.line' run line $line --require '*.line,*.sector'
try_report 'readonly.line' run line $line --require l1.lime
try_report 'readonly.line' run line $line --strict
try_report clock.overhead run clock $gpu --strict
try_report clock.overhead run clock $gpu --require clock.overhead --strict
try_report 'clock.overhead' run clock properties $gpu --strict
try_report redux isa 'redux.sync.a*' --levels 3 $gpu --strict
try_report add.u32 isa add.u32 --levels 3 $gpu --require 'isa.add.u32.*'
try_report add.u32 isa add.u32 --levels 3 $gpu --require 'isa.sub.u32.*'
try_report bench bench 'add.u32 %r0, %r0, %r1;' --levels 3 $gpu \
    --require bench.throughput,bench.latency.O0
try_report . run clock $gpu --require ''
try_report . run clock $gpu --require clock.overhead,
try_report . run clock $gpu --strict=yes
try_report . list --strict

# Cut short: 1, and what is there is reported.
try_report SMs topology -q -d sim:h200 --budget 1 --json cut.json
grep -o -m 1 'the time budget was used up' cut.json

"$SONDE" topology -d sim:h200 --budget 1 2>&1 >/dev/null |
    sed 's/in part: .*structure.*/in part: STUDIES/'

# What does not exist, and what does not fit.
try_report . run clock -d sim:./none.json
try_report . probe chase bytes=64G -d sim:k20c

# Half-way: the report of what was measured, and then the status.
"$SONDE" run clock $gpu --record clock.rec >out || echo "no recording"
try_report 'clock.overhead\|l1.line' run line -q -d replay:clock.rec \
    --json half.json 2>&1 | sed 's/experiment .*//'
"$SONDE" report half.json | grep clock.overhead
# … but none where nothing was.
try_report . run lime $gpu
try_report . isa qwertyuiop $gpu
