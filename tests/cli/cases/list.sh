# Headings for a person, a line each for a script.
"$SONDE" list | grep -v '^ '
for what in profiles studies probes; do
    "$SONDE" list $what >rows || exit 1
    [ -s rows ] || echo "no $what"
    grep -v -n "$(printf '^[^ \t][^ \t]*\t[^\t][^\t]*$')" rows
done
"$SONDE" list probes | cut -f 1
