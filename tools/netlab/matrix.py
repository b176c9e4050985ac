"""The cells of the comparison with the simulator.

Validation cells differ from the calibration cells in everything but the network
itself: n = 4 and 8 instead of 2, other sizes, every topology.
"""
import dataclasses

from cell import Cell
from units import bits_per_second, seconds, size_bytes

# All hosts together may send at most so many bits a second: the machine has to
# carry each frame several times and to stay idle enough.
MAX_TRAFFIC = 200e6
# What the steady rounds of a cell should last, and the bounds on their number.
STEADY_S = 8
MIN_ROUNDS = 30
MAX_ROUNDS = 300
# A rough goodput, to choose the number of rounds.
GOODPUT = 0.93

DEGREE = {("ring", 2): 1, ("ring", 4): 2, ("ring", 8): 2, ("torus", 4): 2, ("torus", 8): 3,
          ("one-peer-exponential", 4): 1, ("one-peer-exponential", 8): 1}
LENET5_BYTES = 247000
LENET5_COMPUTE_S = 0.005


def estimate(cell):
    """Seconds a step, and bits that a node sends in it, roughly."""
    size = size_bytes(cell.model.split(":")[1]) if cell.phantom else LENET5_BYTES
    bits = size * 8 / GOODPUT
    transfer = bits / bits_per_second(cell.bandwidth)
    compute = seconds(cell.compute) if cell.phantom else LENET5_COMPUTE_S
    latency = seconds(cell.latency)
    if cell.algorithm == "allreduce":
        steps = 2 * (cell.nodes - 1)
        return compute + steps * (latency + transfer / cell.nodes), bits * steps / cell.nodes
    degree = DEGREE[cell.topology, cell.nodes]
    return max(compute, latency + degree * transfer), bits * degree


def with_rounds(cell):
    step, bits = estimate(cell)
    if cell.nodes * bits / step > MAX_TRAFFIC:
        raise ValueError("%s: more than %d Mbit/s in all" % (cell.label(), MAX_TRAFFIC / 1e6))
    rounds = int(STEADY_S / 0.8 / step)
    return dataclasses.replace(cell, rounds=max(MIN_ROUNDS, min(MAX_ROUNDS, rounds)))


def phantom(nodes, topology, algorithm, size, compute, bandwidth, latency, window=0):
    return with_rounds(Cell(nodes=nodes, topology=topology, algorithm=algorithm,
                            model="phantom:" + size, compute=compute, bandwidth=bandwidth,
                            latency=latency, window=window))


def lenet5(nodes, topology, algorithm, batch, bandwidth, latency, window=0):
    return with_rounds(Cell(nodes=nodes, topology=topology, algorithm=algorithm, model="lenet5",
                            batch=batch, bandwidth=bandwidth, latency=latency, window=window))


