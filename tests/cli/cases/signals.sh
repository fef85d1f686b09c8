# A command that waits for something ends by a signal at once, whatever it is:
# here for a pipe into which nobody writes.
mkfifo pipe.json
end_by() { # command...
    "$SONDE" "$@" >out 2>err &
    sleep 0.02
    kill $!
    wait $! 2>wait
    echo "$1: status $?"
}
for command in "report pipe.json" "ptx -d sim:./pipe.json chase" \
    "probe -d replay:pipe.json clock" "run -d sim:./pipe.json clock"; do
    end_by $command
done 2>shell
# What does not fit into a file of a limited size is told of, what was written
# before stays, and the report on standard output is whole.
"$SONDE" run sector banks -q -d sim:quick >whole
(
    ulimit -f 8
    "$SONDE" run sector banks -q -d sim:quick --json r.json --record r.rec >text
    echo "status $?"
)
cmp text whole
ls
"$SONDE" run clock -q -d replay:r.rec | grep -c simulated
# Files have the mode that the umask leaves.
umask 027
"$SONDE" run clock -q -d sim:quick --json mode.json >text
stat -c %a mode.json
