# Wrong usages: each ends with this status and says one sentence, in which the
# word stands that tells what to do next.  STATUS|WORD|WORDS OF THE COMMAND
file=$CLI/cases/example.json
echo '{}' >empty.json
: >void.json
echo '[1' >cut.json
sed 's/report-2/report-9/' "$file" >newer.json
echo 'add.u32 %r0, %r0, %r1;' >a.ptx
mkdir folder
printf '\377\376\000\001' >bytes.json
echo '{"schema": "sonde-report-9"}' >later.json
echo '{"schema": "of-others-1", "device": {}, "findings": {}}' >foreign.json
echo '[]' >none-in-it.json
truncate -s 3G enormous.json
head -c 99999 /dev/zero | tr '\0' '[' >deep.json
newline=$(printf 'clock\n.') && newline=${newline%.}
bytes=$(printf '\377\376')
long=$(head -c 99999 /dev/zero | tr '\0' a)
add='add.u32 %r0, %r0, %r1;'
lines=0
while IFS='|' read -r status word line; do
    [ -n "$status" ] || continue
    eval "\"\$SONDE\" $line" >out 2>err </dev/null
    got=$?
    [ $got = "$status" ] || echo "sonde $line: status $got, not $status"
    [ "$(wc -l <err)" = 1 ] || { echo "sonde $line: not one line:"; cat err; }
    grep -q -- "$word" err || { echo "sonde $line: no '$word':"; cat err; }
    [ ! -s out ] || echo "sonde $line: something on standard output"
    lines=$((lines + 1))
