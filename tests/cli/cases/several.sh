# Several GPUs, a process each: -d with a list or all; names of files with marks;
# what one loses costs no other; tasks of launchers.
. "$CLI/lib.sh"
host=$(uname -n)
for task in SLURM_LOCALID SLURM_STEP_TASKS_PER_NODE PMI_RANK PMI_SIZE \
    OMPI_COMM_WORLD_LOCAL_RANK OMPI_COMM_WORLD_LOCAL_SIZE; do
    unset $task
done
try run clock -d sim:quick,k20c -j 1
echo "# files, and the folder that they are in"
"$SONDE" run clock -q -d sim:quick,sim:k20c -o 'run/%h-%i-%u.json' >out
ls run | sed "s/^$host-/HOST-/"
"$SONDE" run clock -q -d sim:k20c --json '100%%-%i.json' --record '%i.rec' >out
ls -- *.json *.rec
echo "# hosts of simulated GPUs: a number on its host, or a place in the list"
hosts() { # SPEC: how each is called, and what it is
    "$SONDE" run properties -q -d "$1" -j 3 -o "h-%i.json" >out
    echo "$1: $(grep -o '"spec": "[^"]*"' h-* | tr '\n' ' ')"
    rm h-*
}
hosts sim:pair
hosts sim:eight:7,0
hosts sim:pair:1,eight:3,quick
hosts sim:pair,eight:1
"$SONDE" run properties -q -d sim:eight --json - | sed 's/.*"spec": "\([^"]*\)".*/\1/' | tr '\n' ' '
echo
"$SONDE" probe copy -d sim:pair | head -n 1
try run clock -q -d sim:pair:0,2 -o '%i.json'
echo "# a line each"
"$SONDE" run clock -q -d sim:quick,k20c,v100 --json - >lines
grep -c '^{.*"findings".*}$' lines
sed 's/.*"spec": "\([^"]*\)".*/\1/' lines
echo "# wrong ones"
for words in '--json one.json' '-o one.csv' '--record one.rec' '--csv -' \
    '--as prom' '-j 0' '--json %x.json' '--record %u.rec' '-d sim:quick,' \
    '-d quick,k20c'; do
    # As if typed: the words of each are apart.
    try run clock -d sim:quick,k20c $words
done
try probe clock -d sim:quick,k20c
try run clock -d all
try run clock -d sim:quick,nope,k20c --json '%i.json' -q
echo "# tasks"
task() { # variables...
    env "$@" "$SONDE" run clock -d sim:quick,k20c --json - 2>&1 |
        sed 's/.*"spec": "\([^"]*\)".*/\1/'
}
task SLURM_JOB_ID=1 SLURM_LOCALID=0 # a batch script: all
task SLURM_JOB_ID=1 SLURM_NODEID=2 SLURM_LOCALID=1 'SLURM_STEP_TASKS_PER_NODE=4(x2),2'
task SLURM_JOB_ID=1 SLURM_LOCALID=0 SLURM_STEP_TASKS_PER_NODE=1
task OMPI_COMM_WORLD_LOCAL_RANK=0 OMPI_COMM_WORLD_LOCAL_SIZE=2 SLURM_LOCALID=1
task OMPI_COMM_WORLD_LOCAL_RANK=3 OMPI_COMM_WORLD_LOCAL_SIZE=4
task PMI_RANK=1 PMI_SIZE=2
env PMI_RANK=5 PMI_SIZE=8 "$SONDE" run properties -d sim:eight -o '%i.json' 2>&1 >out
grep -o '"spec": "[^"]*"' 5.json
echo "# reports a line each are read"
"$SONDE" report lines --as csv | cut -d, -f 1,2 | grep 'clock.overhead'
"$SONDE" fleet - <lines
