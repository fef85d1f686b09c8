# How the cost of one instruction came about.
. "$CLI/lib.sh"

"$SONDE" isa --explain xor.b32 --levels 3 -d sim:v100 >text
echo "[$?]"
# Of the kernel only that it is there: instructions of the two regions.
grep -v '^    \|^\.\|^LAP\|^DONE\|^[{}]' text
grep -c "xor.b32 %r0, %r0, %r1;" text

"$SONDE" isa --explain abs.s32 --levels 0,3 -d sim:v100 | grep '^-O\|^abs\|chain'

try isa --explain add.u32 add.s32 -d sim:v100
try isa --explain -d sim:v100
try isa --explain add.u33 -d sim:v100
try isa --explain div.s32 -d sim:v100
try isa --explain ld.shared.u32 -d sim:v100
