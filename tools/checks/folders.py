#!/usr/bin/env python3
"""The folders use each other as docs/architecture.md says, and no two in a circle.

The arrows are derived from the includes. The page's table has a row for each folder with
sources, inner ones too, and the folders that it uses: a folder without a row is an error, a row
without a folder, an arrow that is not there, and one there that no include needs. So is a picture of the outer
folders that shows other arrows; --draw draws it anew. Folders that may use everything (tests,
bench, ...) are not in the table.
"""
import collections
import pathlib
import re
import subprocess
import sys

import folder_picture

PAGE = "docs/architecture.md"
PICTURE = "docs/images/folders.svg"
ROW = re.compile(r"^\| `([\w/]+)/` \|.*\| ([^|]*) \|$", re.M)
INCLUDE = re.compile(r'^#include "([\w/]+)/[^"]*"', re.M)


def documented():
    """folder -> the folders that it may use, as the page has them."""
    rows = ROW.findall(pathlib.Path(PAGE).read_text())
    return {folder: set(re.findall(r"[\w/]+", uses)) for folder, uses in rows}


def outer(folder):
    return folder.split("/")[0]


def derived(outers):
    """folder -> {used folder: a file that includes it}, of all within `outers`."""
    listed = subprocess.run(["git", "ls-files", "--", "*.h", "*.cc", "*.cu"], check=True,
                            capture_output=True, text=True)
    arrows = collections.defaultdict(dict)
    for path in listed.stdout.split():
        user = str(pathlib.PurePath(path).parent)
        if outer(user) not in outers:
            continue
        arrows[user].update({})
        for used in INCLUDE.findall(pathlib.Path(path).read_text()):
            if outer(used) in outers and used != user:
                arrows[user].setdefault(used, path)
    return arrows


def between_outers(arrows):
    """The same arrows, from outer folder to outer folder."""
    found = collections.defaultdict(set)
    for user, uses in arrows.items():
        found[outer(user)] |= {outer(used) for used in uses} - {outer(user)}
    return found


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
    arrows = derived({outer(folder) for folder in allowed})
    wrong = [f"{PAGE} has no row for {folder}/" for folder in sorted(arrows) if folder not in allowed]
    wrong += [f"{PAGE} has a row for {folder}/, where nothing is" for folder in sorted(allowed) if folder not in arrows]
    wrong += [f"{path}: {user} uses {used}, which {PAGE} does not say"
              for user, uses in sorted(arrows.items()) if user in allowed
              for used, path in sorted(uses.items()) if used not in allowed[user]]
    wrong += [f"{PAGE}: {user} does not use {used}"
              for user, uses in sorted(allowed.items()) for used in sorted(uses)
              if used not in arrows[user]]
    outers = between_outers(arrows)
    for graph in (arrows, outers):
        if around := circle(graph):
            print("\n".join(wrong + ["a circle: " + " -> ".join(around)]))
            return 1
    drawn = folder_picture.picture(outers, sorted(arrows))
    if "--draw" in sys.argv[1:]:
        pathlib.Path(PICTURE).write_text(drawn)
    elif not pathlib.Path(PICTURE).exists() or pathlib.Path(PICTURE).read_text() != drawn:
        wrong.append(f"{PICTURE} shows other arrows: python3 tools/checks/folders.py --draw")
    print("\n".join(wrong) or f"{len(allowed)} folders, {sum(map(len, arrows.values()))} arrows")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