def validation_cells():
    ring, torus, one_peer = "ring", "torus", "one-peer-exponential"
    dpsgd, allreduce = "dpsgd", "allreduce"
    return [
        # The network bounds the step.
        phantom(4, ring, dpsgd, "500KB", "10ms", "50Mbit", "1ms"),
        phantom(4, ring, dpsgd, "250KB", "10ms", "20Mbit", "10ms"),
        phantom(4, ring, dpsgd, "400KB", "10ms", "40Mbit", "5ms", window=1),
        phantom(8, ring, dpsgd, "250KB", "10ms", "20Mbit", "2ms"),
        phantom(8, ring, dpsgd, "150KB", "10ms", "10Mbit", "10ms", window=1),
        phantom(4, torus, dpsgd, "300KB", "10ms", "40Mbit", "2ms"),
        phantom(8, torus, dpsgd, "150KB", "10ms", "20Mbit", "5ms"),
        phantom(8, torus, dpsgd, "200KB", "10ms", "20Mbit", "10ms", window=1),
        phantom(8, torus, dpsgd, "100KB", "10ms", "10Mbit", "2ms"),
        phantom(4, one_peer, dpsgd, "800KB", "10ms", "50Mbit", "2ms", window=1),
        phantom(4, one_peer, dpsgd, "300KB", "10ms", "20Mbit", "10ms", window=1),
        phantom(8, one_peer, dpsgd, "400KB", "10ms", "20Mbit", "5ms", window=1),
        phantom(8, one_peer, dpsgd, "150KB", "10ms", "10Mbit", "20ms", window=1),
        # Latency counts as much as bytes.
        phantom(4, ring, dpsgd, "60KB", "5ms", "50Mbit", "20ms"),
        phantom(8, torus, dpsgd, "30KB", "5ms", "20Mbit", "30ms"),
        phantom(8, one_peer, dpsgd, "60KB", "5ms", "20Mbit", "30ms", window=1),
        # The gradient bounds the step.
        phantom(4, ring, dpsgd, "200KB", "120ms", "50Mbit", "5ms"),
        phantom(8, ring, dpsgd, "100KB", "150ms", "20Mbit", "5ms"),
        phantom(8, torus, dpsgd, "60KB", "120ms", "20Mbit", "10ms"),
        phantom(4, one_peer, dpsgd, "600KB", "120ms", "100Mbit", "5ms"),
        phantom(8, one_peer, dpsgd, "200KB", "150ms", "20Mbit", "10ms"),
        # Allreduce, where the gradient and the network add up.
        phantom(4, ring, allreduce, "600KB", "10ms", "50Mbit", "1ms"),
        phantom(4, ring, allreduce, "400KB", "50ms", "50Mbit", "5ms"),
        phantom(4, ring, allreduce, "200KB", "20ms", "20Mbit", "10ms"),
        phantom(4, ring, allreduce, "100KB", "10ms", "50Mbit", "20ms"),
        phantom(4, ring, allreduce, "1MB", "120ms", "100Mbit", "2ms"),
        phantom(8, ring, allreduce, "400KB", "10ms", "20Mbit", "1ms"),
        phantom(8, ring, allreduce, "200KB", "50ms", "20Mbit", "2ms"),
        phantom(8, ring, allreduce, "400KB", "20ms", "20Mbit", "10ms"),
        phantom(8, ring, allreduce, "100KB", "10ms", "20Mbit", "20ms"),
        # A model that learns.
        lenet5(4, ring, dpsgd, 4, "20Mbit", "5ms"),
        lenet5(4, one_peer, dpsgd, 4, "20Mbit", "5ms", window=1),
        lenet5(4, ring, allreduce, 4, "20Mbit", "2ms"),
        lenet5(8, torus, dpsgd, 4, "20Mbit", "5ms"),
        lenet5(8, ring, allreduce, 4, "20Mbit", "5ms"),
    ]


def further(rounds, nodes, algorithm, size, compute, bandwidth, latency, **others):
    """Rounds are said, for what `estimate` has no formula: as many as take about STEADY_S."""
    return Cell(rounds=rounds, nodes=nodes, algorithm=algorithm, model="phantom:" + size,
                compute=compute, bandwidth=bandwidth, latency=latency, **others)


