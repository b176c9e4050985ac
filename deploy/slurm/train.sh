#!/bin/bash
#SBATCH --job-name=grapevine --ntasks=4 --cpus-per-task=1
#SBATCH --requeue --open-mode=append --signal=TERM@60
#
# A run under Slurm that goes on after a requeue:
#
#   sbatch deploy/slurm/train.sh --config=experiment.textproto --checkpoint-every=10min FLAG...
#
# FLAG... are those of `grapevine node`: TLS or --insecure between hosts, say; not --out and not
# --resume. RUN is the run directory, which all hosts share (default: runs/JOB in the current folder).
# SIGTERM to the tasks, a minute before the time limit or by `scancel --signal=TERM JOB`, ends the run
# with a checkpoint, and the job queues again and goes on from there; so it does after
# `scontrol requeue JOB`, from its last checkpoint.
set -eu

run=${RUN:-$PWD/runs/$SLURM_JOB_ID}
restarts=${SLURM_RESTART_COUNT:-0}
# A secret of each start; srun passes it on.
export GRAPEVINE_TOKEN=$(openssl rand -hex 32)

if compgen -G "$run/checkpoints/*/manifest.textproto" >/dev/null; then
  where=("--resume=$run")
elif [ "$restarts" -gt 0 ]; then
  where=("--out=$run" --overwrite)  # what this job has left of its earlier start
else
  where=("--out=$run")
fi

status=0
srun grapevine node "${where[@]}" "$@" || status=$?
if [ "$status" -eq 143 ] && [ "$restarts" -lt 1000 ]; then
  echo "told to end: queues again"
  scontrol requeue "$SLURM_JOB_ID"
  sleep infinity  # until Slurm ends this start
fi
exit "$status"
