# On a terminal of 80 columns and 24 lines the whole answer is on the screen, with
# colours, and nothing is left of what told of the progress.
recording=replay:$TOP/tests/replay/h200.rec
command -v script >/dev/null || { echo "there is no script(1)"; exit 77; }
TERM=xterm script -qec "stty rows 24 cols 80; \"$SONDE\" -d $recording" typed \
    >/dev/null </dev/null
# What is between a return and an erasure was gone before the answer came; that
# the recording lacks what is asked since is no part of it.
sed '1d;$d' typed | tr -d '\r' | grep -v '^Script' |
    sed 's/.*\x1b\[K//; s/\x1b\[[0-9;]*m//g' |
    grep -v '^sonde: h200.rec does not hold' >screen
head -1 screen | cut -d ' ' -f 1-2
# The last line is where the prompt comes.
[ "$(wc -l <screen)" -le 24 ] || echo "$(wc -l <screen) lines"
[ "$(wc -L <screen)" -le 80 ] || echo "$(wc -L <screen) columns"
grep -q "$(printf '\033')\[K" typed || echo "no progress"
grep -q '^sonde:' screen && echo "a message among the answer"
# A dumb terminal gets no colours.
TERM=dumb script -qec "stty rows 24 cols 80; \"$SONDE\" -q -d sim:quick run clock" typed \
    >/dev/null </dev/null
grep -c "$(printf '\033')\[[0-9]" typed
# The same in tmux, where there is one: the first line and the last are seen.
if command -v tmux >/dev/null; then
    tmux -L sonde$$ -f /dev/null new-session -d -x 80 -y 24 \
        "'$SONDE' -d $recording 2>/dev/null; touch done; sleep 60"
    until [ -e done ]; do sleep 0.2; done
    sleep 0.2
    tmux -L sonde$$ capture-pane -p >pane
    tmux -L sonde$$ kill-server
    sed -n '1p' pane | cut -d ' ' -f 1-2
    grep -c '^Open: ' pane
else
    head -1 screen | cut -d ' ' -f 1-2
    grep -c '^Open: ' screen
fi
