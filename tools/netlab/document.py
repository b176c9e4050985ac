"""docs/simulator-accuracy.md: tables, verdicts and the plot, from what was measured."""
from comparison import (FLUID_MODELS, GATE, GOAL, MIN_CELLS, MIN_FURTHER_CELLS, MODEL,
                        goodput_share, judge)
from overlap import LIMIT
from scatter import scatter_plot

INTRODUCTION = """# How far the simulator can be trusted

`grapevine sim` predicts how long a round takes. This page compares its predictions with real
`grapevine node` processes, each on a host of its own in the lab of `tools/netlab`: network
namespaces on one machine, with real TCP and gRPC between them, limited bandwidth and added latency.
The first table below shows how large the errors are, and whether they are within the gate.

After the build, one command measures the cells that are missing in `tools/netlab/measured`, simulates
all cells and writes this page (root, Linux; twenty-five minutes for all cells). Another command
writes the page from existing measurements, on any machine:

    bazel build //:grapevine //tools/netlab:netlab_relay
    sudo tools/netlab/netlab.py validate
    tools/netlab/netlab.py document

A cell is one experiment: {measured} of them were measured. A cell counts when the processors were idle for at
least 30 % of its steady rounds; {cells} count. In the tables, `idle` is what nobody used of the time that
passed, by the kernel's idle time; `left` is what the lab's own processes did not use.{beside}

All cells are judged by the model `--network-model=packets`. The models `queue` and `nic`, shown
beside it, are faster to simulate ([networks](networks.md#four-models)).

An error is the predicted time of a round divided by the measured time, minus one: below zero, the
simulator is too fast. The first fifth of the rounds is left out on both sides. Where nodes share a
[budget of gradients](architecture.md#how-a-run-begins-and-ends), a round is a nominal one, and the
last twentieth of the rounds is left out, too. Each measured time was computed twice, from the run's
metrics and from the nodes' own metrics. The two differ by at most {disagreement:.1f} %.{earlier}
"""

CALIBRATION = """## What the simulator was told

The simulator was told six numbers. They were measured with sizes that do not occur in the table, at
n = 2, except the last one, which was measured at n = 4. None of them is fitted to the cells below:

| | | flag |
|---|---|---|
| goodput | {goodput_share:.3f} of the rate, {packets_share:.3f} for `packets` | `--bandwidth` |
| latency | {extra_latency_s:.3f} ms more than the relay holds a frame | `--latency` |
| overhead of a message | {message_overhead_s:.3f} ms at each end | `--message-overhead` |
| memory | {memory_bandwidth:.1f} GB/s while mixing | `--memory-bandwidth` |
| LeNet-5's gradient, batch 4 | {lenet5_gradient_s:.2f} ms | `--compute` |
| nodes begin within | {start_spread_s:.1f} ms of each other | `--start-spread` |

A full Ethernet frame has 1514 bytes, of which 1448 are TCP payload. Every second frame is
acknowledged by a frame of 66 bytes, which competes with the frames of the other direction. So at most
0.936 of the rate is left for the bytes of vectors. `packets` models these acknowledgements itself: its
bandwidth is what a direction carries without them, 1547/1514 of the goodput.

Each prediction is the median over five starts. Some cells take another time when their nodes are in
step than when they are not. Which of the two happens depends on when the nodes began, in the lab as
in the simulator.
"""

# Of the first part of a spec; what is left has servers.
KINDS = (("dpsgd", "D-PSGD"), ("allreduce", "allreduces"), ("adpsgd", "AD-PSGD"))

EARLIER = """

The {earlier} cells without `left` were measured on an earlier machine, also with two cores. Their times are
kept as this page had them, to 0.1 ms. Their idle share was a share of what `/proc/stat` added up to,
which is up to a quarter less than the time that passed. So only cells that had 40 % were kept."""

BESIDE = """ Brackets mark
cells during which the lab left at least 30 % of the processors (`left`), but did not leave
them idle: other programs ran in what the lab's real-time priority leaves them. Cells in brackets do
not count, and are judged apart."""

