# No GPU and no -d: one line says so and why, and that what follows is
# simulated; the results are not disturbed.
"$SONDE" ptx chase >out 2>err || exit 1
[ -s out ] || echo "no results"
sed 's/(.*)/(WHY)/; s/simulated sim:[^ ]*/simulated sim:NAME/' err
"$SONDE" ptx chase -d sim:k20c 2>&1 >out
