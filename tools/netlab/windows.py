"""Two rounds at once against one, where rounds have different neighbours.

The two are measured in turns, so that a machine that changes its mood changes both.
Where bandwidth is the limit two rounds at once may cost next to nothing; where latency
is, they save one.
"""
from cell import median
from matrix import GOODPUT, phantom
from units import bits_per_second, seconds, size_bytes

REPEATS = 3
# Shares of window 1's time where bandwidth is the limit; of latency and transfer where latency is.
BANDWIDTH_LIMIT = 1.02
LATENCY_LIMIT = 1.15


def experiments():
    """Nodes, replica, bandwidth, latency."""
    return [(4, "400KB", "20Mbit", "5ms"), (8, "400KB", "20Mbit", "5ms"),
            (4, "800KB", "50Mbit", "2ms"),
            (4, "60KB", "20Mbit", "30ms"), (8, "60KB", "20Mbit", "30ms"),
            (4, "240KB", "50Mbit", "64ms")]


def cell_of(experiment, window):
    nodes, size, bandwidth, latency = experiment
    return phantom(nodes, "one-peer-exponential", "dpsgd", size, "5ms", bandwidth, latency, window)


def least(experiment):
    """Seconds: one latency and the message."""
    _, size, bandwidth, latency = experiment
    return seconds(latency) + size_bytes(size) * 8 / GOODPUT / bits_per_second(bandwidth)


def measure_windows(bench):
    """Prints a line for each experiment; whether every limit holds on valid cells."""
    times = {}
    valid = {}
    for repeat in range(REPEATS):
        for experiment in experiments():
            for window in (1, 2):
                result = bench.measure("windows %d" % repeat, cell_of(experiment, window),
                                       "%d/%d " % (repeat + 1, REPEATS))
                if result is None:
                    continue
                times.setdefault((experiment, window), []).append(result["step_s"])
                valid[experiment] = valid.get(experiment, True) and result["valid"]
    holds = True
    for experiment in experiments():
        if (experiment, 1) not in times or (experiment, 2) not in times:
            holds = False
            continue
        one, two = (median(times[experiment, window]) for window in (1, 2))
        by_latency = 2 * seconds(experiment[3]) > least(experiment)
        ratio = two / least(experiment) if by_latency else two / one
        limit = LATENCY_LIMIT if by_latency else BANDWIDTH_LIMIT
        holds = holds and ratio <= limit
        print("n=%d %s %s %s: window 1 %.1f ms, window 2 %.1f ms, %.3f of %s (limit %.2f)%s" % (
            *experiment, one * 1e3, two * 1e3, ratio,
            "latency + transfer" if by_latency else "window 1", limit,
            "" if valid[experiment] else ": the machine was busy"))
    return holds