# Written by hand for one measurement: no figure in it is computed.
BIAS = """## Which way it errs

The tables of this page are computed; the text of this section is not. It was written for the
measurements of November 2026 on machines of two cores.

`packets` has what the other two models cannot have:

- segments of several messages that take turns, so that the messages end one after another;
- congestion windows that last from message to message;
- credits and receipts that wait in queues;
- hosts whose buffers take a message at once, so that a node's next message shares the interface with
  it.

`nic` divides bandwidth equally, so equal messages that begin together end at one moment. That makes
D-PSGD with several neighbours too fast. It also keeps the workers of an asynchronous server in step
for ever, which is up to 13 % too slow. `queue` removes part of the first error and errs the
other way on the second.

What the measurements showed:

- **Halving-doubling** on 8 nodes at 20 Mbit/s and 10 ms has two times: 233 ms for nodes in step, 325
  to 345 ms for nodes that are not. The lab's nodes are not in step. They begin within tens of
  milliseconds of each other, and what a late node sends shares its interface with what it has just
  sent. This page had predicted the first time, 30 % too fast. A trace of the lab beside one of the
  simulator shows two reasons. In the simulator, a message had left with its last byte, but the kernel
  takes 100 kB within 0.2 ms, and the node sends its next message at once. And in the simulator all
  nodes began at one moment, in step by symmetry. The same buffers had made the hierarchical allreduce
  13 to 15 % too fast, and halving-doubling in buckets 11 %.
- **Workers that exchange something after every few steps** (`downpour`, `adag`, `easgd:async`,
  `adpsgd:every`) were up to 17 % slower in the lab than predicted. In the last third of a run they
  reached their limits within a window, before more of the budget had reached them, and ended the
  window early. In the runtime they now have two windows ahead of them, and those cells were measured
  again.
- **How far apart nodes begin** depends on the network. They begin within 18 ms at n = 4 and 5 ms,
  which is what all cells are told, and within 43 to 51 ms at n = 8 and 10 ms (three runs). Told 50 ms,
  halving-doubling on 4 nodes is 24 % too slow in the median of seven starts, and D-PSGD on
  one-peer-exponential with a window of 1 (8 nodes, 20 ms) 12 %. So the gate holds for the spread that
  was calibrated, not for any spread.
- **Where messages follow each other closely**, the hosts of the lab need time that the simulator does
  not charge: 0.2 to 0.5 ms from a message's last byte to the first byte of the next, on two
  processors that eight nodes share.
"""

OVERLAP = """## Does the exchange hide behind the gradient?

This table and the last one on this page were measured on the earlier machine. The exchange is
measured first alone (no compute), then with a gradient that takes just as long. D-PSGD sends while it
computes, so a step should take little more than either. Gate: at most {limit} times the longer of the
two, plus the mix.

| cell | exchange alone, ms | gradient, ms | mix, ms | step, ms | ratio | |
|---|---|---|---|---|---|---|
"""

