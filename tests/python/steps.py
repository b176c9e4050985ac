"""A node that steps for a long time: steps.py ON_FAILURE ROUNDS. Says "stepped" after its first steps,
and "done" at the end."""

import sys

import cluster  # noqa: F401
import numpy

import grapevine as gv

node = gv.Node(
    {"x": numpy.ones(1000, numpy.float32)},
    topology="complete",
    rounds=sys.argv[2],
    lr=0.001,
    on_failure=sys.argv[1],
    peer_timeout="3s",
    min_peer_timeout="1s",
)
steps = 0
for task in node:
    steps += 1
    if steps == 5:
        print("stepped", flush=True)
    task.gradient[:] = task.replica
    node.deliver(1.0)
print("done", flush=True)
