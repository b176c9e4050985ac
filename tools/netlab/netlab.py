#!/usr/bin/env python3
"""netlab: runs real Grapevine nodes on an emulated network on one machine, and
compares how long their steps take with what `grapevine sim` says.

Each node has a host of its own: a network namespace, with its own rate and
latency. Needs Linux and root, and bazel build //:grapevine //tools/netlab:netlab_relay.
"""
import argparse
import json
import os
import signal
import sys

import lab
from calibration import calibrate
from cell import Cell, CellFailed
from comparison import compare, judge
from doctor import judge_foretelling
from document import write_document
from matrix import further_cells, validation_cells, window_cells
from overlap import measure_overlap
from store import Store, Workbench
from windows import measure_windows

MEASURED = "tools/netlab/measured"
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def workbench(options):
    lab.check_machine()
    os.makedirs(options.scratch, exist_ok=True)
    return Workbench(Store(options.out), options.scratch, options.grapevine, options.relay, options.attempts,
                     options.patience, options.quiet)


def own_cell(options):
    return Cell(nodes=options.nodes, bandwidth=options.bandwidth, latency=options.latency,
                topology=options.topology, algorithm=options.algorithm, model=options.model,
                compute=options.compute if options.model.startswith("phantom:") else "",
                batch=options.batch, window=options.window, rounds=options.rounds,
                straggler=options.straggler)


def run(options):
    """One experiment of the user's own."""
    cell = own_cell(options)
    bench = workbench(options)
    for number in range(options.repeat):
        result = bench.measure("run %d" % number, cell)
        if result is None:
            return 1
        print(json.dumps(result))
    return 0


def measure(options):
    """Calibration, overlap and validation cells, as far as they are missing."""
    bench = workbench(options)
    calibrate(bench)
    for role, cells in (("further", further_cells()), ("validation", validation_cells()),
                        ("window", window_cells())):
        for number, cell in enumerate(cells, 1):
            bench.measure(role, cell, "%s %d/%d " % (role, number, len(cells)))
    bench.store.write_json("overlap.json", measure_overlap(bench))
    return 0


def document(options):
    """Simulates the cells that were measured and writes the document."""
    store = Store(options.out)
    calibration = store.read_json("calibration.json")
    rows, further, windows = [
        compare(role, cells, store, calibration, options.grapevine, options.scratch)
        for role, cells in (("validation", validation_cells()), ("further", further_cells()),
                            ("window", window_cells()))]
    write_document(options.document, options.plot, calibration, rows, further, windows,
                   store.read_json("overlap.json"))
    verdict = judge(rows + further)
    if verdict.cells == 0:
        print("no cell counts: the machine was busy (%s)" % store.path, file=sys.stderr)
        return 1
    print("%d valid cells, median error %.1f %%, worst %.1f %%" % (
        verdict.cells, verdict.median * 100, verdict.worst * 100))
    return 0


def validate(options):
    """measure and document: everything, by one command."""
    return measure(options) or document(options)


def windows(options):
    """Two rounds at once against one, in turns, on graphs that change (seven minutes)."""
    return 0 if measure_windows(workbench(options)) else 1


def doctor(options):
    """What `grapevine doctor` measures, simulated, against an experiment over the same network."""
    lab.check_machine()
    os.makedirs(options.scratch, exist_ok=True)
    cell = own_cell(options)
    if not cell.phantom:
        raise ValueError("--model=%s: the simulator is told how long a gradient takes, which a "
                         "phantom says (phantom:2MB)" % cell.model)
    holds = [judge_foretelling(cell, options.slow, options.grapevine, options.relay, options.scratch)
             for _ in range(options.repeat)]
    return 0 if all(holds) else 1


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for function in (run, doctor, measure, document, validate, windows):
        command = commands.add_parser(function.__name__, help=function.__doc__.splitlines()[0],
                                      formatter_class=argparse.ArgumentDefaultsHelpFormatter)
        command.set_defaults(function=function)
        add = command.add_argument
        add("--grapevine", default=os.path.join(ROOT, "bazel-bin/grapevine"), help="the program")
        own = function in (run, doctor, windows)
        add("--out", default="netlab-run" if own else os.path.join(ROOT, MEASURED),
            help="folder of what was measured; finished cells are kept")
        add("--scratch", default="netlab-run", help="folder of the last run and simulation")
        if function is not document:
            add("--relay", default=os.path.join(ROOT, "bazel-bin/tools/netlab/netlab_relay"),
                help="the relay")
            add("--attempts", type=int, default=3, help="how often a cell is tried that does not "
                "count, because other processes kept the machine busy")
            add("--quiet", type=float, default=0.8,
                help="the share of idle time that a cell waits for")
            add("--patience", type=float, default=60, help="seconds to wait for it")
        if function in (document, validate):
            add("--document", default=os.path.join(ROOT, "docs/simulator-accuracy.md"),
                help="where the table goes")
            add("--plot", default=os.path.join(ROOT, "docs/images/simulator-accuracy.svg"),
                help="where the plot goes")
        if function in (run, doctor):
            add("-n", "--nodes", type=int, default=4, help="hosts, one node each")
            add("--bandwidth", default="100Mbit", help="of each direction of each host")
            add("--latency", default="5ms", help="one way")
            add("--topology", default="ring", help="as `grapevine node` takes it")
            add("--algorithm", default="dpsgd", help="as `grapevine node` takes it")
            add("--model", default="phantom:1MB", help="as `grapevine node` takes it")
            add("--compute", default="10ms", help="time of a phantom's gradient")
            add("--batch", type=int, default=16, help="of a model that learns")
            add("--window", type=int, default=0, help="as `grapevine node` takes it")
            add("--straggler", default="none", help="as `grapevine node` takes it")
            add("--rounds", type=int, default=60, help="how long")
            add("--repeat", type=int, default=1, help="how often")
        if function is doctor:
            add("--slow", default="", help="what the last host may send")
    return parser.parse_args()


def main():
    # Exceptions, so that the lab is taken down; also where a shell's background
    # job is told to ignore Ctrl-C.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    options = arguments()
    try:
        return options.function(options)
    except (lab.LabError, CellFailed, ValueError) as error:
        print("netlab: %s" % error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
