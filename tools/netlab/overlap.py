"""Does the exchange hide behind the gradient? The gate of the overlap.

For each case the exchange is measured alone (no compute), then the step with a
gradient that takes just as long. It may take at most 1.15 times the longer of the
two, plus the mix.
"""
import dataclasses

from matrix import overlap_cells, with_rounds

LIMIT = 1.15


def measure_overlap(bench):
    """A list of dicts: the cell, exchange, gradient, mix and step, seconds, and the ratio."""
    rows = []
    for alone in overlap_cells():
        exchange = bench.measure("exchange alone", alone, "exchange alone ")
        if exchange is None:
            continue
        both = with_rounds(dataclasses.replace(
            alone, compute="%dus" % round(exchange["step_s"] * 1e6)))
        step = bench.measure("overlap", both, "overlap ")
        if step is None:
            continue
        longer = max(exchange["step_s"], step["gradient_s"])
        rows.append({"cell": dataclasses.asdict(both), "exchange_s": exchange["step_s"],
                     "gradient_s": step["gradient_s"], "mix_s": step["mix_s"],
                     "step_s": step["step_s"], "valid": exchange["valid"] and step["valid"],
                     "ratio": (step["step_s"] - step["mix_s"]) / longer})
    return rows
