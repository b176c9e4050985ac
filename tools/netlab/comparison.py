"""What `grapevine sim` says of the validation cells, beside what was measured."""
import dataclasses
import os
import shutil
import subprocess

from cell import CellFailed, median, read_lines, warm_up
from units import bits_per_second, seconds

# The gate, and the goal beyond it: cells, median and worst error.
MIN_CELLS = 24
GATE = 0.05, 0.15
GOAL = 0.03, 0.10


def nanoseconds(time_s):
    return "%dns" % round(time_s * 1e9)


def simulator_arguments(cell, calibration):
    """The cell and its network as `grapevine sim` takes them."""
    if cell.phantom:
        size, compute = cell.model, cell.compute
    else:
        size = "phantom:%dB" % calibration["lenet5_bytes"]
        compute = nanoseconds(calibration["lenet5_gradient_s"])
    goodput = calibration["goodput_share"] * bits_per_second(cell.bandwidth)
    return cell.experiment() + [
        "--model=" + size, "--compute=" + compute, "--bandwidth=%dbit" % round(goodput),
        "--latency=" + nanoseconds(seconds(cell.latency) + calibration["extra_latency_s"]),
        "--message-overhead=" + nanoseconds(calibration["message_overhead_s"]),
        "--memory-bandwidth=%dbit" % round(calibration["memory_bandwidth_bytes_per_s"] * 8)]


def predict_step(cell, calibration, grapevine, folder):
    """Simulated seconds a step, over the same rounds that were measured."""
    out = os.path.join(folder, "last-simulation")
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [grapevine, "sim", "--log-every=1", "--out=" + out] + simulator_arguments(cell, calibration),
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CellFailed("grapevine sim: " + done.stderr.strip())
    times = {line["round"]: line["time_s"]
             for line in read_lines(os.path.join(out, "metrics.jsonl"))}
    first = warm_up(cell.rounds)
    return (times[cell.rounds] - times[first]) / (cell.rounds - first)


@dataclasses.dataclass
class Row:
    """One cell, measured and predicted."""

    cell: object
    measured_s: float
    predicted_s: float
    idle_share: float
    valid: bool

    @property
    def error(self):
        return self.predicted_s / self.measured_s - 1


def compare(role, cells, store, calibration, grapevine):
    """A Row for each cell that was measured in a role."""
    rows = []
    for cell in cells:
        result = store.get(role, cell)
        if result is None:
            continue
        rows.append(Row(cell, result["step_s"],
                        predict_step(cell, calibration, grapevine, store.folder),
                        result["idle_share"], result["valid"]))
    return rows


@dataclasses.dataclass
class Verdict:
    """The errors of the cells that count, and whether they pass."""

    cells: int
    median: float
    worst: float

    def within(self, bounds):
        return self.cells >= MIN_CELLS and self.median <= bounds[0] and self.worst <= bounds[1]


def judge(rows):
    errors = [abs(row.error) for row in rows if row.valid]
    if not errors:
        return Verdict(0, float("inf"), float("inf"))
    return Verdict(len(errors), median(errors), max(errors))
