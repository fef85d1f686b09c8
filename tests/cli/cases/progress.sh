# Where there is no terminal a long run says which study it is at.
"$SONDE" run bandwidth -d sim:k20c --budget 5.5 >/dev/null 2>err &
sleep 0.3
kill -STOP $!
sleep 5
kill -CONT $!
wait $!
grep -c 'study [0-9]* of [0-9]*, [0-9]* s$' err | sed 's/^[1-9].*/told/'
