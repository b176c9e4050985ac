#!/usr/bin/env python3
"""Trains, draws and sums up the demo: train_demo.py GRAPEVINE

tools/demo builds the program and calls this. Everything goes to demo-run/.
"""
import json
import os
import signal
import subprocess
import sys

NODES = 16
OUT = "demo-run"
GRAPHS = ["ring", "torus", "random:d=3", "complete"]
# Sorted by label a node sees one or two digits, so that all it knows of the others
# comes over its edges. No momentum: it amplifies the disagreement. The rate stays
# constant until 75 % and then drops: a plateau of the consensus distance, and what
# is left of it.
TRAINING = ["--data=synthetic", "--split=label", "--model=lenet5", "--epochs=12", "--batch=16",
            "--lr=0.1", "--momentum=0", "--schedule=step:at=75%", "--eval-every=0.5",
            "--log-every=10"]


def run(arguments, **options):
    """Runs a command to its end, also when this process is told to end before."""
    child = subprocess.Popen(arguments, **options)

    def forward(number, _):
        child.send_signal(number)

    # The terminal sends its Ctrl-C to the child as well.
    previous = [signal.signal(signal.SIGINT, lambda *_: None), signal.signal(signal.SIGTERM, forward)]
    output, _ = child.communicate()
    for number, handler in zip((signal.SIGINT, signal.SIGTERM), previous):
        signal.signal(number, handler)
    if child.returncode != 0:
        sys.exit(child.returncode if child.returncode > 0 else 128 - child.returncode)
    return output


def folder(graph):
    return os.path.join(OUT, graph.replace(":", "-").replace("=", ""))


def spectral_gap(grapevine, graph):
    described = run([grapevine, "topology", "--topology=" + graph, "--nodes=%d" % NODES, "--json"],
                    stdout=subprocess.PIPE)
    return json.loads(described)["spectral_gap"]


def row(grapevine, graph):
    with open(os.path.join(folder(graph), "summary.json"), encoding="utf-8") as file:
        summary = json.load(file)
    local = summary["local_test_accuracy"]
    return "%-12s %8.3f   %8.2f %%   %5.1f / %5.1f / %5.1f %%   %9.2g   %7.2f   %7.1f" % (
        graph, spectral_gap(grapevine, graph), 100 * summary["test_accuracy"], 100 * local["min"],
        100 * local["mean"], 100 * local["max"], summary["consensus_distance"],
        summary["bytes_sent_total"] / 1e9, summary["wall_time_s"])


def summary_text(grapevine):
    return "\n".join([
        "%d nodes, D-PSGD, LeNet-5 on the built-in data set split by label" % NODES,
        "",
        "                            test accuracy                  consensus   GB sent",
        "topology          gap     averaged     nodes, min/mean/max    distance    by all   seconds",
        *(row(grapevine, graph) for graph in GRAPHS),
        "",
        "gap: 1 - rho of the mixing matrix, 1 averages exactly in one round.",
        "averaged: the mean of all nodes' models, what the run is for; nodes: each one's own.",
        "consensus distance: mean squared distance of the nodes' models to their mean, at the end.",
    ]) + "\n"


def main(grapevine):
    try:
        os.makedirs(OUT, exist_ok=True)
    except OSError as error:
        sys.exit("tools/demo: cannot create %s: %s" % (OUT, error.strerror))
    picture, text = (os.path.join(OUT, name) for name in ("convergence.png", "summary.txt"))
    for old in (picture, text):
        if os.path.exists(old):
            os.remove(old)
    for number, graph in enumerate(GRAPHS, 1):
        print("\n(%d/%d) %s" % (number, len(GRAPHS), graph), flush=True)
        run([grapevine, "train", "--nodes=%d" % NODES, "--topology=" + graph, *TRAINING,
             "--out=" + folder(graph), "--overwrite"])
    run([grapevine, "plot", *map(folder, GRAPHS), "--loss=test", "--output=" + picture],
        stdout=subprocess.DEVNULL)
    summary = summary_text(grapevine)
    with open(text, "w", encoding="utf-8") as file:
        file.write(summary)
    print("\n%s\nThe curves: %s\nThis table: %s" % (summary, picture, text))


if __name__ == "__main__":
    main(sys.argv[1])
