# A line each: name, category; categories together, in the table's order.
"$SONDE" list instructions >rows || exit 1
grep -v -n "$(printf '^[a-z][a-zA-Z0-9_.]*\t[a-z]*$')" rows
cut -f 1 rows | sort | uniq -d
cut -f 2 rows | uniq
grep -c . rows | awk '$1 < 300 { print "only " $1 }'
grep '^add.u32' rows
