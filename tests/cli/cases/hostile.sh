# A report that somebody else wrote steers no terminal, in whatever format: no
# control, no C1, no sign of direction is in what is printed, nor in errors.
. "$CLI/lib.sh"
# ESC ] 0 ; BEL, the CSI of C1, right-to-left override, DEL
evil='\\u001b]0;own\\u0007\\u009b31m\\u202e\\u007f'
sed "/\"name\"/s/Example/$evil/; s/\"13.0\"/\"$evil\"/
     /\"because\"/s/\": \"/&$evil/" "$CLI/cases/example.json" >hostile.json
grep -c u202e hostile.json
dangerous() {
    LC_ALL=C grep -c "$(printf '[\001-\010\013\014\016-\037\177]\\|\302[\200-\237]\\|\342\200[\252-\256]')"
}
printf '\033[2J\n\302\233\n\342\200\256\n\177\nplain ≥ é\n' | dangerous
for format in $("$SONDE" list formats | cut -f 1); do
    lines=$("$SONDE" report hostile.json --as "$format" 2>&1 | dangerous)
    [ "$lines" = 0 ] || echo "$format: $lines lines steer a terminal"
done
"$SONDE" report -vv hostile.json | dangerous
"$SONDE" compare hostile.json "$CLI/cases/example.json" -v | dangerous
"$SONDE" compare hostile.json "$CLI/cases/example.json" --json - | dangerous
"$SONDE" report hostile.json "$CLI/cases/example.json" --merge 2>&1 | dangerous
"$SONDE" report "$(printf 'no\033[2J\302\233such')" 2>&1
"$SONDE" report hostile.json | head -1
