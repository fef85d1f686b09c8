# Snippets of the user's: what they cost, and what is wrong with some.
. "$CLI/lib.sh"

gpu="-d sim:v100"
fma='fma.rn.f32 %f0, %f0, %f1, %f2;'

# "latency at -O3, at -O0, throughput" of a snippet.
costs() {
    "$SONDE" -q bench "$@" $gpu >text || cat text
    echo "$* ->$(sed -n 's/^  bench//p' text)"
}

try bench "$fma" $gpu
try bench "$fma" --as costs.csv $gpu
"$SONDE" bench "$fma" --json - --levels 1 $gpu | grep '"bench'

# From a file, with comments and lines of its own; from standard input.
cat >two.ptx <<'END'
// Two that wait for each other.
fma.rn.f32 %f0, %f0, %f1, %f2; /* of
                                * two lines */
add.f32 %f0,
        %f0, %f1;
END
costs --file two.ptx
"$SONDE" bench - $gpu <two.ptx | grep '^  bench'
try bench --file none.ptx $gpu
try bench --file . $gpu

# A block as nvcc -ptx prints it: registers that it declares, of any name, in
# blocks within blocks, with comments and lines of source.
cat >block.ptx <<'END'
{
	.reg .pred 	%p<3>;
	.reg .b16 	%rs<8>;
	.reg .f32 	%f<4>;
	.loc 1 3 4
	// begin inline asm
	{
	.reg .pred p;
	.reg .b32 t1, %f9;
	setp.ne.s32 p, %r13, 0;
	selp.b32 t1, 1, 2, p;
	add.s32 %r13, t1, %r13;
	}
	// end inline asm
	mul.lo.s16 	%rs5, %rs7, 3;
	add.s16 	%rs7, %rs5, 1;
	setp.lt.s16 	%p1, %rs7, 9;
	@%p1 bra 	$L__BB0_3;
	fma.rn.f32 	%f1, %f1, %f2, 0f3FC00000;
$L__BB0_3:
}
END
costs --file block.ptx --levels 3
"$SONDE" bench - --levels 3 $gpu <block.ptx | grep '^  bench'
# The same as if its names were ours.
costs '{ .reg .f32 x, y; fma.rn.f32 x, x, y, y; }'
costs '.reg .f64 %rd<9>; fma.rn.f64 %rd0, %rd0, %rd1, %rd2;' --levels 3
costs 'fma.rn.f64 %fd0, %fd0, %fd1, %fd2;' --levels 3
try bench '{ .reg .f32 x; fma.rn.f32 x, x, x, x;' $gpu
try bench 'fma.rn.f32 %f0, %f0, %f0, %f0; }' $gpu
try bench '{ .reg .b128 x; mov.b128 x, x; }' $gpu
try bench '{ .reg .f32 x<0>; }' $gpu
try bench '{ .reg .f32 x mov.f32 x, x; }' $gpu
try bench '.reg .f32 x;
{ .reg .b32 x; }
add.u32 x, x, x;' $gpu
try bench '.visible .entry k() { ret; }' $gpu
try bench 'add.u32 %r0, %r0, %r1; ret;' $gpu

costs 'div.u32 %r0, %r1, %r0;' --values 'r0=64 r1=64'

# Chains through scratch memory; loads have noise, so whole cycles will do.
for space in shared global; do
    echo "$space $("$SONDE" bench "ld.$space.u64 %rd0, [%rd0];" --levels 0 \
        --init "st.$space.u64 [%rd_$space], %rd_$space;
                mov.u64 %rd0, %rd_$space;" --as costs.csv $gpu |
        awk -F , 'NR == 2 { printf "%d", $3 }')"
done

costs "$fma" --chains 1 --warps 4
costs "$fma" --chains 8 --warps 1
costs 'xor.b32 %r0, %r0, %r1;' --copies swap
"$SONDE" -q bench "$fma" --parallelism --levels 3 --json many.json $gpu >text
grep -c throughput_by_warps many.json

# No chain, and nothing that runs.
try bench 'add.u32 %r0, %r1, %r2;' $gpu
try bench 'exit;' $gpu
try bench 'not.b32 %r0, %r0;' --copies swap $gpu

# What is wrong is said of the snippet's own line and column.
try bench 'add.u32 %x0, %x0, %r1;' $gpu
try bench "add.u32 %r0, %r0, %r1;
  addd.u32 %r0, %r0, %r1;" $gpu
try bench "add.u32 %r0, %r0, // one
    oops;" $gpu
try bench 'add.u32 %r0, %r0, %r1' $gpu
try bench '' $gpu
try bench "add.u32 %r0, %r0, 'a;" $gpu
try bench "$fma" --init 'mov.u32 %r5, 1' $gpu
try bench "$fma" --init 'mov.u32 %r5, 1;
movv.u32 %r5, 1;' $gpu
try bench "$fma" --values 'f1=many' $gpu
try bench "$fma" --values 'f9=1' $gpu
try bench "$fma" --values 'f1' $gpu
try bench "$fma" --copies gard $gpu
try bench "$fma" --chains 9 $gpu
try bench "$fma" --warps 33 $gpu
try bench "$fma" --levels 7 $gpu
try bench "$fma" "$fma" $gpu
try bench "$fma" --file two.ptx $gpu
try bench $gpu

# Memory that is not its own.
try bench 'st.global.u32 [%rd_global+1048576], %r0;' $gpu
try bench 'st.global.u32 [%rd_global+-4], %r0;' $gpu
try bench 'ld.global.u32 %r1, [%rd0];' --levels 3 $gpu
try bench 'ld.shared.u32 %r1, [%rd_shared+16384];' --levels 3 $gpu
"$SONDE" bench 'st.global.u32 [%rd_global+1048572], %r0;' --levels 3 \
    --as costs.csv $gpu | cut -d , -f 1-4
