#!/usr/bin/env python3
"""The folders use each other as docs/architecture.md says, and no two in a circle.

The arrows are derived from the includes. The page's table has, for each folder, the
folders that it uses: an arrow that is not there is an error, and so is one there that no
include needs. Folders that may use everything (tests, bench, ...) are not in the table.
"""
import collections
import pathlib
import re
import subprocess
import sys

PAGE = "docs/architecture.md"
ROW = re.compile(r"^\| `(\w+)/` \|.*\| ([^|]*) \|$", re.M)
INCLUDE = re.compile(r'^#include "(\w+)/[^"]*"', re.M)


def documented():
    """folder -> the folders that it may use, as the page has them."""
    rows = ROW.findall(pathlib.Path(PAGE).read_text())
    return {folder: set(re.findall(r"\w+", uses)) for folder, uses in rows}


def derived(folders):
    """folder -> {used folder: a file that includes it}."""
    listed = subprocess.run(["git", "ls-files", "--", "*.h", "*.cc", "*.cu"], check=True,
                            capture_output=True, text=True)
    arrows = collections.defaultdict(dict)
    for path in listed.stdout.split():
        user = path.split("/")[0]
        for used in INCLUDE.findall(pathlib.Path(path).read_text()):
            if user in folders and used in folders and used != user:
                arrows[user].setdefault(used, path)
    return arrows


def circle(arrows):
    """The folders of a circle, in its order; none is []."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return []
        path.append(folder)
        found = next(filter(None, map(visit, sorted(arrows.get(folder, ())))), [])
        path.pop()
        done.add(folder)
        return found

    return next(filter(None, map(visit, sorted(arrows))), [])


def main():
    allowed = documented()
    if not allowed:
        print(f"{PAGE} has no table of folders")
        return 1
    arrows = derived(allowed)
    wrong = [f"{path}: {user} uses {used}, which {PAGE} does not say"
             for user, uses in sorted(arrows.items())
             for used, path in sorted(uses.items()) if used not in allowed[user]]
    wrong += [f"{PAGE}: {user} does not use {used}"
              for user, uses in sorted(allowed.items()) for used in sorted(uses)
              if used not in arrows[user]]
    if around := circle(arrows):
        wrong.append("a circle: " + " -> ".join(around))
    print("\n".join(wrong) or f"{len(allowed)} folders, {sum(map(len, arrows.values()))} arrows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
