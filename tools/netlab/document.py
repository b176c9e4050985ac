"""docs/simulator-accuracy.md: tables, verdicts and the plot, from what was measured."""
from comparison import GATE, GOAL, MIN_CELLS, judge
from overlap import LIMIT
from scatter import scatter_plot

INTRODUCTION = """# How far the simulator can be trusted

`grapevine sim` predicts how long a step takes. This page compares its predictions with real
`grapevine node` processes, each on a host of its own in the lab of `tools/netlab`: network
namespaces on one machine, with real TCP and gRPC between them, limited bandwidth and added latency.

One command measures the cells that are missing, simulates all of them and writes this page (root,
Linux, about fifteen minutes):

    bazel build //:grapevine //tools/netlab:netlab_relay
    sudo tools/netlab/netlab.py validate

A cell is one experiment: {measured} of them were measured. It counts when the processors were
idle for at least 30 % of its steady rounds; {cells} count. An error is predicted over measured
step time, minus one. The first fifth of the rounds is left out on both sides.
"""

CALIBRATION = """## What the simulator was told

Five numbers, measured at n = 2 with sizes that do not occur in the table, none of them fitted to
the cells below:

| | | flag |
|---|---|---|
| goodput | {goodput_share:.3f} of the rate | `--bandwidth` |
| latency | {extra_latency_s:.3f} ms more than the relay holds a frame | `--latency` |
| overhead of a message | {message_overhead_s:.3f} ms at each end | `--message-overhead` |
| memory | {memory_bandwidth:.1f} GB/s while mixing | `--memory-bandwidth` |
| LeNet-5's gradient, batch 4 | {lenet5_gradient_s:.2f} ms | `--compute` |

Of the 1514 bytes of a full Ethernet frame, 1448 are TCP payload, and every second frame is
acknowledged by one of 66 bytes that competes with the frames of the other direction: at most 0.936
of the rate is left for the bytes of vectors.
"""

OVERLAP = """## Does the exchange hide behind the gradient?

First the exchange is measured alone (no compute), then with a gradient that takes just as long.
D-PSGD sends while it computes, so that a step should take little more than either. Gate: at most
{limit} times the longer of the two, plus the mix.

| cell | exchange alone, ms | gradient, ms | mix, ms | step, ms | ratio | |
|---|---|---|---|---|---|---|
"""

WINDOW = """## Two rounds at once

With `--window=2` a node grants credits for two rounds. On graphs that stay the same this hides the
latency of credits. Where every round has other neighbours the second round's credits are granted in
turn ([transport](transport.md#credits-in-turn)): granted at once, they let the next replica of a
neighbour that is ahead share the interface with one that is late, and steps bounded by the network
took up to 1.9 times as long. The simulator's hosts start in step, and nothing disturbs them except
what it is told to model (`--jitter`, `--straggler`).

| cell | measured, ms | predicted, ms |
|---|---|---|
"""


BUSY = """
**The processors were too busy while this was measured: calibrate again on a quiet machine.**
"""


def percent(share):
    return "%+.1f %%" % (share * 100)


def passed(holds):
    return "holds" if holds else "**fails**"


def verdict_table(verdict):
    errors = ("%.1f %%" % (verdict.median * 100), "%.1f %%" % (verdict.worst * 100)) \
        if verdict.cells else ("-", "-")
    lines = ["", "| | cells | median error | worst error | |", "|---|---|---|---|---|",
             "| measured | %d | %s | %s | |" % (verdict.cells, *errors)]
    for name, bounds in (("gate", GATE), ("goal", GOAL)):
        lines.append("| %s | at least %d | at most %.0f %% | at most %.0f %% | %s |" % (
            name, MIN_CELLS, bounds[0] * 100, bounds[1] * 100, passed(verdict.within(bounds))))
    return lines


def describe(cell):
    """The columns of a cell."""
    name = "%s, %s" % (cell.algorithm, cell.topology) if cell.algorithm == "dpsgd" \
        else cell.algorithm
    if cell.window:
        name += ", window %d" % cell.window
    model = cell.model.replace("phantom:", "")
    return [name, str(cell.nodes), model, cell.compute or "batch %d" % cell.batch, cell.bandwidth,
            cell.latency]


def cell_table(rows):
    lines = ["", "| | n | replica | gradient | rate | latency | idle | measured, ms "
             "| predicted, ms | error |", "|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append("| " + " | ".join(describe(row.cell) + [
            "%.0f %%" % (row.idle_share * 100), "%.1f" % (row.measured_s * 1e3),
            "%.1f" % (row.predicted_s * 1e3),
            percent(row.error) if row.valid else "does not count"]) + " |")
    return lines


def overlap_table(overlap):
    lines = []
    for row in overlap:
        label = "n = %d, %s, %s, %s, %s" % (
            row["cell"]["nodes"], row["cell"]["topology"],
            row["cell"]["model"].replace("phantom:", ""), row["cell"]["bandwidth"],
            row["cell"]["latency"])
        lines.append("| %s | %.1f | %.1f | %.2f | %.1f | %.3f | %s |" % (
            label, row["exchange_s"] * 1e3, row["gradient_s"] * 1e3, row["mix_s"] * 1e3,
            row["step_s"] * 1e3, row["ratio"],
            passed(row["ratio"] <= LIMIT) if row["valid"] else "does not count"))
    return lines


def write_document(path, plot, calibration, rows, windows, overlap):
    """rows and windows: comparison.Row; overlap: what overlap.json holds."""
    verdict = judge(rows)
    in_ms = {name: calibration[name] * 1e3 for name in (
        "extra_latency_s", "message_overhead_s", "lenet5_gradient_s")}
    text = [INTRODUCTION.format(measured=len(rows), cells=verdict.cells).rstrip()]
    text += verdict_table(verdict)
    text += ["", "![Error against step time](images/simulator-accuracy.svg)", ""]
    text.append(CALIBRATION.format(
        goodput_share=calibration["goodput_share"],
        memory_bandwidth=calibration["memory_bandwidth_bytes_per_s"] / 1e9, **in_ms).rstrip())
    if not calibration["valid"]:
        text.append(BUSY.rstrip())
    text += ["", "## Cell by cell"] + cell_table(rows)
    text += ["", OVERLAP.format(limit=LIMIT).rstrip()] + overlap_table(overlap)
    text += ["", WINDOW.rstrip()]
    text += ["| %s | %.1f%s | %.1f |" % (
        ", ".join(describe(row.cell)), row.measured_s * 1e3,
        "" if row.valid else " (does not count)", row.predicted_s * 1e3) for row in windows]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    with open(plot, "w", encoding="utf-8") as file:
        file.write(scatter_plot(rows, GATE, GOAL))
