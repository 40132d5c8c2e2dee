#!/usr/bin/env bash
# scripts/dataset.sbatch on a Slurm of one node that lives as long as this test, on the loopback address: the dry run
# (sbatch --test-only), then the array of shards; merged, they are the bytes of one process.
# Exit 77, a skipped test, where Slurm is not installed.
set -euo pipefail
for tool in sbatch slurmctld slurmd; do
    command -v $tool >/dev/null || PATH=$PATH:/usr/sbin
    command -v $tool >/dev/null || { echo "skipped: no $tool (Debian package slurm-wlm)"; exit 77; }
done
work=$(mktemp -d)
daemons=()
finish() {
    [ ${#daemons[@]} -eq 0 ] || kill "${daemons[@]}" 2>/dev/null || true
    wait
    rm -rf "$work"
}
trap finish EXIT
cd "$work"
mkdir state spool
host=$(hostname -s) user=$(id -un)
port=$((20000 + $$ % 20000))
cat >slurm.conf <<CONF
ClusterName=one
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmdPort=$((port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SchedulerType=sched/builtin
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=1 State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE OverSubscribe=FORCE:4 State=UP
CONF
export SLURM_CONF=$work/slurm.conf
slurmctld -D >slurmctld.log 2>&1 & daemons+=($!)
slurmd -D -N "$host" >slurmd.log 2>&1 & daemons+=($!)
for _ in $(seq 60); do
    sinfo -h -o %t 2>/dev/null | grep -q idle && break
    sleep 0.5
done
sinfo -h -o %t 2>/dev/null | grep -q idle || { echo "Slurm does not start:"; tail -5 slurmctld.log slurmd.log; exit 1; }

recipe=(--systems box_on_plane,fourbar_free --units 4 --bucket 20 --steps 200)
script=$KL_SOURCE/scripts/dataset.sbatch
sbatch --test-only --array=1-4 "$script" "${recipe[@]}" 2>&1 | tee dry
grep -q 'to start at' dry
sbatch --wait --quiet --array=1-4 --output=shard%a.log "$script" "${recipe[@]}" || {
    tail -n 5 shard*.log slurmd.log
    exit 1
}
"$KL_COMMAND" dataset merge part3.h5 part1.h5 part4.h5 part2.h5 -o merged.h5
"$KL_COMMAND" dataset make -o whole.h5 "${recipe[@]}"
cmp whole.h5 merged.h5
echo "four tasks of a Slurm array give the same bytes as one process"
