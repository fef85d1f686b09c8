# What instructions cost, on a simulated GPU: which rows, which formats.
. "$CLI/lib.sh"

gpu="-d sim:v100"

# Names of the rows that a pattern chose, one line.
rows() {
    echo "$*: $("$SONDE" -q isa "$@" --as costs.csv $gpu | sed 1d | cut -d , -f 1 |
        tr -d '\r' | tr '\n' ' ')"
}

try isa add.u32 div.s32 popc.b32 $gpu
try isa popc.b32 --levels 0,1,2,3,4 $gpu

# A name is that row, a beginning up to a dot, a glob, or a category.
rows clz --levels 0
rows '*24.hi.u32' --levels 0
rows 'mad24.*' --levels 0
rows sad.s32 clz.b32 --levels 0
rows carry --levels 0

# Rows that this GPU lacks are said, and are no failure.
try isa 'redux.sync.a*' --levels 3 $gpu
try isa redux.sync.add.u32 --as costs.csv $gpu
"$SONDE" -q isa redux.sync.add.u32 --json - --levels 3 $gpu |
    grep 'status\|because\|skipped'

# The numbers for a script.
try isa add.u32 mul.hi.u32 --as costs.csv $gpu
"$SONDE" -q isa add.u32 --json one.json --csv one.csv --levels 0 $gpu >text
echo "[$?]"
[ -s text ] && echo "the table is still shown"
grep -c '"isa.add.u32.' one.json
grep latency one.csv | cut -d , -f 2-5
"$SONDE" report one.json | grep add.u32

# Throughput by chains and warps.
"$SONDE" -q isa add.u32 --parallelism --levels 3 --json many.json $gpu >text
grep -c throughput_by_warps many.json

try isa ad.u32 $gpu
try isa qwertyuiop $gpu
try isa add.u32 'zz*' $gpu
for levels in 5 '' 0, ,3 0,,3 03 -1 three; do
    try isa add.u32 --levels "$levels" $gpu
done

# What JSON is written of any row is read back, also where its name has a "::".
"$SONDE" -q isa 'mma.sp::*' --json sparse.json --levels 3 $gpu >text
"$SONDE" report sparse.json >again && cmp text again
