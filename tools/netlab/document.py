"""docs/simulator-accuracy.md: tables, verdicts and the plot, from what was measured."""
from comparison import GATE, GOAL, MIN_CELLS, MIN_FURTHER_CELLS, judge
from overlap import LIMIT
from scatter import scatter_plot

INTRODUCTION = """# How far the simulator can be trusted

`grapevine sim` predicts how long a round takes. This page compares its predictions with real
`grapevine node` processes, each on a host of its own in the lab of `tools/netlab`: network
namespaces on one machine, with real TCP and gRPC between them, limited bandwidth and added latency.

One command measures the cells that are missing, simulates all of them and writes this page (root,
Linux, about twenty minutes):

    bazel build //:grapevine //tools/netlab:netlab_relay
    sudo tools/netlab/netlab.py validate

A cell is one experiment: {measured} of them were measured. It counts when the processors were
idle for at least 30 % of its steady rounds; {cells} count.{beside}
{shares}

An error is predicted over measured time of a round, minus one: below zero, the simulator is too
fast. The first fifth of the rounds is left out on both sides. Where nodes share a [budget of
gradients](architecture.md#how-a-run-begins-and-ends), a round is a nominal one, and the last
twentieth of them is left out, too. Each measured time was computed twice, from the run's metrics
and from the nodes' own; the two differ by at most {disagreement:.1f} %.{earlier}
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

# Of the first part of a spec; what is left has servers.
KINDS = (("dpsgd", "D-PSGD"), ("allreduce", "allreduces"), ("adpsgd", "AD-PSGD"))

EARLIER = """ (Not where the tables
have no share that was left. These cells are from an earlier measurement. Their times
and idle shares were entered again from this page's earlier version, as it rounded them, to 0.1 ms
and 1 %, so that an error may be off by 0.1 points. The calibration below is the
earlier one, too, with as many digits as the page had. The other cells were measured later, and are
predicted with it.)"""

BESIDE = """ In brackets are cells during which
the lab left at least 30 % of the processors (`left`), but not idle: programs of others ran in what
its real-time priority leaves them. They do not count, and are judged apart."""

SHARES = """
`idle` is what nobody used, by the kernel's idle time; `left` is what the lab's own processes did not
use, by their run times. Both are shares of the time that passed.{doubt}
"""

# Of results that are not by the clock: their shares are shares of what /proc/stat added up to.
DOUBT = """ **Not so in the tables of this
page.** They were measured when both were shares of what the fields of `/proc/stat` added up to. With
a tick that books what it finds, and stops when it finds nothing, this is less than the time that
passed: estimated from the rounds' own times, 5 to 25 % less in the cells that have both shares. So
`idle` is too high there and `left` too low, and in most rows `left` is the lower one, which the
definitions exclude. Of the time that passed, `idle` was at least three quarters of what the tables
say. The criterion was that much too lenient: a cell at less than 40 % may have had less than 30 %
in truth. {doubtful} of those that count are such cells; without them,
{verdicts}."""

# Written by hand for one measurement: no figure in it is computed.
BIAS = """## Which way it errs

The tables of this page are computed; this section's text is not. It was written for the measurement
of November 2026 on a machine of two cores, and stays as it is when another is made: then compare it
with the tables. Three of its findings cannot be repeated with a flag of `netlab.py`: `reno` takes
another `congestion_control` of `Lab` (`lab.py`), `tcp_slow_start_after_idle` a `sysctl` in each
host's namespace, the trace a record of the packets there.

`--network-model=nic`, the default, is too fast for D-PSGD where a node has several neighbours. The
cause is in how interfaces are shared: equal shares of equal messages that begin together end at one
moment. Packets cannot; in the lab one message ends some packets before the other. A node of D-PSGD
waits for the last of its neighbours. Where their messages end out of step, receivers are crowded at
one time and idle at another, and the delay goes around the graph. A ring allreduce sends one message
at a time, and has next to no such error; buckets have it.

The same equality keeps the workers of an asynchronous server in step for ever: two whose updates
end at one moment get their answers at one moment, and the server's two directions are never busy at
once. In the lab they may drift apart; `nic` then takes up to a quarter longer.

