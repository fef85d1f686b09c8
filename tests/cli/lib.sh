# What cases share: . "$CLI/lib.sh"

# Shows a command line, what it prints on either stream, and its exit status.
try() {
    echo "\$ sonde $*"
    "$SONDE" "$@" 2>&1
    echo "[$?]"
}

# The same, showing only whether standard error has one sentence with a word
# in it, for sentences that are others' to change.
try_says() { # word arguments...
    word=$1
    shift
    echo "\$ sonde $*"
    "$SONDE" "$@" >out 2>err
    status=$?
    cat out
    [ "$(wc -l <err)" = 1 ] || echo "not one line"
    if grep -q -- "$word" err; then echo "says $word"; else cat err; fi
    echo "[$status]"
}

skip() {
    echo "$*"
    exit 77
}

# The GPUs that reports in a folder are of, and how the files are called.
reports_in() {
    sed -n 's/.*"spec": "\(.*\)",/\1/p' "$1"/*.json | sort
    ls "$1" | sed "s/$(uname -n)/HOST/"
}
