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
# The model of the network that is judged, and those whose errors stand beside.
MODEL = "packets"
FLUID_MODELS = ("queue", "nic")
STARTS = 5
# Bytes of a frame, and what an acknowledgement of every second one takes of the other direction.
FRAME, ACKNOWLEDGEMENT = 1514, 66 / 2


def nanoseconds(time_s):
    return "%dns" % round(time_s * 1e9)


def goodput_share(calibration, model):
    """What is left of the rate for the bytes of vectors. Packets have acknowledgements of their own."""
    share = calibration["goodput_share"]
    return share * (FRAME + ACKNOWLEDGEMENT) / FRAME if model == MODEL else share


def simulator_arguments(cell, calibration, model):
    """The cell and its network as `grapevine sim` takes them."""
    if cell.phantom:
        size, compute = cell.model, cell.compute
    else:
        size = "phantom:%dB" % calibration["lenet5_bytes"]
        compute = nanoseconds(calibration["lenet5_gradient_s"])
    goodput = goodput_share(calibration, model) * bits_per_second(cell.bandwidth)
    return cell.experiment() + [
        "--network-model=" + model, "--model=" + size, "--compute=" + compute,
        "--bandwidth=%dbit" % round(goodput),
        "--latency=" + nanoseconds(seconds(cell.latency) + calibration["extra_latency_s"]),
        "--message-overhead=" + nanoseconds(calibration["message_overhead_s"]),
        "--start-spread=" + nanoseconds(calibration["start_spread_s"]),
        "--memory-bandwidth=%dbit" % round(calibration["memory_bandwidth_bytes_per_s"] * 8)]


def predict_step(cell, calibration, model, grapevine, folder):
    """Simulated seconds a round, over the same rounds that were measured.

    Some cells have a time for nodes in step and another for nodes that are not, and when they begin
    decides: the median over several starts.
    """
    return median([simulate_step(cell, calibration, model, seed, grapevine, folder)
                   for seed in range(1, STARTS + 1)])


def simulate_step(cell, calibration, model, seed, grapevine, folder):
    out = os.path.join(folder, "last-simulation")
    shutil.rmtree(out, ignore_errors=True)
    done = subprocess.run(
        [grapevine, "sim", "--log-every=1", "--seed=%d" % seed, "--out=" + out]
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
    predictions: dict  # seconds, by the model of the network
    idle_share: float
    valid: bool
    left_share: float = None  # an earlier measurement has none,
    check_s: float = None  # nor what the nodes' own metrics say

    @property
    def predicted_s(self):
        return self.predictions[MODEL]

    def error(self, model=MODEL):
        return self.predictions[model] / self.measured_s - 1

    @property
    def beside_others(self):
        """Does not count, but only because others used what the lab's priority left them."""
        return not self.valid and self.left_share is not None and self.left_share >= MIN_IDLE

    @property
    def disagreement(self):
        return abs(self.check_s / self.measured_s - 1) if self.check_s else 0.0


def compare(role, cells, store, calibration, grapevine, scratch):
    """A Row for each cell that was measured in a role."""
    rows = []
    for cell in cells:
        result = store.get(role, cell)
        if result is None:
            continue
        predictions = {model: predict_step(cell, calibration, model, grapevine, scratch)
                       for model in (MODEL,) + FLUID_MODELS}
        rows.append(Row(cell, result["step_s"], predictions, result.get("idle_share"),
                        result["valid"], result.get("left_share"), result.get("check_s")))
    return rows


@dataclasses.dataclass
class Verdict:
    """The errors of the cells that count, and whether they pass."""

    cells: int
    median: float
    worst: float

    def within(self, bounds, min_cells):
        return self.cells >= min_cells and self.median <= bounds[0] and self.worst <= bounds[1]


def judge(rows, model=MODEL, counts=lambda row: row.valid):
    errors = [abs(row.error(model)) for row in rows if counts(row)]
    if not errors:
        return Verdict(0, float("inf"), float("inf"))
    return Verdict(len(errors), median(errors), max(errors))
