#!/usr/bin/env python3
"""Every test that a page names is there.

Pages name the tests that show what they promise, in comments beside it and in code: Suite.Name,
Suite.* for all of a suite, Suite.Begin* or Suite.Begin… for those that begin so, and .Name for
another one of the suite before. Whoever renames a test finds here who speaks of it.
"""
import bisect
import pathlib
import re
import subprocess
import sys

DEFINED = re.compile(r"^\s*TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)", re.M)
PLACE = re.compile(r"<!--.*?-->|`[^`\n]+`", re.S)
NAMED = re.compile(r"(?<![\w./])([A-Z]\w*)?\.(?:([A-Z]\w*)([*…]?)|(\*))(?![\w/(])")
NO_SUITES = {"BUILD", "README", "WORKSPACE"}  # files


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--", *patterns],
                            check=True, capture_output=True, text=True)
    return [pathlib.Path(path) for path in listed.stdout.split()]


def defined():
    """Suite.Name of every test, sorted."""
    return sorted({f"{suite}.{case}" for path in tracked("tests/*.cc", "tests/*.inc", "tests/*.h")
                   for suite, case in DEFINED.findall(path.read_text())})


def named(text):
    """(name, whether only its beginning is given) of the tests that a page names."""
    suite = None
    for place in PLACE.findall(text):
        for own, case, open_end, whole in NAMED.findall(place):
            if own in NO_SUITES:
                continue
            suite = own or suite
            yield f"{suite}.{case}", bool(open_end or whole)


def main():
    tests = defined()
    known = set(tests)
    mentions = 0
    unknown = []
    for page in tracked("*.md"):
        if page.name == "CHANGELOG.md":  # of its time
            continue
        for name, begins in named(page.read_text()):
            mentions += 1
            at = bisect.bisect_left(tests, name)
            if name in known or begins and at < len(tests) and tests[at].startswith(name):
                continue
            unknown.append(f"{page}: there is no test {name}{'*' if begins else ''}")
    print("\n".join(unknown) or f"{mentions} mentions of tests")
    return 1 if unknown else 0


if __name__ == "__main__":
    sys.exit(main())
