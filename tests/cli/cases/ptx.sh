# The kernel of an experiment: PTX, and the same each time.
"$SONDE" ptx chase bytes=4096 stride=128 -d sim:k20c >a || exit 1
"$SONDE" -d sim:k20c ptx chase stride=128 bytes=4K >b || exit 1
cmp a b
grep -o -m 1 '^\.version' a
grep -o -m 1 '\.visible \.entry' a
