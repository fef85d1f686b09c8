# Headings for a person, a line each for a script.
"$SONDE" list | grep -v '^ '
for what in profiles studies probes; do
    "$SONDE" list $what >rows || exit 1
    [ -s rows ] || echo "no $what"
    grep -v -n "$(printf '^[^ \t][^ \t]*\t[^\t][^\t]*\(\t[^\t]*\)*$')" rows
done
# Of studies a third column: when they run, and what that takes.
"$SONDE" list studies | cut -f 3 | sed 's/;.*//' | sort | uniq -c | tr -s ' '
"$SONDE" list studies | grep '^tensor'
"$SONDE" list studies | grep -c 'H200$'
# No line that a terminal of 80 columns would break.
"$SONDE" list | grep -E '.{81}'
"$SONDE" list probes | cut -f 1
