# A report again: as text, with all that is known, in ASCII where the locale is
# no UTF-8, and as JSON the same byte for byte.
file=$CLI/cases/example.json
"$SONDE" report "$file"
"$SONDE" report -v "$file"
"$SONDE" report -vv "$file" | sed -n "/^ *.  L1/,/evidence/p"
LC_ALL=C "$SONDE" report -v "$file"
"$SONDE" report --json - "$file" | cmp - "$file"
"$SONDE" report --json copy.json "$file" | head -1
cmp copy.json "$file"
# From standard input; and of version 1, which had no run.
"$SONDE" report - <"$file" | head -1
sed 's/report-2/report-1/; s/"cuda"/"driver"/; /^  "run"/,/^  }/d' "$file" >old.json
"$SONDE" report --json - old.json | grep -c 'report-2\|"cuda"'
