# An experiment by hand: a heading, then rows of as many whole numbers.
"$SONDE" probe chase bytes=4096 stride=128 -d sim:k20c >table || exit 1
head -1 table | tr '\t' '\n' | head -1
awk -F '\t' 'NR == 1 { n = NF }
             /^#/ { print; next }
             NR > 1 && (NF != n || /[^0-9\t-]/) { print "row " NR ": " $0 }
             END { if (NR < 2) print "no rows" }' table
# The median's formula, evaluated here, gives the median.
awk -F '\t' 'NR > 1 && !/^#/ { print ($5 - $4) / $3 }' table | sort -n |
    awk '{ v[NR] = $1 } END { print v[(NR + 1) / 2] }'
# Of each probe, what is made of its columns; some need another GPU.
for probe in $("$SONDE" list probes | cut -f 1); do
    "$SONDE" probe $probe -d sim:quick 2>/dev/null |
        sed -n "s/^# median [0-9.]* \(.*\); quartiles.*/$probe: \1/p"
done
