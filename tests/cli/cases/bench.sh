# Snippets of the user's: what they cost, and what is wrong with some.
. "$CLI/lib.sh"

gpu="-d sim:v100"
fma='fma.rn.f32 %f0, %f0, %f1, %f2;'

# "latency at -O3, at -O0, throughput" of a snippet.
costs() {
    "$SONDE" bench "$@" $gpu >text || cat text
    echo "$* ->$(sed -n 's/^  bench//p' text)"
}

try bench "$fma" $gpu
try bench "$fma" --csv - $gpu
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

costs 'div.u32 %r0, %r1, %r0;' --values 'r0=64 r1=64'

# Chains through scratch memory; loads have noise, so whole cycles will do.
for space in shared global; do
    echo "$space $("$SONDE" bench "ld.$space.u64 %rd0, [%rd0];" --levels 0 \
        --init "st.$space.u64 [%rd_$space], %rd_$space;
                mov.u64 %rd0, %rd_$space;" --csv - $gpu |
        awk -F , 'NR == 2 { printf "%d", $3 }')"
done

costs "$fma" --chains 1 --warps 4
costs "$fma" --chains 8 --warps 1
costs 'xor.b32 %r0, %r0, %r1;' --copies swap
"$SONDE" bench "$fma" --parallelism --levels 3 --json many.json $gpu >text
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
    --csv - $gpu | cut -d , -f 1-4
