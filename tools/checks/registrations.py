#!/usr/bin/env python3
"""Whatever registers itself is linked.

Nothing refers to a Registration at namespace scope (base/registry.h), so that the linker drops
its file from a library unless that is alwayslink: the name would be unknown, and no compiler
sees it. Left out are the sources of binaries and tests, which are always linked, and a source
that defines its registry as well, which goes where the look-up goes.
"""
import pathlib
import re
import subprocess
import sys

REGISTERS = re.compile(r"^const (?:grapevine::)?Registration k", re.M)
OWN_REGISTRY = re.compile(r"^Registry<\w+>& \w+\(\) \{", re.M)
LIBRARY = re.compile(r"^cc_library\(\n.*?^\)", re.M | re.S)


def main():
    listed = subprocess.run(["git", "ls-files", "--", "*.cc", ":!tests"],
                            check=True, capture_output=True, text=True)
    registering = 0
    dropped = []
    for path in map(pathlib.Path, listed.stdout.split()):
        text = path.read_text()
        if not REGISTERS.search(text) or OWN_REGISTRY.search(text):
            continue
        registering += 1
        for library in LIBRARY.findall((path.parent / "BUILD.bazel").read_text()):
            if f'"{path.name}"' in library and "alwayslink = True" not in library:
                dropped.append(f"{path} registers itself, but its library is not alwayslink")
    print("\n".join(dropped) or f"{registering} files register what they define")
    return 1 if dropped else 0


if __name__ == "__main__":
    sys.exit(main())
