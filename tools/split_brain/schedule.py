"""Plays one schedule: starts the nodes, has rank 0 lose the others or stops it, and waits."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import verdict
from hosts import Hosts
from plan import NODES, WRITES

HERE = pathlib.Path(__file__).absolute().parent
RANK_ZERO, STORE = 1, NODES + 1  # their hosts
# For what takes a few seconds, on a machine that is busy with other things.
PATIENCE_S = 90
POLL_S = 0.02
SAYS_ROLE_MOVED = "has the role of rank 0 now"


class ScheduleError(Exception):
    """A schedule did not come about; the message says why."""


def await_that(what, holds, patience_s=PATIENCE_S):
    deadline = time.monotonic() + patience_s
    while not holds():
        if time.monotonic() > deadline:
            raise ScheduleError(f"{what}: not within {patience_s} s")
        time.sleep(POLL_S)


def living(session):
    """Processes of a session; zombies do not count."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(encoding="utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(entry.parent.name))
    return found


class Schedule:
    """Of a plan, in a folder of its own; `hosts` are up."""

    def __init__(self, plan, program, folder, hosts):
        self.plan = plan
        self.program = program
        self.folder = folder
        self.hosts = hosts
        self.nodes = []
        self.watcher = None
        self.over = {}
        self.note = ""  # for the line that is printed

    def log(self, name):
        return self.folder / f"{name}.log"

    def output(self, rank):
        return self.log(f"rank-{rank}").read_text(encoding="utf-8", errors="replace")

    def running(self, ranks):
        return [rank for rank in ranks if self.nodes[rank].poll() is None]

    def prepare(self):
        for folder in ("store", "runs"):
            (self.folder / folder).mkdir(parents=True)
            self.hosts.mount(RANK_ZERO, self.folder / folder)
        if self.plan.store == "etcd":
            etcd = self.hosts.start(STORE, [
                shutil.which("etcd"), f"--data-dir={self.folder}/etcd",
                "--listen-client-urls=http://0.0.0.0:2379",
                "--advertise-client-urls=http://node5:2379", "--logger=zap", "--log-level=error"],
                self.log("etcd"))
            await_that("etcd listens", lambda: self.listens(STORE, 2379))
            if etcd.poll() is not None:
                raise ScheduleError("etcd ended")

    def listens(self, host, port):
        return f":{port} " in self.hosts.run(host, "ss", "-Hltn")

    def start_nodes(self):
        for rank in range(NODES):
            self.nodes.append(self.hosts.start(
                rank + 1, self.plan.command(self.program, self.folder, rank),
                self.log(f"rank-{rank}")))

    def said(self, rank, text):
        if text in self.output(rank):
            return True
        if self.nodes[rank].poll() is not None:
            raise ScheduleError(f"rank {rank} ended before it said \"{text}\"")
        return False

    def lose_all(self):
        """Rank 0 loses the others and the store."""
        self.hosts.cut(RANK_ZERO)
        if self.plan.store == "folder":
            self.hosts.lose(RANK_ZERO, self.folder / "store", self.plan.loss)

    def give_all_back(self):
        if self.plan.store == "folder":
            self.hosts.give_back(RANK_ZERO, self.folder / "store", self.plan.loss)
        self.hosts.heal(RANK_ZERO)

    def await_end(self, ranks):
        deadline = time.monotonic() + PATIENCE_S
        while self.running(ranks) and time.monotonic() < deadline:
            time.sleep(POLL_S)

    def role_moved(self):
        return (any(SAYS_ROLE_MOVED in self.output(rank) for rank in verdict.OTHERS)
                or not self.running(verdict.OTHERS))

    def cut(self):
        await_that(f"round {self.plan.begin}",
                   lambda: self.said(0, f"round {self.plan.begin}/"))
        self.lose_all()
        if self.plan.fault == "healed while they train":
            await_that("the role moves", self.role_moved)
            time.sleep(self.plan.delay_s)
            still = self.running(range(NODES))
            self.note = f"healed while {'+'.join(map(str, still)) or 'nobody'} ran"
            self.give_all_back()
        self.await_end(verdict.OTHERS)
        self.remember()
        if self.plan.fault == "healed after":
            self.note = "rank 0 ran then" if self.running([0]) else "rank 0 had ended"
            self.give_all_back()

    def watch_writes(self):
        """Before the nodes start: rank 0 will be stopped."""
        run = self.plan.run_directory(self.folder, 0)
        pattern = str(run.relative_to(self.folder / "runs") / WRITES[self.plan.write])
        self.watcher = self.hosts.start(
            RANK_ZERO, [sys.executable, str(HERE / "stop_writer.py"), str(self.folder / "runs"),
                        pattern, str(self.plan.occurrence)], self.log("watcher"))
        await_that("the watcher watches", lambda: "watching" in self.watched())

    def watched(self):
        return self.log("watcher").read_text(encoding="utf-8")

    def stopped(self):
        if "stopped" in self.watched():
            return True
        if self.nodes[0].poll() is not None or self.watcher.poll() is not None:
            raise ScheduleError(f"rank 0 was not stopped: {self.watched()}")
        return False

    def stop(self):
        await_that("rank 0 is stopped", self.stopped)
        self.await_end(verdict.OTHERS)
        self.remember()
        # The program, and nsenter, which stops with it.
        for process in (self.hosts.started(self.nodes[0]), self.nodes[0].pid):
            os.kill(process, signal.SIGCONT)

    def remember(self):
        """What is there when the others have ended."""
        self.over = {run: verdict.run_files(run) for run in self.others_runs()
                     if (run / "summary.json").exists()}

    def others_runs(self):
        return {self.plan.run_directory(self.folder, rank) for rank in verdict.OTHERS}

    def changed(self):
        """The files of finished runs that are others now."""
        names = []
        for run, before in self.over.items():
            now = verdict.run_files(run)
            names += [name for name in sorted(before.keys() | now.keys())
                      if before.get(name) != now.get(name)]
        return names

    def play(self):
        self.prepare()
        if self.plan.write is not None:
            self.watch_writes()
        self.start_nodes()
        if self.plan.write is None:
            self.cut()
        else:
            self.stop()
        self.await_end(range(NODES))
        outcome = verdict.Outcome(
            exits=[node.poll() for node in self.nodes],
            outputs=[self.output(rank) for rank in range(NODES)],
            runs=[self.plan.run_directory(self.folder, rank) for rank in range(NODES)],
            left_behind=sum(len(living(node.pid)) for node in self.nodes
                            if node.poll() is not None),
            changed=self.changed())
        self.look_at_results(outcome)
        return outcome

    def look_at_results(self, outcome):
        winners = outcome.winners()
        if not winners or None in outcome.exits:
            return
        run = outcome.runs[winners[-1]]
        if (run / "model.safetensors").exists():
            outcome.evaluation = self.evaluate(run / "model.safetensors")
        checkpoint = verdict.checkpoint_to_go_on_from(run)
        # Nodes with disks of their own each have parts of it.
        if checkpoint is not None and self.plan.shares_run:
            outcome.resumed = self.resume(run, checkpoint)

    def evaluate(self, model):
        done = subprocess.run([str(self.program), "eval", str(model), "--json",
                               "--data=synthetic:train=512:test=200"],
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ScheduleError(f"grapevine eval: {done.stderr}")
        return json.loads(done.stdout)

    def resume(self, run, checkpoint):
        """In a copy: what the schedule left stays to be looked at."""
        copy = run.with_name("resumed")
        shutil.copytree(run, copy)
        done = subprocess.run([str(self.program), "train",
                               f"--resume={copy / checkpoint.relative_to(run)}"],
                              capture_output=True, text=True, check=False, timeout=PATIENCE_S)
        return done.returncode, done.stdout + done.stderr


def play(plan, program, folder):
    """(outcome, note) of a plan; raises ScheduleError where it did not come about."""
    with Hosts(folder / "hosts", NODES + 1) as hosts:
        schedule = Schedule(plan, program, folder, hosts)
        return schedule.play(), schedule.note
