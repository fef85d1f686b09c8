# A driver that is there and fails is said to, and nothing is simulated instead.
. "$CLI/lib.sh"
SONDE_LIBCUDA=$(dirname "$SONDE")/tests/fake/libcuda.so.1
[ -e "$SONDE_LIBCUDA" ] || skip "the fake driver is not built"
export SONDE_LIBCUDA FAKE_CUDA_FAIL

failing() { # entry:code arguments...
    FAKE_CUDA_FAIL=$1
    shift
    echo "$FAKE_CUDA_FAIL"
    try "$@"
}
failing cuInit:999 run clock
failing cuInit:803 run clock --json report.json
failing cuInit:801
failing cuDeviceGetCount:3 isa add.u32
failing cuDeviceGet:101 run clock
failing cuDeviceGetAttribute:1 run clock
failing cuCtxCreate_v2:2 run clock -d cuda:0
ls
# That there is none is no failure.
FAKE_CUDA_FAIL=cuInit:100
"$SONDE" run clock -q >out 2>err && tail -1 out
cat err
