"""A cell: one experiment, run by real nodes in the lab, and what it measured."""
import dataclasses
import json
import os
import re
import shutil
import subprocess
import time

import lab as network
from units import bits_per_second, seconds

PORT = 29500
POLL_S = 0.2
# The processors must have been idle for this share of the steady rounds: else the
# machine was measured, not its network.
MIN_IDLE = 0.30
# Rounds that do not count: connections are opened, congestion windows grow.
WARM_UP_SHARE = 0.2
MIN_WARM_UP = 5
# Where nodes share a budget of gradients, its last ones are shared out one by one.
END_SHARE = 0.05
# The real model reports a kilobyte to rank 0 with each measurement.
LOG_EVERY = {True: 1, False: 5}  # by whether the model is a phantom


class CellFailed(Exception):
    """A node failed; the message has its last words."""


@dataclasses.dataclass(frozen=True)
class Cell:
    """The parameters of an experiment; texts as `grapevine` takes them."""

    nodes: int
    bandwidth: str
    latency: str
    topology: str = "ring"
    algorithm: str = "dpsgd"
    model: str = "phantom:1MB"
    compute: str = ""  # phantom only
    batch: int = 16
    window: int = 0
    rounds: int = 60
    straggler: str = "none"

    @property
    def phantom(self):
        return self.model.startswith("phantom:")

    @property
    def kind(self):
        return self.algorithm.split(":")[0]

    @property
    def asynchronous(self):
        """Whether nodes share a budget of gradients: a round is then a nominal one."""
        return self.kind in ("adpsgd", "downpour", "adag") or ":async" in self.algorithm

    @property
    def workers(self):
        """How many nodes compute gradients."""
        if self.kind not in ("ps", "downpour", "adag") and ":async" not in self.algorithm:
            return self.nodes
        servers = re.search(r":servers=(\d+)", self.algorithm)
        return self.nodes - (int(servers[1]) if servers else 1)

    @property
    def log_every(self):
        return LOG_EVERY[self.phantom]

    def steady_rounds(self):
        """The first and the last boundary between which a cell is timed; ValueError if none are."""
        first = -(-warm_up(self.rounds) // self.log_every) * self.log_every
        last = self.rounds
        if self.asynchronous:
            last = int(self.rounds * (1 - END_SHARE))
            last -= last % self.log_every
        if last <= first:
            raise ValueError("--rounds=%d: none are left between the first %d and the end, take "
                             "more" % (self.rounds, first))
        return first, last

    def label(self):
        return " ".join(["n=%d" % self.nodes, self.algorithm, self.topology, self.model,
                         self.compute or "batch=%d" % self.batch, self.bandwidth, self.latency]
                        + (["window=%d" % self.window] if self.window else [])
                        + ([self.straggler] if self.straggler != "none" else []))

    def experiment(self):
        """What real and simulated nodes are told alike."""
        return ["--nodes=%d" % self.nodes, "--topology=" + self.topology,
                "--algorithm=" + self.algorithm, "--rounds=%d" % self.rounds,
                "--window=%d" % self.window, "--straggler=" + self.straggler]

    def arguments(self):
        """What real nodes are told."""
        arguments = self.experiment() + [
            "--model=" + self.model, "--log-every=%d" % self.log_every]
        if self.phantom:
            return arguments + ["--compute=" + self.compute]
        # No evaluation before the end: it is no part of a step.
        return arguments + ["--batch=%d" % self.batch, "--eval-every=1000000"]


class Sampler:
    """Processor times against the number of rounds that rank 0 has completed."""

    def __init__(self, lab, run_directory):
        self.lab = lab
        self.metrics = os.path.join(run_directory, "node-0", "metrics.jsonl")
        self.samples = []

    def sample(self):
        try:
            with open(self.metrics, "rb") as file:
                lines = file.read().splitlines()
            completed = json.loads(lines[-1])["round"] if lines else 0
        except (OSError, ValueError):
            completed = 0
        self.samples.append((completed, *network.IdleClock.read(), self.lab.processor_time()))

    def shares(self, first_round, last_round):
        """Of the processors' time in these rounds: what was idle, and what the lab left.

        The second is more where other processes ran: they get what the lab's priority leaves.
        """
        # What the nodes do after their last round counts no more.
        steady = [s for s in self.samples if first_round <= s[0] < last_round]
        if len(steady) < 2:
            return 0.0, 0.0
        idle, total, used = (last - first for first, last in zip(steady[0][1:], steady[-1][1:]))
        return idle / max(1, total), 1 - used / max(1, total)


def warm_up(rounds):
    return max(MIN_WARM_UP, int(rounds * WARM_UP_SHARE))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def steady_lines(cell, directory):
    first, last = cell.steady_rounds()
    return [line for line in read_lines(os.path.join(directory, "metrics.jsonl"))
            if first <= line["round"] <= last]


def step_of_run(cell, run_directory):
    """Seconds a round, from the boundaries of the whole run; real and simulated runs have them."""
    lines = steady_lines(cell, run_directory)
    if not lines or lines[-1]["round"] == lines[0]["round"]:
        raise CellFailed("the run measured nothing in the steady rounds: take more --rounds")
    return (lines[-1]["time_s"] - lines[0]["time_s"]) / (lines[-1]["round"] - lines[0]["round"])


def step_of_node(cell, lines):
    """Seconds a round, from a node's own metrics; of a shared budget, what it contributes."""
    done = "gradients_total" if cell.asynchronous else "round"
    if not lines or lines[-1][done] == lines[0][done]:
        raise CellFailed("a node did nothing in the steady rounds: take more --rounds")
    return (lines[-1]["time_s"] - lines[0]["time_s"]) / (lines[-1][done] - lines[0][done])


def step_of_nodes(cell, lines):
    """The same from the nodes' metrics: a second way. `lines` has a list for each worker."""
    steps = [step_of_node(cell, of_node) for of_node in lines]
    if cell.asynchronous:
        return cell.workers / sum(1 / step for step in steps)
    return sum(steps) / len(steps)


def steady_steps(run_directory, cell):
    """Seconds a round, gradient and mix in the steady rounds, over all workers."""
    lines = [steady_lines(cell, os.path.join(run_directory, "node-%d" % rank))
             for rank in range(cell.workers)]
    steps, gradients, mixes = [], [], []
    for of_node in lines:
        for before, after in zip(of_node, of_node[1:]):
            span = after["round"] - before["round"]
            steps.append((after["time_s"] - before["time_s"]) / span)
            gradients.append(after.get("gradient_s", 0) / span)  # absent: none ended
            mixes.append(after["mix_s"] / span)
    steps.sort()
    return {"step_s": step_of_run(cell, run_directory), "check_s": step_of_nodes(cell, lines),
            "step_median_s": median(steps),
            "step_p10_s": steps[len(steps) // 10], "step_p90_s": steps[len(steps) * 9 // 10],
            "gradient_s": median(gradients), "mix_s": median(mixes)}


def model_bytes(run_directory):
    """The bytes of a replica, from the header of the model file; None without one."""
    try:
        with open(os.path.join(run_directory, "model.safetensors"), "rb") as file:
            header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    except OSError:
        return None
    return max(tensor["data_offsets"][1] for name, tensor in header.items()
               if name != "__metadata__")


def start_nodes(lab, cell, grapevine, run_directory, logs, trace):
    nodes = []
    for rank in range(cell.nodes):
        port = ":%d" % PORT if rank == 0 else ""
        arguments = [grapevine, "node", "--insecure", "--overwrite", "--out=" + run_directory,
                     "--bind=" + network.address(rank) + port] + cell.arguments()
        arguments += ["--trace=" + trace] if trace else []
        environment = {"RANK": str(rank), "WORLD_SIZE": str(cell.nodes),
                       "MASTER_ADDR": network.address(0), "MASTER_PORT": str(PORT)}
        log = open(os.path.join(logs, "node-%d.log" % rank), "w", encoding="utf-8")
        with log:
            nodes.append(lab.start(rank, arguments, environment, stdout=log,
                                   stderr=subprocess.STDOUT))
    return nodes


def last_words(logs, nodes):
    failed = [rank for rank, node in enumerate(nodes) if node.poll()]
    with open(os.path.join(logs, "node-%d.log" % failed[0]), encoding="utf-8") as file:
        lines = file.read().strip().splitlines()
    return "rank %d of %d that failed: %s" % (failed[0], len(failed),
                                              lines[-1] if lines else "no output")


def run_cell(cell, grapevine, relay, run_directory, limit_s=120, trace=None):
    """Runs the nodes of a cell to their end. Returns a dict of what was measured.

    trace: the file to which the run's trace goes, if any.
    Raises CellFailed when a node fails or the cell takes longer than limit_s.
    """
    if not os.access(grapevine, os.X_OK):
        raise network.LabError("no program at %s: bazel build //:grapevine, or say "
                               "--grapevine=FILE" % grapevine)
    cell.steady_rounds()  # refuses too few rounds before they are run
    shutil.rmtree(run_directory, ignore_errors=True)
    os.makedirs(run_directory)
    logs = run_directory + "-logs"
    os.makedirs(logs, exist_ok=True)
    run_directory = os.path.join(run_directory, "run")
    bandwidth = bits_per_second(cell.bandwidth)
    with network.Lab(relay, cell.nodes, bandwidth, round(seconds(cell.latency) * 1e6)) as lab:
        sampler = Sampler(lab, run_directory)
        nodes = start_nodes(lab, cell, grapevine, run_directory, logs, trace)
        lab.counters()
        begin = time.monotonic()
        while any(node.poll() is None for node in nodes):
            if any(node.returncode for node in nodes) and time.monotonic() > begin + 5:
                break
            if time.monotonic() > begin + limit_s:
                raise CellFailed("not done after %d s" % limit_s)
            sampler.sample()
            time.sleep(POLL_S)
        if any(node.returncode != 0 for node in nodes):
            raise CellFailed(last_words(logs, nodes))
        wall_s = time.monotonic() - begin
        counters = lab.counters()
    result = steady_steps(run_directory, cell)
    result["idle_share"], result["left_share"] = sampler.shares(warm_up(cell.rounds), cell.rounds)
    result["by_clock"] = True
    result["valid"] = result["idle_share"] >= MIN_IDLE
    result["wall_s"] = wall_s
    if not cell.phantom:
        result["model_bytes"] = model_bytes(run_directory)
    result["relay"] = counters
    return result
