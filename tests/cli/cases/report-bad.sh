# Files that are no report: line, key, exit status 2.
. "$CLI/lib.sh"
file=$CLI/cases/example.json
echo nothing >text.json
head -20 "$file" >cut.json
sed 's/"at_least"/"at_lest"/' "$file" >status.json
sed 's/"l1.line"/"l1.size"/' "$file" >twice.json
sed 's/"l1.line"/"l1 \\u001b[2J"/' "$file" >escape.json
sed 's/report-2/report-3/' "$file" >schema.json
for name in missing text cut status twice escape schema; do
    try report $name.json
done
