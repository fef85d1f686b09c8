# Tasks of mpirun over simulated GPUs: each takes its own, and each is taken once.
. "$CLI/lib.sh"
mpirun --version 2>/dev/null | grep -q 'Open MPI' ||
    skip "mpirun is not installed (openmpi-bin)"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
mpirun -n 4 --oversubscribe "$SONDE" run clock -q -d sim:quick,k20c,v100,p100 \
    -o 'run/%h-%i-%u.json' >out 2>err </dev/null || cat err
reports_in run
