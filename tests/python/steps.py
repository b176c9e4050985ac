"""A node that steps for a long time: steps.py ON_FAILURE [until-three]. Says "stepped" after its first
steps, and "done" at the end: all rounds, or with until-three once three nodes are left."""

import sys

import cluster  # noqa: F401
import numpy

import grapevine as gv

node = gv.Node(
    {"x": numpy.ones(1000, numpy.float32)},
    topology="complete",
    rounds=2000 if "until-three" in sys.argv else 10**9,
    lr=0.001,
    on_failure=sys.argv[1],
    peer_timeout="3s",
    min_peer_timeout="1s",
)
for task in node:
    if task.round == 5:
        print("stepped", flush=True)
    task.gradient[:] = task.replica
    node.deliver(1.0)
print("done", flush=True)
