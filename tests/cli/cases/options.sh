# Options that cannot be understood, and where they may stand.
. "$CLI/lib.sh"
try --recrod x
try --nothing-like-it
try -x
try --seed
try --seed 1e3
try --seed -1
try --seed 18446744073709551616
try --budget 0
try --budget soon
try --device=
try --quiet=yes
try list --record x
try list -d sim:k20c
try --version | sed "s/ ([0-9a-f]*)$//"
try topology --version | sed "s/ ([0-9a-f]*)$//"
try -- --version
