#!/usr/bin/env python3
"""clang-tidy over what compile_commands.json names: tidy.py [--part=K/N | FILE...]

Prints each warning once, and how many there are of each check. Exit status 1
when clang-tidy could not read a file. Without files, all of them, tests aside,
two at a time; with --part, every N-th, so that N parts, one after the other,
are all.
"""
import collections
import concurrent.futures
import json
import re
import subprocess
import sys

WARNING = re.compile(r"^(\S+:\d+:\d+): (warning|error): (.*) \[([\w.,-]+)\]$")


def tidy(file):
    result = subprocess.run(["clang-tidy", "-p", ".", "--quiet", file], text=True, check=False,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return [match.groups() for match in map(WARNING.match, result.stdout.splitlines()) if match]


def part_of(files, text):
    part, parts = map(int, text.split("/"))
    return files[part % parts::parts]


def main(arguments):
    files = [argument for argument in arguments if not argument.startswith("--")]
    with open("compile_commands.json", encoding="utf-8") as file:
        known = [entry["file"] for entry in json.load(file)]
    files = files or [name for name in sorted(known) if not name.startswith("tests/")]
    for argument in arguments:
        if argument.startswith("--part="):
            files = part_of(files, argument.removeprefix("--part="))
    seen = set()
    counts = collections.Counter()
    failed = False
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(tidy, files):
            for place, kind, message, check in found:
                if (place, check) in seen:
                    continue
                seen.add((place, check))
                failed = failed or kind == "error"
                counts[check] += 1
                print("%s: %s [%s]" % (place, message, check))
    for check, count in counts.most_common():
        print("%5d %s" % (count, check))
    print("%d warnings in %d files" % (sum(counts.values()), len(files)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
