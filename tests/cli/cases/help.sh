# The overview, and that both ways to ask about a command are one.
"$SONDE" --help
"$SONDE" --help >a
"$SONDE" help >b
cmp a b
for command in topology run list explain probe ptx report help; do
    "$SONDE" help "$command" >a
    "$SONDE" "$command" --help >b
    cmp a b && head -1 a
done
# No line that a terminal of 80 columns would break.
for command in topology run isa bench list explain probe ptx report help; do
    "$SONDE" help "$command" | grep -E '.{80}'
done
exit 0
