# A signal ends the measuring; what was measured is reported, with status 1.
# (A shell starts commands in the background with SIGINT ignored; so SIGTERM.)
# Told twice, as by timeout(1), it is no different; nor where the terminal is
# closed.
for signal in TERM HUP; do
    "$SONDE" topology -d sim:h200 --json out.json >text 2>err &
    sleep 0.3
    kill -$signal $! 2>/dev/null || {
        echo "too quick to be interrupted"
        exit 77
    }
    kill -$signal $! 2>/dev/null
    wait $!
    status=$?
    [ $status != 0 ] || { echo "too quick to be interrupted"; exit 77; }
    echo "status $status"
    sed 's/in part: .*structure.*/in part: STUDIES/' err
    grep -o -m 1 '"schema": "sonde-report-2"' out.json
    grep -o -m 1 '"status": "not_measured"' out.json
    [ -s text ] || echo "no text"
done