WINDOW = """## Two rounds at once

With `--window=2` a node grants credits for two rounds. On graphs that stay the same, this hides the
latency of credits. Where every round has other neighbours, the second round's credits are granted in
turn ([transport](transport.md#credits-in-turn)). Granted at once, they would let the next replica of
a neighbour that is ahead share the interface with a replica that is late; steps bounded by the
network then took up to 1.9 times as long. Nothing disturbs the simulator's hosts except what it is
told to model (`--start-spread`, `--jitter`, `--straggler`).

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


def verdict_table(groups):
    """groups: a name, rows, and how many have to count, each."""
    lines = ["", "| | cells | median error | worst error | gate: %.0f %%, %.0f %% "
             "| goal: %.0f %%, %.0f %% |" % tuple(100 * bound for bound in GATE + GOAL),
             "|---|---|---|---|---|---|"]
    for name, rows, min_cells in groups:
        lines.append(verdict_line(name, judge(rows), min_cells))
        if any(row.beside_others for row in rows):
            lines.append(verdict_line(name + ", also beside other work", judge(
                rows, counts=lambda row: row.valid or row.beside_others), min_cells))
        for model in FLUID_MODELS:
            lines.append(verdict_line("%s, `%s`" % (name, model), judge(rows, model), min_cells))
    return lines


def verdict_line(name, verdict, min_cells):
    errors = ("%.1f %%" % (verdict.median * 100), "%.1f %%" % (verdict.worst * 100)) \
        if verdict.cells else ("-", "-")
    return "| %s | %d of at least %d | %s | %s | %s | %s |" % (
        name, verdict.cells, min_cells, *errors, passed(verdict.within(GATE, min_cells)),
        passed(verdict.within(GOAL, min_cells)))


def kind_of(cell):
    """What errs alike."""
    for kind, name in KINDS:
        if kind == cell.kind:
            return name
    return "servers"


def bias_table(rows):
    models = (MODEL,) + FLUID_MODELS
    lines = ["", "| | cells |" + "".join(" mean error, `%s` | too fast |" % m for m in models),
             "|---" * (2 + 2 * len(models)) + "|"]
    for name in dict.fromkeys(kind_of(row.cell) for row in rows):
        counted = [row for row in rows if row.valid and kind_of(row.cell) == name]
        if not counted:
            continue
        columns = []
        for model in models:
            errors = [row.error(model) for row in counted]
            columns += [percent(sum(errors) / len(errors)), "%d" % sum(e < 0 for e in errors)]
        lines.append("| %s | %d | %s |" % (name, len(counted), " | ".join(columns)))
    return lines


def describe(cell):
    """The columns of a cell."""
    name = "%s, %s" % (cell.algorithm, cell.topology) if cell.kind in ("dpsgd", "adpsgd") \
        else cell.algorithm
    if cell.window:
        name += ", window %d" % cell.window
    if cell.straggler != "none":
        name += ", straggler " + cell.straggler
    model = cell.model.replace("phantom:", "")
    return [name, str(cell.nodes), model, cell.compute or "batch %d" % cell.batch, cell.bandwidth,
            cell.latency]


def cell_table(rows, unit, quantity):
    """quantity: of a cell and the seconds of its round, in `unit`."""
    lines = ["", "| | n | replica | gradient | rate | latency | idle, left | measured, %s "
             "| predicted, %s | error | `queue` | `nic` |" % (unit, unit), "|---" * 12 + "|"]
    for row in rows:
        lines.append("| " + " | ".join(describe(row.cell) + [
            idle_of(row), "%.1f" % quantity(row.cell, row.measured_s),
            "%.1f" % quantity(row.cell, row.predicted_s),
            verdict_of(row)] + [percent(row.error(model)) for model in FLUID_MODELS]) + " |")
    return lines


def idle_of(row):
    left = "" if row.left_share is None else ", %.0f %%" % (row.left_share * 100)
    return "%.0f %%%s" % (row.idle_share * 100, left)


def verdict_of(row):
    if row.valid:
        return percent(row.error())
    return "(%s)" % percent(row.error()) if row.beside_others else "does not count"


def step_table(rows):
    return cell_table(rows, "ms", lambda _, round_s: round_s * 1e3)


def rate_table(rows):
    return cell_table(rows, "gradients/s", lambda cell, round_s: cell.workers / round_s)


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


def write_document(path, plot, calibration, rows, further, windows, overlap):
    """rows, further and windows: comparison.Row; overlap: what overlap.json holds."""
    everything = rows + further
    earlier = sum(row.check_s is None for row in everything)
    in_ms = {name: calibration[name] * 1e3 for name in (
        "extra_latency_s", "message_overhead_s", "lenet5_gradient_s", "start_spread_s")}
    text = [INTRODUCTION.format(
        measured=len(everything), cells=judge(everything).cells,
        earlier=EARLIER.format(earlier=earlier) if earlier else "",
        beside=BESIDE if any(row.beside_others for row in everything) else "",
        disagreement=100 * max(row.disagreement for row in everything)).rstrip()]
    text += verdict_table([("D-PSGD and the ring allreduce", rows, MIN_CELLS),
                           ("all else", further, MIN_FURTHER_CELLS)])
    text += ["", "![Error against step time](images/simulator-accuracy.svg)", ""]
    text.append(CALIBRATION.format(
        goodput_share=calibration["goodput_share"],
        packets_share=goodput_share(calibration, MODEL),
        memory_bandwidth=calibration["memory_bandwidth_bytes_per_s"] / 1e9, **in_ms).rstrip())
    if not calibration["valid"]:
        text.append(BUSY.rstrip())
    text += ["", "## Cell by cell", "", "D-PSGD and the ring allreduce:"] + step_table(rows)
    text += ["", "Other algorithms, the other order, local steps, stragglers, one round at a time "
             "and two:"] + step_table([row for row in further if not row.cell.asynchronous])
    text += ["", "Algorithms in which nobody waits for a slow node, in gradients of all workers "
             "together (the error is that of times, as above):"] + rate_table([row for row in further if row.cell.asynchronous])
    text += ["", BIAS.rstrip()] + bias_table(everything)
    text += ["", OVERLAP.format(limit=LIMIT).rstrip()] + overlap_table(overlap)
    text += ["", WINDOW.rstrip()]
    text += ["| %s | %.1f%s | %.1f |" % (
        ", ".join(describe(row.cell)), row.measured_s * 1e3,
        "" if row.valid else " (does not count)", row.predicted_s * 1e3) for row in windows]
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")
    with open(plot, "w", encoding="utf-8") as file:
        file.write(scatter_plot(everything, GATE, GOAL))
