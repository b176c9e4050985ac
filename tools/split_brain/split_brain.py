#!/usr/bin/env python3
"""Takes rank 0 from the others, in network namespaces, and looks for two runs where one was.

    sudo tools/split_brain/split_brain.py 0:40     one schedule for each seed, one after the other
    sudo tools/split_brain/split_brain.py 17       that one alone, with the nodes' output

A seed chooses an algorithm, the store (etcd, or a folder), one run directory or one for each host,
--min-nodes, and a fault: rank 0's host loses its network together with the store, for good or until
the others have gone on or have ended; or rank 0 is stopped in the middle of a write and woken when
they have ended. Then one side at most has finished, all have ended in time, and what a run
directory holds is of one side. Linux and root only, with iproute2, util-linux and etcd-server;
needs a built bazel-bin/grapevine.
"""
import argparse
import pathlib
import shutil
import sys
import tempfile
import time

import hosts
import schedule
import verdict
from plan import NODES, Plan

ROOT = pathlib.Path(__file__).absolute().parents[2]
CANNOT_PLAY = 2  # the exit code


def seeds_of(text):
    first, _, last = text.partition(":")
    return range(int(first), int(last) if last else int(first) + 1)


def check_machine(plans):
    hosts.check_machine()
    if shutil.which("ss") is None:
        raise hosts.HostsError("`ss` is missing: apt-get install iproute2")
    if any(plan.store == "etcd" for plan in plans) and shutil.which("etcd") is None:
        raise hosts.HostsError("`etcd` is missing: apt-get install etcd-server")


def try_plan(plan, program, folder):
    """(what is wrong, how it ended) of a schedule."""
    begin = time.monotonic()
    try:
        outcome, note = schedule.play(plan, program, folder)
    except schedule.ScheduleError as error:
        return [str(error)], ""
    exits = " ".join("-" if code is None else str(code) for code in outcome.exits)
    took = f"{time.monotonic() - begin:.0f} s"
    return verdict.judge(outcome), ", ".join(filter(None, [f"exits {exits}", note, took]))


def show_logs(folder):
    for rank in range(NODES):
        log = folder / f"rank-{rank}.log"
        if log.exists():
            text = log.read_text(encoding="utf-8", errors="replace")
            print(f"--- rank {rank}\n{text}", flush=True)


def judge_plans(plans, options):
    """The seeds of those with which something is wrong; a line for each plan."""
    wrong_seeds = []
    for plan in plans:
        folder = pathlib.Path(tempfile.mkdtemp(prefix="grapevine-split-brain-"))
        try:
            wrong, end = try_plan(plan, options.grapevine.absolute(), folder)
            verdict_text = f": WRONG: {'; '.join(wrong)}" if wrong else ""
            print(f"seed {plan.seed}: {plan}: {end}{verdict_text}", flush=True)
            if len(plans) == 1:
                show_logs(folder)
            if wrong:
                wrong_seeds.append(plan.seed)
            if wrong and options.keep is not None:
                shutil.copytree(folder, options.keep / str(plan.seed), dirs_exist_ok=True,
                                ignore=shutil.ignore_patterns("hosts", "etcd"))
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return wrong_seeds


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seeds", nargs="*", default=["0:40"], metavar="SEED or FIRST:END")
    parser.add_argument("--grapevine", type=pathlib.Path, metavar="FILE",
                        default=ROOT / "bazel-bin" / "grapevine",
                        help="another program than bazel-bin/grapevine")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="keep what wrong schedules have left there, by seed")
    options = parser.parse_args()
    plans = [Plan(seed) for text in options.seeds for seed in seeds_of(text)]
    if not options.grapevine.exists():
        sys.exit("tools/split_brain: build it first: bazel build //:grapevine")
    try:
        check_machine(plans)
        wrong_seeds = judge_plans(plans, options)
    except hosts.HostsError as error:
        print(f"tools/split_brain: cannot be played here: {error}", file=sys.stderr)
        return CANNOT_PLAY
    print(f"{len(plans)} schedules, {len(wrong_seeds)} wrong"
          f"{': seeds ' + str(wrong_seeds) if wrong_seeds else ''}")
    return 1 if wrong_seeds else 0


if __name__ == "__main__":
    sys.exit(main())
