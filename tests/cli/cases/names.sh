# Devices, studies, probes and parameters that do not exist: each one sentence,
# with the nearest name where there is one.
. "$CLI/lib.sh"
try_says k20c -d sim:k20 topology
try_says cuda:N -d cud:0 topology
try_says latency run latencyy -d sim:k20c
try_says chase probe chas -d sim:k20c
try_says chase ptx chas -d sim:k20c
try_says stride probe chase strid=128 -d sim:k20c
try_says stride probe chase stride=0 -d sim:k20c
try_says latency explain latncy
