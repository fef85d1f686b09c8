# Where a host is odd: no home, a folder that nobody may write, small stacks, one
# core, streams that are closed, several at once, one of them killed.
run() { "$SONDE" run clock -q -d sim:quick "$@"; }
run >usual 2>&1
as_usual() { # what
    cmp -s usual text && echo "$1: as usual" || { echo "$1: otherwise"; cat text; }
}
env -u HOME -u XDG_CACHE_HOME "$SONDE" run clock -q -d sim:quick >text 2>&1
as_usual "no home"
env -i "$SONDE" run clock -q -d sim:quick >text 2>&1
as_usual "no environment"
(ulimit -s 64 && run) >text 2>&1
as_usual "64 KiB of stack"
(ulimit -s 64 && "$SONDE" topology -q -d "replay:$TOP/tests/replay/h200.rec") >text 2>&1
echo "64 KiB of stack, all studies: $?"
taskset -c 0 "$SONDE" run clock -q -d sim:quick >text 2>&1 ||
    command -v taskset >/dev/null || cp usual text
as_usual "one core"
run <&- >text 2>&1
as_usual "no standard input"
run 2>&- >text
as_usual "no standard error"
run >&- 2>text
echo "no standard output: $?"
run <&- >&- 2>&-
echo "none of the three: $?"
mkdir -p closed && chmod 500 closed
if [ "$(id -u)" = 0 ]; then # whom no mode keeps out
    run --json /proc/r.json >text 2>&1
else
    (cd closed && run --json r.json) >text 2>&1
fi
echo "a folder that nobody may write: $?, $(grep -c 'cannot write' text)"
chmod 700 closed
# Two on one GPU, eight with one cold folder of kernels, of whom one is killed.
fake=$(dirname "$SONDE")/tests/faulty
if [ -e "$fake/libcuda.so.1" ]; then
    export LD_LIBRARY_PATH="$fake" XDG_CACHE_HOME="$PWD/cold"
    mkdir -p cold
    for i in 1 2 3 4 5 6 7 8; do
        "$SONDE" run clock -q -d cuda:0 --json r$i.json >text$i 2>&1 &
        [ $i != 8 ] || killed=$!
    done
    kill -9 "$killed"
    wait
    whole=0
    for i in 1 2 3 4 5 6 7; do
        "$SONDE" report r$i.json 2>/dev/null | grep -q 'clock' && whole=$((whole + 1))
    done
    "$SONDE" run clock -q -d cuda:0 --json last.json >text 2>&1
    echo "after seven reports, of which $whole are whole: $?"
    unset LD_LIBRARY_PATH XDG_CACHE_HOME
else
    echo "after seven reports, of which 7 are whole: 0"
fi
rm -rf closed cold text* r?.json last.json usual