done <<'END'
2|topology|tpology
2|--help|xyzzy
2|--help|''
2|help topology|topology l1
2|STUDY|run
2|NAME|probe
2|NAME|ptx
2|NAME|explain
2|FILE|report
2|cannot read a.json|report a.json b.json
2|studies|list studes
2|devices|list everything
2|help list|list devices profiles
2|report|help raport
2|help help|help run isa
2|--record|--recrod x
2|--help|--nothing-like-it
2|--help|-x
2|SPEC|-d
2|SPEC|--device=
2|FILE|--json
2|FILE|--json=
2|needs a value|--seed
2|whole number|--seed 1e3
2|whole number|--seed -1
2|whole number|--seed 18446744073709551616
2|larger than 0|--budget 0
2|larger than 0|--budget -3
2|larger than 0|--budget soon
2|larger than 0|--budget nan
2|no value|--quiet=yes
2|no value|--strict=yes
2|always|--color
2|always|--color maybe
2|bash|--completion tcsh
2|help list|list --record x
2|help list|list -d sim:k20c
2|help explain|explain latency --json x
2|help probe|probe chase --json x
2|help ptx|ptx chase --record x
2|help report|report --seed 1 x.json
2|sonde list formats|report a.json -o x
2|did you mean 'json'|report a.json --as jsn
2|sonde list formats|-d sim:quick -o gpu.xyz
2|help run|run clock --levels 3
2|help topology|topology --merge
2|no/such|-d sim:quick -o no/such/file.csv
2|commas|--require l1.size, -d sim:quick
2|commas|--require ,l1.size -d sim:quick
2|commas|--require l1.size,,l2.size -d sim:quick
2|value|--require '' -d sim:quick
3|sim:h200|-d h200
3|sim:k20c|-d k20c run clock
3|k20c|-d sim:k20
3|sonde list|-d sim:xyzzy
3|sonde list|-d xyzzy
3|sonde list|-d opencl:0
3|none.json|-d sim:./none.json
2|empty.json|-d sim:./empty.json
2|void.json|-d sim:./void.json
2|cut.json|-d sim:./cut.json
2|folder|-d sim:./folder/
2|none.rec|-d replay:none.rec
2|not a recording|-d replay:empty.json
2|void.json|-d replay:void.json
2|copy the file|-d replay:empty.json --record x.rec
2|latency|run latencyy -d sim:quick
2|sonde list|run xyzzy -d sim:quick
2|sonde list|run size, -d sim:quick
2|sonde list|run ,size -d sim:quick
2|chase|probe chas -d sim:quick
2|sonde list|probe xyzzy -d sim:quick
2|stride|probe chase strid=128 -d sim:quick
2|stride|probe chase stride=0 -d sim:quick
2|stride|probe chase stride=many -d sim:quick
2|stride|probe chase stride -d sim:quick
2|chase|ptx chas -d sim:quick
2|latency|explain latncy
2|sonde list|explain xyzzy
2|sonde list|explain sim:xyzzy
2|sonde list|explain sim:./empty.json
2|matches|isa xyzzy -d sim:quick
2|matches|isa 'zz.*' -d sim:quick
2|0,3|isa add.u32 --levels 5 -d sim:quick
2|0,3|isa add.u32 --levels 0,,3 -d sim:quick
2|0,3|isa add.u32 --levels O3 -d sim:quick
2|one instruction|isa --explain -d sim:quick
2|one instruction|isa --explain add.u32 sub.u32 -d sim:quick
2|sonde bench|bench -d sim:quick
2|sonde bench|bench 'add.u32 %r0, %r0, %r1;' --file a.ptx -d sim:quick
2|none.ptx|bench --file none.ptx -d sim:quick
2|folder|bench --file folder -d sim:quick
2|1 to 8|bench 'add.u32 %r0, %r0, %r1;' --chains 9 -d sim:quick
2|1 to 32|bench 'add.u32 %r0, %r0, %r1;' --warps 33 -d sim:quick
2|guard|bench 'add.u32 %r0, %r0, %r1;' --copies twice -d sim:quick
2|none.json|report none.json
2|not a report|report void.json
2|schema|report empty.json
2|cut.json|report cut.json
2|newer|report newer.json
2|folder|report folder
2|not a report|report -
2|not a report|report /dev/null
2|no/such|run clock -d sim:quick --json no/such/file
2|no/such|run clock -d sim:quick --record no/such/file
2|folder|run clock -d sim:quick --json folder
2|no/such|isa add.u32 -d sim:quick --csv no/such/file
2|two files|isa add.u32 -d sim:quick --csv x --json x
2|two files|run clock -d sim:quick --record x --json x
3|sim:NAME|run clock --json x
3|sim:NAME|isa add.u32 --csv x
3|sim:NAME|run clock --record x
3|-d auto|run clock --json x
3|-d auto|isa add.u32 --csv x
3|GPU|-d cuda:0
3|GPU|-d cuda:99
3|sim:NAME|-d cuda:x
3|GPU|-d cuda:GPU-0
3|after the colon|-d cuda:
3|after the colon|-d sim: run clock
3|after the colon|-d replay: run clock
3|did you mean 'h200'|-d sim:H200 run clock
3|did you mean 'h200'|-d sim:h200x run clock
3|sonde list|-d 0 run clock
3|sonde list|-d gpu run clock
2|l1.size|explain l1.sze
2|sim:k20c|explain sim:k20
2|add.u32|explain ad.u32
2|finding|run l1.size -d sim:quick
2|probe|run chase -d sim:quick
2|instruction|run add.u32 -d sim:quick
2|sonde list|run all -d sim:quick
2|study|probe latency -d sim:quick
2|finding|ptx l1.size -d sim:quick
2|sonde list instructions|isa l1.size -d sim:quick
2|given twice|probe chase bytes=4096 bytes=8192 -d sim:quick
2|8 to|ptx chase bytes=1 -d sim:quick
2|whole number|probe chase bytes= -d sim:quick
2|sonde explain chase|probe chase =4 -d sim:quick
2|not known to the simulator|bench 'foo.u32 %r0, %r0, %r1;' -d sim:quick
2|no ';'|bench add.u32 -d sim:quick
2|--file a.ptx|bench a.ptx -d sim:quick
2|--file ./none|bench ./none -d sim:quick
2|no report of sonde|report empty.json
2|no report of sonde|compare empty.json empty.json
2|not closed|bench '{ .reg .b32 x; add.u32 x, x, x;' -d sim:quick
2|whole kernel|bench '.visible .entry k() { ret; }' -d sim:quick
2|NAME=NUMBER|bench 'add.u32 %r0, %r0, %r1;' --values r9=1 -d sim:quick
2|setup|bench 'add.u32 %r0, %r0, %r1;' --init oops -d sim:quick
2|1 to 8|bench 'add.u32 %r0, %r0, %r1;' --chains 0 -d sim:quick
2|1 to 32|bench 'add.u32 %r0, %r0, %r1;' --warps 0 -d sim:quick
2|--explain and --json|isa --explain add.u32 --json x -d sim:quick
2|--explain and --csv|isa --explain add.u32 --csv x -d sim:quick
2|--explain and --parallelism|isa --explain add.u32 --parallelism -d sim:quick
2|--explain and --strict|isa --explain add.u32 --strict -d sim:quick
2|LIST|isa add.u32 --levels '' -d sim:quick
2|name a file|isa add.u32 --csv - --json - -d sim:quick
2|name a file|run clock --record - -d sim:quick
2|larger than 0|--budget 1s run clock -d sim:quick
2|larger than 0|--budget 1e999 run clock -d sim:quick
2|whole number|--seed 0x run clock -d sim:quick
2|replay:|report "$TOP/tests/replay/h200.rec"
2|not a report|report "$TOP/results/h200.txt"
2|not a report|report "$SONDE"
2|not a recording|-d replay:"$file"
2|schema|-d sim:"$file"
2|help list|list instructions add
2|sonde --help|version
2|sonde --help|-
2|stands alone|--man x
2|bash, zsh or fish|--completion
2|bash, zsh or fish|--completion bash zsh
2|no value|--verbose=2
2|sonde --help|-V
2|BASE.json|compare
2|BASE.json|compare a.json
2|none.json|compare none.json none.json
2|none.json|validate none.json
2|help validate|validate --levels 3
2|needs a value|report --as
3|sonde list|-d all
3|sim:NAME|-d cuda:0,x
3|sim:NAME|-d cuda:0,1
3|sim:NAME|-d sim:quick,cuda:0
3|sonde list|-d sim:quick,x
2|none.rec|-d sim:quick,replay:none.rec
2|empty.json|-d sim:quick,sim:./empty.json
2|commas|-d sim:quick,,k20c
2|commas|-d all,all
3|sonde list|-d ' '
3|sonde list|-d 'sim:quick '
3|sonde list|-d "sim:$newline"
3|sonde list|-d "sim:$bytes"
3|sonde list|-d "sim:$long"
3|sonde list|-d "$long"
2|did you mean 'clock'|run "$newline" -d sim:quick
2|sonde list|run "$bytes" -d sim:quick
2|sonde list|run clock '' -d sim:quick
2|sonde --help|"$bytes"
2|sonde --help|"$long"
2|sonde list|isa "$newline" -d sim:quick
2|sonde list|isa "$bytes" -d sim:quick
2|sonde list|explain "$bytes"
2|whole number|run clock --seed "1$newline" -d sim:quick
2|whole number|run clock -j 99999999999999999999 -d sim:quick
2|1 or more|run clock -j 0 -d sim:quick,k20c
2|larger than 0|run clock --budget inf -d sim:quick
2|larger than 0|run clock --budget 1e-999 -d sim:quick
2|give it once|run clock --json a --json b -d sim:quick
2|give it once|run clock -o a.csv -o b.csv -d sim:quick
2|give it once|run clock --require a.b --require c.d -d sim:quick
2|give it once|run clock --record a --record b -d sim:quick
2|otherwise|run clock --json folder/../x --csv x -d sim:quick
2|--as|run clock -d sim:quick -o folder
2|Is a directory|run clock -d sim:quick --record folder
2|Not a directory|run clock -d sim:quick --json a.ptx/x
2|too long|run clock -d sim:quick --json "$long"
2|not a recording|-d replay:bytes.json
2|folder|-d replay:folder
2|not a report|report bytes.json
2|larger than|report enormous.json
2|parsing depth|report deep.json
2|newer|report later.json
2|sonde-report-2|report foreign.json
2|without a report|report none-in-it.json
2|cannot read ''|report ''
2|newer|compare "$file" later.json
2|not a report|compare "$file" bytes.json
2|share|compare "$file" "$file" --tolerance -1
2|larger than 0|fleet "$file" --alarms 0
2|regular expression|fleet "$file" --rack '('
2|none|fleet "$file" --since none
2|not a report|check bytes.json -d sim:quick
2|help check|check "$file" "$file"
2|newer|validate later.json -d sim:quick
2|no instruction|bench ';' -d sim:quick
2|does not fit|bench "$add" --values r0=4294967296 -d sim:quick
2|does not fit|bench "$add" --values r0=-99999999999999999999 -d sim:quick
2|not text|bench --file bytes.json -d sim:quick
2|no instruction|bench --file void.json -d sim:quick
2|help bench|bench "$add" "$add" -d sim:quick
2|whole number|probe chase bytes=99999999999999999999 -d sim:quick
2|sonde explain chase|probe chase "bytes$newline=1" -d sim:quick
2|is not one of|probe chase space=xyz -d sim:quick
2|is not one of|ptx chase order= -d sim:quick
2|bash, zsh or fish|--completion bash fish
END
# In a batch job nobody reads that a GPU is simulated; -d auto takes one.
SLURM_JOB_ID=1 "$SONDE" run clock -q >out 2>err
[ $? = 3 ] && grep -q 'SLURM_JOB_ID.*-d auto' err || cat err
SLURM_JOB_ID=1 "$SONDE" run clock -q -d auto --json auto.json >out 2>err
[ $? = 0 ] && grep -q '"simulated": true' auto.json || cat err
[ "$lines" -ge 120 ] || echo "only $lines wrong usages"
# Results that nobody can get: closed, and full.
"$SONDE" run clock -q -d sim:quick --json /dev/full >out 2>err
[ $? = 2 ] && grep -q 'No space left' err || cat err
