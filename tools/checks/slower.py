#!/usr/bin/env python3
"""Which benchmarks take longer than they did: slower.py BEFORE.json NOW.json

Reads what Google's benchmarks write. Exit status 1 where one takes half as
long again as before; without BEFORE there is nothing to compare.
"""
import json
import sys

LIMIT = 1.5


def times(path):
    with open(path, encoding="utf-8") as file:
        return {one["name"]: one["cpu_time"] for one in json.load(file)["benchmarks"]
                if one.get("run_type", "iteration") == "iteration"}


def main(before, now):
    now = times(now)
    try:
        before = times(before)
    except FileNotFoundError:
        before = {}
    slower = 0
    for name in sorted(now.keys() & before.keys()):
        ratio = now[name] / before[name] if before[name] else 1
        if ratio > LIMIT:
            print("%s: %.2f times as long as before" % (name, ratio))
            slower += 1
    print("%d benchmarks, %d compared, %d slower" % (len(now), len(now.keys() & before.keys()), slower))
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