def further_cells():
    """Every other way to exchange: by servers, in pairs, in buckets, over trees, in the other order."""
    one_peer = {"topology": "one-peer-exponential"}
    slow, sometimes_slow = "rank=1:factor=5", "p=0.1:factor=4"
    return [
        # Servers that wait for nobody: their interfaces are the limit, then the workers' latency.
        further(90, 5, "ps:async", "100KB", "30ms", "50Mbit", "2ms"),
        further(95, 9, "ps:async", "50KB", "60ms", "50Mbit", "2ms"),
        further(120, 5, "ps:async", "30KB", "40ms", "50Mbit", "10ms"),
        further(105, 6, "ps:async:servers=2", "120KB", "30ms", "50Mbit", "5ms"),
        further(90, 5, "ps:async", "60KB", "60ms", "50Mbit", "5ms", straggler=slow),
        further(60, 5, "ps:async:staleness=2", "60KB", "40ms", "50Mbit", "5ms", straggler=slow),
        further(170, 5, "downpour:window=4", "100KB", "10ms", "20Mbit", "5ms"),
        further(190, 6, "adag:window=2:servers=2", "150KB", "20ms", "50Mbit", "2ms"),
        further(170, 5, "easgd:async:every=4", "100KB", "10ms", "20Mbit", "5ms"),
        # Servers that wait for all.
        further(45, 5, "ps", "150KB", "30ms", "50Mbit", "2ms"),
        # Pairs.
        further(150, 4, "adpsgd", "100KB", "50ms", "50Mbit", "5ms"),
        further(95, 8, "adpsgd", "60KB", "60ms", "20Mbit", "10ms"),
        further(90, 8, "adpsgd", "60KB", "60ms", "20Mbit", "10ms", straggler=slow),
        further(160, 4, "adpsgd:every=4", "200KB", "20ms", "20Mbit", "5ms"),
        # Sums while the gradient is computed, in fewer steps, and between groups.
        further(70, 4, "allreduce:buckets=4", "400KB", "60ms", "50Mbit", "5ms"),
        further(45, 8, "allreduce:buckets=2", "200KB", "100ms", "20Mbit", "2ms"),
        further(70, 4, "allreduce:halving-doubling", "400KB", "20ms", "50Mbit", "5ms"),
        further(45, 8, "allreduce:halving-doubling", "200KB", "20ms", "20Mbit", "10ms"),
        further(50, 8, "allreduce:halving-doubling:buckets=4", "200KB", "80ms", "20Mbit", "5ms"),
        further(70, 4, "allreduce:hierarchical:groups=2", "200KB", "20ms", "50Mbit", "5ms"),
        further(60, 8, "allreduce:hierarchical:groups=2", "150KB", "20ms", "50Mbit", "2ms"),
        # The exchange after the gradient, or not in every round.
        further(95, 4, "dpsgd:order=atc", "200KB", "30ms", "50Mbit", "5ms"),
        further(60, 8, "dpsgd:order=atc", "60KB", "50ms", "20Mbit", "5ms", topology="torus"),
        further(95, 8, "dpsgd:order=atc", "150KB", "30ms", "20Mbit", "10ms", window=1, **one_peer),
        further(170, 4, "dpsgd:local=4", "200KB", "20ms", "20Mbit", "5ms"),
        # Slow nodes, and such as are slow now and then.
        further(65, 4, "dpsgd", "200KB", "40ms", "50Mbit", "5ms", straggler="rank=1:factor=4"),
        further(80, 8, "dpsgd", "60KB", "60ms", "20Mbit", "5ms", straggler=sometimes_slow),
        further(60, 4, "allreduce", "200KB", "40ms", "50Mbit", "5ms", straggler=sometimes_slow),
        # One round at a time, and two, where the latency counts.
        further(46, 4, "dpsgd", "200KB", "10ms", "20Mbit", "20ms", window=1),
        further(51, 4, "dpsgd", "200KB", "10ms", "20Mbit", "20ms", window=2),
        further(95, 8, "dpsgd", "100KB", "10ms", "20Mbit", "20ms", window=1, **one_peer),
        further(115, 8, "dpsgd", "100KB", "10ms", "20Mbit", "20ms", window=2, **one_peer),
    ]


def calibration_cells():
    """Two nodes, from messages that cost overhead alone to such that cost bytes alone."""
    return [with_rounds(Cell(nodes=2, bandwidth=bandwidth, latency=latency, compute="0ms",
                             model="phantom:%dB" % (bits_per_second(bandwidth) // 8000 * transfer)))
            for bandwidth, latency in (("20Mbit", "2ms"), ("50Mbit", "5ms"), ("40Mbit", "1ms"))
            for transfer in (2, 30, 90)]


def start_cell():
    """A few rounds, for when nodes begin."""
    return dataclasses.replace(phantom(4, "ring", "dpsgd", "100KB", "10ms", "50Mbit", "5ms"), rounds=20)


def gradient_cell():
    """The real model's gradient, where nothing disturbs it."""
    return with_rounds(Cell(nodes=2, model="lenet5", batch=4, bandwidth="50Mbit", latency="1ms"))


def overlap_cells():
    """Where exchange and gradient are to hide behind each other (overlap.py)."""
    ring, torus, one_peer = "ring", "torus", "one-peer-exponential"
    return [
        phantom(4, ring, "dpsgd", "400KB", "0ms", "40Mbit", "5ms"),
        phantom(8, torus, "dpsgd", "150KB", "0ms", "20Mbit", "2ms"),
        phantom(4, one_peer, "dpsgd", "800KB", "0ms", "40Mbit", "5ms", window=1),
    ]


def window_cells():
    """Where two rounds at once (window 2) and one at a time differ."""
    cells = [("one-peer-exponential", 4, "400KB", "20Mbit", "5ms"),
             ("ring", 4, "200KB", "20Mbit", "5ms"),
             ("torus", 8, "150KB", "20Mbit", "5ms")]
    return [phantom(nodes, topology, "dpsgd", size, "10ms", bandwidth, latency, window)
            for topology, nodes, size, bandwidth, latency in cells for window in (1, 2)]
