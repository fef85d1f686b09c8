# Output files that cannot be written are found before anything is measured,
# and nothing is left.
. "$CLI/lib.sh"
try -d sim:k20c --json no/such/folder.json
try -d sim:k20c --record no/such/folder.rec
try -d sim:k20c run latency --json .
try probe chase -d sim:k20c --record no/such/folder.rec
try report "$CLI/cases/example.json" --json no/such/folder.json |
    sed 's/report .* --json/report FILE --json/'
try isa add.u32 -d sim:k20c --json same --csv same
try -d sim:k20c --json same --record same
ls
