# Commands that are none, and words that they cannot use.
. "$CLI/lib.sh"
try tpology
try xyzzy
try topology l1
try run
try probe
try ptx
try explain
try report
try report a.json b.json
try list profile
try list devices profiles
try help raport
