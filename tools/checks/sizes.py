#!/usr/bin/env python3
"""No class and no function of the product is more than one concept.

A class has at most 45 methods and 25 data members, a function at most 70
lines: what grows beyond is two. The few that are beyond stand below with what
they have, which may shrink and not grow; one that has become small enough is
to be taken out. Read by universal-ctags.
"""
import collections
import json
import subprocess
import sys

METHODS, MEMBERS, LINES = 45, 25, 70

# Class: methods, members.
GROWN = {
    # What a node decides, between threads and sockets: to become states of node/life.
    "Coordinator": (89, 25),
    "Runner": (111, 44),
    "NodeRun": (68, 43),
    "NodeSession": (61, 34),
    "ControlLine": (45, 38),
    # The Host of all virtual nodes: a request is a method, until requests on vectors are one.
    "Simulation": (77, 23),
    "ResilientAlgorithm": (54, 17),
    # One state machine of an edge: its two directions share every member.
    "PeerLink": (50, 25),
    # What a configuration has become: an accessor for each part.
    "Experiment": (49, 13),
    "Collective": (46, 21),
    "SimulatedRun": (34, 26),
    # Passive: the fields of a file, of a message, of flags.
    "Summary": (0, 41),
    "NodeSessionOptions": (0, 36),
    # Precomputed sizes and descriptors of one layer of cuDNN.
    "WeightedLayer": (16, 29),
}

# Attributes that look like functions to who does not know them.
ATTRIBUTES = ["ABSL_EXCLUSIVE_LOCK_FUNCTION", "ABSL_EXCLUSIVE_LOCKS_REQUIRED", "ABSL_GUARDED_BY",
              "ABSL_LOCKABLE", "ABSL_LOCKS_EXCLUDED", "ABSL_MUST_USE_RESULT",
              "ABSL_SCOPED_LOCKABLE", "ABSL_UNLOCK_FUNCTION", "__launch_bounds__"]


def tags_of(files):
    """What ctags says of them, a dict for each name that they define."""
    command = ["ctags", "--quiet", "--options=NONE", "--output-format=json", "--fields=+neaSK",
               "--kinds-C++=+p", "--langmap=C++:+.cu", "-L", "-", "-f", "-"]
    command += ["-I" + name + "+" for name in ATTRIBUTES]
    listed = subprocess.run(command, input="\n".join(files), check=True, text=True,
                            stdout=subprocess.PIPE)
    return [json.loads(line) for line in listed.stdout.splitlines()]


def classes(tags):
    """(path, line, name, methods, members) of each class."""
    scopes = {}
    for tag in tags:
        if tag["kind"] in ("class", "struct") and "end" in tag:
            scope = "::".join(filter(None, [tag.get("scope"), tag["name"]]))
            scopes[(tag["path"], scope)] = (tag, collections.Counter())
    for tag in tags:
        found = scopes.get((tag["path"], tag.get("scope")))
        # A definition further down in the same file is counted where it is declared.
        if found and found[0]["line"] <= tag["line"] <= found[0]["end"]:
            kind = "member" if tag["kind"] == "member" else "method"
            if tag["kind"] in ("prototype", "function", "member"):
                found[1][kind] += 1
    for (path, _), (tag, count) in sorted(scopes.items()):
        yield path, tag["line"], tag["name"], count["method"], count["member"]


def long_functions(tags):
    for tag in tags:
        lines = tag.get("end", tag["line"]) - tag["line"] + 1
        if tag["kind"] == "function" and lines > LINES:
            yield "%s:%d: %s has %d lines, and may have %d" % (
                tag["path"], tag["line"], tag["name"], lines, LINES)


def findings(tags, grown):
    met = set()
    for path, line, name, methods, members in classes(tags):
        known = grown.get(name, (0, 0))
        most = max(METHODS, known[0]), max(MEMBERS, known[1])
        if methods > METHODS or members > MEMBERS:
            met.add(name)
        if methods > most[0] or members > most[1]:
            yield "%s:%d: %s has %d methods and %d members, and may have %d and %d" % (
                path, line, name, methods, members, *most)
    for name in sorted(grown.keys() - met):
        yield "tools/checks/sizes.py: %s needs no exception any more" % name
    yield from long_functions(tags)


def main():
    listed = subprocess.run(
        ["git", "ls-files", "--", "*.h", "*.cc", "*.cu", ":!tests/", ":!bench/", ":!examples/"],
        check=True, text=True, stdout=subprocess.PIPE)
    found = list(findings(tags_of(listed.stdout.split()), GROWN))
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
