#!/usr/bin/env python3
"""No two types of the program have one name.

Two classes of one name in one namespace are undefined behaviour that no compiler sees
(the one definition rule), and two of one name in two folders are a riddle for a reader.
Compared are the types that headers declare and those that a source declares outside of
unnamed namespaces; what is in an unnamed namespace is its file's own.
"""
import collections
import pathlib
import re
import subprocess
import sys

TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|union|enum class|enum) (?:\w+\(.*\) )?(\w+)(?!\w|::)[^;]*$")
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{$")
CLOSE = re.compile(r"^\}  // namespace")


def declared(text):
    """(line, qualified name) of the types at namespace scope."""
    inside = []
    for number, line in enumerate(text.splitlines(), 1):
        if opened := NAMESPACE.match(line):
            inside.append(opened.group(1) or "")
        elif CLOSE.match(line):
            inside.pop()
        elif "" not in inside and (found := TYPE.match(line)):
            yield number, "::".join(inside + [found.group(1)])


def main():
    listed = subprocess.run(["git", "ls-files", "--", "*.h", "*.cc", "*.cu", ":!tests", ":!bench",
                             ":!examples", ":!tools"],
                            check=True, capture_output=True, text=True)
    places = collections.defaultdict(list)
    for path in listed.stdout.split():
        for number, name in declared(pathlib.Path(path).read_text()):
            places[name].append(f"{path}:{number}")
    twice = {name: where for name, where in places.items() if len(where) > 1}
    for name, where in sorted(twice.items()):
        print(f"{name}: {', '.join(where)}")
    if not twice:
        print(f"{len(places)} types")
    return 1 if twice else 0


if __name__ == "__main__":
    sys.exit(main())
