#!/usr/bin/env python3
"""Every link of a Markdown page leads somewhere.

Looked at are all pages of the repository. A link to a file or folder must lead to one that git
has, or will have; one with an anchor, to a heading of that name, as GitHub names them. Links to
other machines are read, not followed.
"""
import difflib
import os
import pathlib
import re
import subprocess
import sys
import urllib.parse

import markdown_text

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
# A host has a name of at least two parts.
HOST_PARTS = 2


def tracked():
    """Files that git has, or would add."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            check=True, capture_output=True, text=True)
    return {path for path in listed.stdout.split("\0") if path and os.path.exists(path)}


def with_folders(files):
    folders = {"."}
    for path in files:
        folders.update(map(str, pathlib.PurePosixPath(path).parents))
    return files | folders


def flaw_of_address(target):
    """What is wrong with a link to another machine; empty if nothing is."""
    try:
        address = urllib.parse.urlsplit(target)
        _ = address.port  # which is read only now
    except ValueError as error:
        return str(error)
    if address.scheme == "mailto":
        return "" if "@" in address.path else "no address"
    if address.scheme not in ("http", "https"):
        return f"links begin with https:, not with {address.scheme}:"
    if len([part for part in (address.hostname or "").split(".") if part]) < HOST_PARTS:
        return "no host"
    return ""


class Tree:
    """The pages and files that links may lead to."""

    def __init__(self):
        self.files = tracked()
        self.all = with_folders(self.files)
        self.known = {}  # anchors, by page

    def anchors(self, page):
        if page not in self.known:
            self.known[page] = markdown_text.anchors(pathlib.Path(page).read_text())
        return self.known[page]

    def flaw(self, page, target):
        """What is wrong with a link on a page; empty if nothing is."""
        if not target:
            return "an empty link"
        if SCHEME.match(target):
            flaw = flaw_of_address(target)
            return flaw and f"{target}: {flaw}"
        path, _, anchor = target.partition("#")
        path = urllib.parse.unquote(path)
        if path.startswith("/"):
            return f"{target}: a path from the root leads elsewhere on each machine"
        goal = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
        if goal not in self.all:
            return f"there is no {goal}"
        if not anchor:
            return "#: an empty anchor" if target.endswith("#") else ""
        if not goal.endswith(".md"):
            return f"{goal} has no headings, so no #{anchor}"
        names = self.anchors(goal)
        if anchor in names:
            return ""
        nearest = difflib.get_close_matches(anchor, names, 1)
        return f"{goal} has no #{anchor}" + (f"; did you mean #{nearest[0]}?" if nearest else "")


def main():
    tree = Tree()
    pages = sorted(path for path in tree.files if path.endswith(".md"))
    count, wrong = 0, []
    for page in pages:
        links, dangling = markdown_text.links(pathlib.Path(page).read_text())
        count += len(links)
        flaws = [(link.line, tree.flaw(page, link.target)) for link in links]
        flaws += [(link.line, f"[{link.name}] is not defined") for link in dangling]
        wrong += [f"{page}:{line}: {flaw}" for line, flaw in sorted(flaws) if flaw]
    print("\n".join(wrong) or f"{count} links, {len(pages)} pages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
