"""A cell: one experiment, run by real nodes in the lab, and what it measured."""
import dataclasses
import json
import os
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

    @property
    def phantom(self):
        return self.model.startswith("phantom:")

    def key(self):
        return json.dumps(dataclasses.asdict(self), sort_keys=True)

    def label(self):
        return " ".join(["n=%d" % self.nodes, self.algorithm, self.topology, self.model,
                         self.compute or "batch=%d" % self.batch, self.bandwidth, self.latency]
                        + (["window=%d" % self.window] if self.window else []))

    def experiment(self):
        """What real and simulated nodes are told alike."""
        return ["--nodes=%d" % self.nodes, "--topology=" + self.topology,
                "--algorithm=" + self.algorithm, "--rounds=%d" % self.rounds,
                "--window=%d" % self.window]

    def arguments(self):
        """What real nodes are told."""
        arguments = self.experiment() + [
            "--model=" + self.model, "--log-every=%d" % LOG_EVERY[self.phantom]]
        if self.phantom:
            return arguments + ["--compute=" + self.compute]
        # No evaluation before the end: it is no part of a step.
        return arguments + ["--batch=%d" % self.batch, "--eval-every=1000000"]


class Sampler:
    """Processor times against the number of rounds that rank 0 has completed."""

    def __init__(self, run_directory):
        self.metrics = os.path.join(run_directory, "node-0", "metrics.jsonl")
        self.samples = []

    def sample(self):
        try:
            with open(self.metrics, "rb") as file:
                lines = file.read().splitlines()
            completed = json.loads(lines[-1])["round"] if lines else 0
        except (OSError, ValueError):
            completed = 0
        self.samples.append((completed, *network.IdleClock.read()))

    def idle_share(self, first_round, last_round):
        steady = [s for s in self.samples if first_round <= s[0]]
        # What the nodes do after their last round counts no more.
        steady = [s for i, s in enumerate(steady) if i == 0 or steady[i - 1][0] < last_round]
        if len(steady) < 2:
            return 0.0
        return (steady[-1][1] - steady[0][1]) / max(1, steady[-1][2] - steady[0][2])


def warm_up(rounds):
    return max(MIN_WARM_UP, int(rounds * WARM_UP_SHARE))


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def steady_steps(run_directory, nodes, rounds):
    """Seconds a round, gradient and mix in the steady rounds, over all nodes."""
    means, steps, gradients, mixes = [], [], [], []
    for rank in range(nodes):
        lines = read_lines(os.path.join(run_directory, "node-%d" % rank, "metrics.jsonl"))
        lines = [line for line in lines if line["round"] >= warm_up(rounds)]
        first, last = lines[0], lines[-1]
        counted = last["round"] - first["round"]
        means.append((last["time_s"] - first["time_s"]) / counted)
        for before, after in zip(lines, lines[1:]):
            span = after["round"] - before["round"]
            steps.append((after["time_s"] - before["time_s"]) / span)
            gradients.append(after["gradient_s"] / span)
            mixes.append(after["mix_s"] / span)
    steps.sort()
    return {"step_s": sum(means) / len(means), "step_median_s": median(steps),
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


def start_nodes(lab, cell, grapevine, run_directory, logs):
    nodes = []
    for rank in range(cell.nodes):
        port = ":%d" % PORT if rank == 0 else ""
        arguments = [grapevine, "node", "--insecure", "--overwrite", "--out=" + run_directory,
                     "--bind=" + network.address(rank) + port] + cell.arguments()
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


def run_cell(cell, grapevine, relay, run_directory, limit_s=120):
    """Runs the nodes of a cell to their end. Returns a dict of what was measured.

    Raises CellFailed when a node fails or the cell takes longer than limit_s.
    """
    if not os.access(grapevine, os.X_OK):
        raise network.LabError("no program at %s: bazel build //:grapevine, or say "
                               "--grapevine=FILE" % grapevine)
    shutil.rmtree(run_directory, ignore_errors=True)
    os.makedirs(run_directory)
    logs = run_directory + "-logs"
    os.makedirs(logs, exist_ok=True)
    run_directory = os.path.join(run_directory, "run")
    bandwidth = bits_per_second(cell.bandwidth)
    with network.Lab(relay, cell.nodes, bandwidth, round(seconds(cell.latency) * 1e6)) as lab:
        sampler = Sampler(run_directory)
        nodes = start_nodes(lab, cell, grapevine, run_directory, logs)
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
    result = steady_steps(run_directory, cell.nodes, cell.rounds)
    result["idle_share"] = sampler.idle_share(warm_up(cell.rounds), cell.rounds)
    result["valid"] = result["idle_share"] >= MIN_IDLE
    result["wall_s"] = wall_s
    if not cell.phantom:
        result["model_bytes"] = model_bytes(run_directory)
    result["relay"] = counters
    return result
