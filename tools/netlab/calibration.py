"""What the simulator has to be told about the lab's network, measured at n = 2.

A step of two nodes that compute nothing takes
    latency + 2 * overhead + size / goodput + mix
(`docs/simulator-accuracy.md`). When the nodes of a run begin is measured at n = 4. The latency is that of small datagrams; goodput and
overhead are fitted to calibration cells, which are not validation cells.
"""
import json
import os
import subprocess
import sys

import lab as network
from cell import median, run_cell
from matrix import calibration_cells, gradient_cell, start_cell
from units import bits_per_second, seconds, size_bytes

ECHO_PORT = 6000
ECHOES = 200
STARTS = 5
# Passes over memory of a D-PSGD step at n = 2, in replicas, as sim/engine/simulation.cc
# counts them: two terms, gradient, result, momentum read and written.
MIX_PASSES = 6

ECHO_SERVER = """
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("0.0.0.0", %d))
while True:
    s.sendto(*s.recvfrom(100))
""" % ECHO_PORT
ECHO_CLIENT = """
import socket, sys, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.settimeout(1)
for i in range(%d):
    begin = time.monotonic()
    try:
        s.sendto(b"x", (sys.argv[1], %d))
        s.recvfrom(100)
    except OSError:
        time.sleep(0.05)
        continue
    print(time.monotonic() - begin)
    time.sleep(0.005)
""" % (ECHOES, ECHO_PORT)


def one_way_latency(relay, bandwidth, latency):
    """Median over datagrams, seconds, half of there and back."""
    with network.Lab(relay, 2, bits_per_second(bandwidth), round(seconds(latency) * 1e6)) as lab:
        lab.start(1, [sys.executable, "-c", ECHO_SERVER])
        client = lab.start(0, [sys.executable, "-c", ECHO_CLIENT, network.address(1)],
                           stdout=subprocess.PIPE, text=True)
        output, _ = client.communicate(timeout=60)
    times = [float(line) for line in output.split()]
    if len(times) < ECHOES / 2:
        raise network.LabError("only %d of %d datagrams came back" % (len(times), ECHOES))
    return median(times) / 2


def fit_line(points):
    """Least squares on relative errors: y = intercept + slope * x."""
    weights = [1 / (y * y) for _, y in points]
    total = sum(weights)
    mean_x = sum(w * x for w, (x, _) in zip(weights, points)) / total
    mean_y = sum(w * y for w, (_, y) in zip(weights, points)) / total
    above = sum(w * (x - mean_x) * (y - mean_y) for w, (x, y) in zip(weights, points))
    below = sum(w * (x - mean_x) ** 2 for w, (x, y) in zip(weights, points))
    slope = above / below
    return mean_y - slope * mean_x, slope


def start_spread(bench):
    """Within how many seconds the nodes of a run begin: the median of a few runs, by their traces."""
    spreads = []
    for _ in range(STARTS):
        trace = os.path.join(bench.scratch, "last-start.json")
        run_cell(start_cell(), bench.grapevine, bench.relay, os.path.join(bench.scratch, "last-cell"),
                 trace=trace)
        with open(trace, encoding="utf-8") as file:
            events = json.load(file)["traceEvents"]
        first = {}  # microseconds, by node
        for event in events:
            if event["ph"] == "X" and event["name"] == "gradient":
                first[event["pid"]] = min(event["ts"], first.get(event["pid"], event["ts"]))
        spreads.append((max(first.values()) - min(first.values())) / 1e6)
    return median(spreads)


def calibrate(bench):
    """Runs what is missing; writes and returns the calibration."""
    cells = calibration_cells()
    points, passes, extra = [], [], []
    latencies = {}
    valid = True
    for cell in cells:
        network_of = cell.bandwidth, cell.latency
        if network_of not in latencies:
            latencies[network_of] = one_way_latency(bench.relay, *network_of)
            extra.append(latencies[network_of] - seconds(cell.latency))
    for number, cell in enumerate(cells, 1):
        result = bench.measure("calibration", cell, "calibration %d/%d " % (number, len(cells)))
        if result is None:
            raise network.LabError("a calibration cell could not be run: " + cell.label())
        valid = valid and result["valid"]
        size = size_bytes(cell.model.split(":")[1])
        points.append((size * 8 / bits_per_second(cell.bandwidth),
                       result["step_s"] - result["mix_s"]
                       - latencies[cell.bandwidth, cell.latency]))
        passes.append((size * MIX_PASSES, result["mix_s"]))
    intercept, slope = fit_line(points)
    learning = bench.measure("calibration", gradient_cell(), "gradient of the real model ")
    if learning is None:
        raise network.LabError("the real model could not be run")
    largest = max(passes)
    calibration = {
        "valid": valid and learning["valid"],
        "goodput_share": 1 / slope,
        "extra_latency_s": max(0.0, median(extra)),
        "message_overhead_s": max(0.0, intercept / 2),
        "memory_bandwidth_bytes_per_s": largest[0] / largest[1],
        "lenet5_gradient_s": learning["gradient_s"],
        "lenet5_bytes": learning["model_bytes"],
        "start_spread_s": start_spread(bench),
    }
    bench.store.write_json("calibration.json", calibration)
    return calibration
