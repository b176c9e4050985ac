"""What `grapevine sim` says of the validation cells, beside what was measured."""
import dataclasses
import os
import shutil
import subprocess

from cell import MIN_IDLE, CellFailed, median, step_of_run
from units import bits_per_second, seconds

# Cells of D-PSGD and the ring allreduce, and of all else.
MIN_CELLS = 24
MIN_FURTHER_CELLS = 20
# The gate, and the goal beyond it: median and worst error.
GATE = 0.05, 0.15
GOAL = 0.03, 0.10
# An idle share that is not by the clock, times this, is the least that it was by the clock.
LEAST_TRUE = 0.75
# The model of the network that is judged, and the default, whose errors stand beside.
MODEL = "queue"
PLAIN_MODEL = "nic"


def nanoseconds(time_s):
    return "%dns" % round(time_s * 1e9)


def simulator_arguments(cell, calibration, model):
    """The cell and its network as `grapevine sim` takes them."""
    if cell.phantom:
        size, compute = cell.model, cell.compute
    else:
        size = "phantom:%dB" % calibration["lenet5_bytes"]
        compute = nanoseconds(calibration["lenet5_gradient_s"])
    goodput = calibration["goodput_share"] * bits_per_second(cell.bandwidth)
    return cell.experiment() + [
        "--network-model=" + model, "--model=" + size, "--compute=" + compute,
        "--bandwidth=%dbit" % round(goodput),
        "--latency=" + nanoseconds(seconds(cell.latency) + calibration["extra_latency_s"]),
        "--message-overhead=" + nanoseconds(calibration["message_overhead_s"]),
        "--memory-bandwidth=%dbit" % round(calibration["memory_bandwidth_bytes_per_s"] * 8)]


def predict_step(cell, calibration, model, grapevine, folder):
    """Simulated seconds a round, over the same rounds that were measured."""
    out = os.path.join(folder, "last-simulation")
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [grapevine, "sim", "--log-every=1", "--out=" + out]
        + simulator_arguments(cell, calibration, model),
        capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CellFailed("grapevine sim: " + done.stderr.strip())
    return step_of_run(cell, out)


@dataclasses.dataclass
class Row:
    """One cell, measured and predicted."""

    cell: object
    measured_s: float
    predicted_s: float
    plain_s: float  # what the default model of the network predicts
    idle_share: float
    valid: bool
    check_s: float = None  # what the nodes' own metrics say; results of earlier labs have none
    left_share: float = None  # what the lab left of the processors, likewise
    by_clock: bool = True  # whether both are shares of the time that passed (lab.IdleClock)

    @property
    def error(self):
        return self.predicted_s / self.measured_s - 1

    @property
    def beside_others(self):
        """Does not count, but only because others used what the lab's priority left them."""
        return not self.valid and self.left_share is not None and self.left_share >= MIN_IDLE

    @property
    def doubtful(self):
        """Counts, but perhaps only because its idle share was overstated."""
        return self.valid and not self.by_clock and self.idle_share * LEAST_TRUE < MIN_IDLE

    @property
    def plain_error(self):
        return self.plain_s / self.measured_s - 1

    @property
    def disagreement(self):
        return abs(self.check_s / self.measured_s - 1) if self.check_s else 0.0


def compare(role, cells, store, calibration, grapevine):
    """A Row for each cell that was measured in a role."""
    rows = []
    for cell in cells:
        result = store.get(role, cell)
        if result is None:
            continue
        predicted = [predict_step(cell, calibration, model, grapevine, store.folder)
                     for model in (MODEL, PLAIN_MODEL)]
        rows.append(Row(cell, result["step_s"], *predicted, result["idle_share"], result["valid"],
                        result.get("check_s"), result.get("left_share"),
                        result.get("by_clock", False)))
    return rows


@dataclasses.dataclass
class Verdict:
    """The errors of the cells that count, and whether they pass."""

    cells: int
    median: float
    worst: float

    def within(self, bounds, min_cells):
        return self.cells >= min_cells and self.median <= bounds[0] and self.worst <= bounds[1]


def judge(rows, error=lambda row: row.error, counts=lambda row: row.valid):
    errors = [abs(error(row)) for row in rows if counts(row)]
    if not errors:
        return Verdict(0, float("inf"), float("inf"))
    return Verdict(len(errors), median(errors), max(errors))