`--network-model=queue`, which the tables are about, lets the last two packets of a message wait in
its host's queue. That is no fit: it is about the least that Linux lets a connection keep there ([TCP
small queues](https://lwn.net/Articles/507065/)). In the first table it takes the mean error of D-PSGD
from -2.4 to -1.7 %. What is left has the same sign: Linux queues more at higher rates, about a
millisecond's worth.

What is still wrong by more than a tenth:

- Halving-doubling on 8 nodes at 20 Mbit/s and 10 ms, 29 % too fast, and somewhat less the
  hierarchical allreduce on 8. Each connection carries two messages a round, and CUBIC stops its slow
  start (HyStart) as soon as the first of them queue: its congestion windows stay below what bandwidth
  times latency needs. With `reno` in place of `cubic` in the lab the faster rounds of the first cell
  take 231 ms, as predicted. An idle connection's restart is not the cause: without it
  (`tcp_slow_start_after_idle=0`) the cell takes as long. `--slow-start` knows only the first message
  and pauses, and remembers no window from message to message.
- DOWNPOUR and EASGD with one server at 20 Mbit/s, 26 and 27 % too fast with `queue`, 5 % with
  `nic`. In a trace of the lab the server gets its updates in pairs, 17 ms apart, and a pair every
  100 ms, 86 of which carry bytes. Equal shares keep such a distance as it is, so that small effects
  decide whether it grows: at 50 Mbit/s it did, here it does not, and in `queue` it does at any rate.
  What holds the pairs together is unknown. Until then the two models are the two ends of what a
  server may do.
- `ps:async` on one server whose interface is the limit (100KB and 50KB at 50 Mbit/s) lies between
  the two models for the same reason: `queue` is 14 % too fast, `nic` 23 and 4 % too slow.
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


def verdict_table(groups):
    """groups: a name, rows, and how many have to count, each."""
    lines = ["", "| | cells | median error | worst error | gate: %.0f %%, %.0f %% "
             "| goal: %.0f %%, %.0f %% |" % tuple(100 * bound for bound in GATE + GOAL),
             "|---|---|---|---|---|---|"]
    for name, rows, min_cells in groups:
        for suffix, error in (("", lambda row: row.error), (", `nic`", lambda row: row.plain_error)):
            lines.append(verdict_line(name + suffix, judge(rows, error), min_cells))
        if any(row.beside_others for row in rows):
            lines.append(verdict_line(name + ", also beside other work", judge(
                rows, counts=lambda row: row.valid or row.beside_others), min_cells))
    return lines


def doubt(rows, further):
    """What is to be said of shares that were not by the clock; nothing if all were."""
    if all(row.by_clock for row in rows + further):
        return ""
    sure = [judge(group, counts=lambda row: row.valid and not row.doubtful)
            for group in (rows, further)]
    return DOUBT.format(
        doubtful=sum(row.doubtful for row in rows + further),
        verdicts=";\n".join("%d cells of %s are left, median error %.1f %%, worst %.1f %%" % (
            verdict.cells, name, verdict.median * 100, verdict.worst * 100)
            for name, verdict in zip(("D-PSGD and the ring allreduce", "all else"), sure))).rstrip()


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
    lines = ["", "| | cells | mean error, `queue` | too fast | mean error, `nic` | too fast |",
             "|---|---|---|---|---|---|"]
    for name in dict.fromkeys(kind_of(row.cell) for row in rows):
        counted = [row for row in rows if row.valid and kind_of(row.cell) == name]
        if not counted:
            continue
        columns = []
        for errors in ([row.error for row in counted], [row.plain_error for row in counted]):
            columns += [percent(sum(errors) / len(errors)), sum(error < 0 for error in errors)]
        lines.append("| %s | %d | %s | %d | %s | %d |" % (name, len(counted), *columns))
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
             "| predicted, %s | error | `nic` |" % (unit, unit),
             "|---|---|---|---|---|---|---|---|---|---|---|"]
    for row in rows:
        lines.append("| " + " | ".join(describe(row.cell) + [
            idle_of(row), "%.1f" % quantity(row.cell, row.measured_s),
            "%.1f" % quantity(row.cell, row.predicted_s),
            verdict_of(row), percent(row.plain_error)]) + " |")
    return lines


def idle_of(row):
    left = "" if row.left_share is None else ", %.0f %%" % (row.left_share * 100)
    return "%.0f %%%s" % (row.idle_share * 100, left)


def verdict_of(row):
    if row.valid:
        return percent(row.error)
    return "(%s)" % percent(row.error) if row.beside_others else "does not count"


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
    in_ms = {name: calibration[name] * 1e3 for name in (
        "extra_latency_s", "message_overhead_s", "lenet5_gradient_s")}
    text = [INTRODUCTION.format(
        shares=SHARES.format(doubt=doubt(rows, further)).rstrip(), measured=len(everything), cells=judge(everything).cells,
        earlier=EARLIER if any(row.check_s is None for row in everything) else "",
        beside=BESIDE if any(row.beside_others for row in everything) else "",
        disagreement=100 * max(row.disagreement for row in everything)).rstrip()]
    text += verdict_table([("D-PSGD and the ring allreduce", rows, MIN_CELLS),
                           ("all else", further, MIN_FURTHER_CELLS)])
    text += ["", "![Error against step time](images/simulator-accuracy.svg)", ""]
    text.append(CALIBRATION.format(
        goodput_share=calibration["goodput_share"],
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
