# A snippet that never ends is stopped at its deadline.
. "$CLI/lib.sh"
try bench 'add.u32 %r0, %r0, %r1; L: bra L;' --levels 3 -q -d sim:v100
