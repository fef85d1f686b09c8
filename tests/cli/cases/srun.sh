# Tasks of srun over simulated GPUs: each takes its own, and each is taken once.
# The cluster is this host, with folders, keys and ports of its own.
. "$CLI/lib.sh"
for name in srun slurmctld slurmd munged; do
    command -v $name >/dev/null || skip "$name is not installed (slurm-wlm, munge)"
done
[ "$(id -u)" = 0 ] || skip "daemons of Slurm want root"

end_cluster() {
    for pid in slurmd.pid slurmctld.pid munge/pid; do
        [ ! -s $pid ] || kill "$(cat $pid)"
    done
}
trap end_cluster EXIT
host=$(uname -n) port=$((20000 + $$ % 20000))
mkdir -m 711 munge
mkdir state spool
head -c 1024 /dev/urandom >munge/key
chmod 400 munge/key
munged --force --key-file="$PWD/munge/key" --socket="$PWD/munge/s" \
    --pid-file="$PWD/munge/pid" --log-file="$PWD/munge/log" \
    --seed-file="$PWD/munge/seed" 2>err || skip "munged does not start: $(cat err)"
cat >slurm.conf <<END
ClusterName=sonde
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$PWD/munge/s
CredType=cred/munge
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmctldPidFile=$PWD/slurmctld.pid
SlurmdPidFile=$PWD/slurmd.pid
SlurmctldLogFile=$PWD/slurmctld.log
SlurmdLogFile=$PWD/slurmd.log
StateSaveLocation=$PWD/state
SlurmdSpoolDir=$PWD/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
SelectType=select/linear
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES OverSubscribe=FORCE State=UP
END
export SLURM_CONF="$PWD/slurm.conf"
slurmctld 2>err && slurmd 2>err || skip "Slurm does not start: $(cat err)"
timeout 60 srun -n 4 "$SONDE" run clock -q -d sim:quick,k20c,v100,p100 \
    -o 'run/%h-%i-%u.json' >out 2>err </dev/null || cat err ./*.log
reports_in run
# A batch script is one process, and has all GPUs of its host.
printf '#!/bin/sh\n"%s" run clock -q -d sim:quick,k20c -o "batch/%%i.json"\n' "$SONDE" >batch.sh
timeout 60 sbatch --quiet --wait -n 4 -o batch.out batch.sh >out 2>err </dev/null || cat err batch.out
reports_in batch
