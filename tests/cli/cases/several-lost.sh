# A GPU that is lost, or hangs, costs no other's report.
. "$CLI/lib.sh"
SONDE_LIBCUDA=$(dirname "$SONDE")/tests/faulty/libcuda.so.1
[ -e "$SONDE_LIBCUDA" ] || skip "the faulty driver is not built"
export SONDE_LIBCUDA
export FAULT_GPUS=3 FAULT_GPU=1
unset CUDA_VISIBLE_DEVICES
lose() { # fault
    FAULT=$1 "$SONDE" run clock --no-cache -d all -o '%i.json' >out 2>err
    echo "$1: $?"
    grep -h -o '"spec": "[^"]*"\|"clock.measured"\|"GPU-.*' -- *.json
    sed 's/: .* failed.*/: … failed/; /cuda:1: cuda/d' err
    rm -f -- *.json
}
lose cuCtxCreate_v2:2
lose cuMemAlloc_v2:lost:700@2
# Two words for one GPU.
"$SONDE" run cached --no-cache -d cuda:0,0 >out 2>err
grep -c 'another sonde measure' err
