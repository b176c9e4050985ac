#!/usr/bin/env python3
"""Which benchmarks have become slower: slower.py BEFORE NOW

The files are what bench/mix_bench, simulation_bench, training_bench and transport_bench print. Where
a bench measures a peer beside itself the ratio counts, which a busier machine changes little; else
processor time. Exit status 1 where one takes half as long again as before, or has no figure any more;
without BEFORE there is nothing to compare.
"""
import re
import sys

LIMIT = 1.5
# Of each line: the name of what was measured, and how much it costs from its figure.
FIGURES = [
    (re.compile(r"^(?P<name>.+?) +\d+ B/element .* x (?P<figure>[\d.]+)$"), lambda ratio: 1 / ratio),
    (re.compile(r"^(?P<name>\w+) .* samples/s, .*ratio (?P<figure>[\d.]+)$"), lambda ratio: 1 / ratio),
    (re.compile(r"^(?P<name>\w+) +(?P<figure>\d+) samples/s; "), lambda rate: 1 / rate),
    (re.compile(r"^(?P<name>.+?) +[\d.]+ ms .* (?P<figure>[\d.]+) x raw TCP$"), lambda ratio: 1 / ratio),
    (re.compile(r"^(?P<name>\S+, model \w+, \d+ nodes), .* and (?P<figure>[\d.]+) s of processor time "),
     lambda seconds: seconds),
]


def cost(line):
    for pattern, cost_of in FIGURES:
        if (found := pattern.match(line)) and float(found["figure"]) > 0:
            return found["name"], cost_of(float(found["figure"]))
    return None


def costs(path):
    with open(path, encoding="utf-8") as file:
        return dict(filter(None, map(cost, file.read().splitlines())))


def main(before, now):
    now = costs(now)
    try:
        before = costs(before)
    except FileNotFoundError:
        before = {}
    missing = sorted(before.keys() - now.keys())
    for name in missing:
        print("%s: no figure any more" % name)
    slower = 0
    for name in sorted(now.keys() & before.keys()):
        ratio = now[name] / before[name]
        if ratio > LIMIT:
            print("%s: %.2f times as long as before" % (name, ratio))
            slower += 1
    print("%d benchmarks, %d compared, %d slower" % (len(now), len(now.keys() & before.keys()), slower))
    return 1 if slower or missing or not now else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
