# A report again: as text, with all that is known, in ASCII where the locale is
# no UTF-8, and as JSON the same byte for byte.
file=$CLI/cases/example.json
"$SONDE" report "$file"
"$SONDE" report -v "$file"
LC_ALL=C "$SONDE" report "$file"
"$SONDE" report --json - "$file" | cmp - "$file"
"$SONDE" report --json copy.json "$file" | head -1
cmp copy.json "$file"
