# An experiment by hand: a heading, then rows of as many whole numbers.
"$SONDE" probe chase bytes=4096 stride=128 -d sim:k20c >table || exit 1
head -1 table | tr '\t' '\n' | head -1
awk -F '\t' 'NR == 1 { n = NF }
             NR > 1 && (NF != n || /[^0-9\t-]/) { print "row " NR ": " $0 }
             END { if (NR < 2) print "no rows" }' table
