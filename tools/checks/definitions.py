#!/usr/bin/env python3
r"""Nothing in namespace grapevine has two definitions, nor could it.

    bazel build //...
    bazel aquery 'outputs(".*\.o", //...)' |
      python3 tools/checks/definitions.py "$(bazel info bazel-bin)"

The second says which objects the build has now: those of other versions lie beside them, and their
times say nothing, for what comes back as it was is not made again.

Two definitions of one name are undefined behaviour (the one definition rule) that no compiler
sees, and the linker only where they are strong and in one program; and they are a riddle for a
reader. Compared is the whole tree, tests too, whether two files are ever linked together or not:

- types, by their text: those that headers define, and sources outside of unnamed namespaces, and
  the aliases of headers, for two that mean the same today may differ tomorrow;
- what the objects of the build define. Two sources may define one symbol if it is weak (inline
  functions, templates, virtual tables) and both include a header that names it. A symbol that
  no header of its source names belongs in an unnamed namespace, where nothing can clash with
  it: it is an error even while it is the only one;
- suites of tests, for two tests may become one program: one name in two files is an error
  unless all are plain TESTs of different names. Fixtures are in unnamed namespaces.

A source called no_SOMETHING stands in where SOMETHING is left out, and tests/emulated_cuda/ for
libraries of a GPU: they may define the same. Not seen are inline functions of one name and
signature in two headers where the compiler inlines every call.
"""
import collections
import functools
import os
import pathlib
import re
import subprocess
import sys

# The first line of a definition: its { may be on a later one. Neither a declaration (;) nor a
# specialization (<) defines a name.
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|union|enum class|enum) "
                  r"(?:(?:\w+\(.*\)|[A-Z]+(?:_[A-Z]+)+|\[\[.*\]\]) )*"  # alignas, attributes
                  r"(\w+)(?: final)?(?: :[^;{]*)?(?: ?\{.*)?$")
ALIAS = re.compile(r"^(?:template <.*> )?using (\w+) =")
NAMESPACE = re.compile(r"^(?:inline )?namespace(?: ([\w:]+))? \{$")
CLOSE = re.compile(r"^\}  // namespace")
INCLUDE = re.compile(r'^#include "([^"]+)"', re.M)
TEST = re.compile(r"^(TEST|TEST_F|TEST_P|TYPED_TEST)\(\s*(\w+),\s*(\w+)\)", re.M)
# A mangled name: what it is about, then the scopes around it, outermost first.
MANGLED = re.compile(r"_Z(?:T[VTISW]|G[VR]|T[hv]n?\d+_(?:n?\d+_)?|Tc)?N[rVK]*[RO]?(9grapevine.*)")
OBJECT = re.compile(r"(.*/)?(?:_objs/[^/]+|[^/]+_objects)/([^/.]+)(\.cu)?(?:\.pic)?\.o")
# An output of an action, as aquery prints it.
MADE = re.compile(r"bazel-out/[^/\s]+/bin/([^\s,\]]+\.o)\b")
STAND_IN = re.compile(r"(?:.*/)?no_[^/]*|tests/emulated_cuda/.*")


def tracked(*patterns):
    listed = subprocess.run(["git", "ls-files", "--", *patterns], check=True, capture_output=True,
                            text=True)
    return [path for path in listed.stdout.split() if os.path.exists(path)]


def types(path):
    """(line, qualified name) of the types at namespace scope, unnamed ones left out."""
    heads = (TYPE, ALIAS) if path.endswith(".h") else (TYPE,)
    inside = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if opened := NAMESPACE.match(line):
            inside.append(opened.group(1) or "")
        elif CLOSE.match(line):
            inside.pop()
        elif "" not in inside:
            for found in filter(None, (head.match(line) for head in heads)):
                yield number, "::".join(inside + [found.group(1)])


def types_twice():
    places = collections.defaultdict(list)
    for path in tracked("*.h", "*.cc", "*.cu"):
        for line, name in types(path):
            places[name].append(f"{path}:{line}")
    return [f"{name}: {', '.join(where)}" for name, where in sorted(places.items())
            if len(where) > 1], len(places)


def suites_twice():
    suites = collections.defaultdict(lambda: collections.defaultdict(list))
    for path in tracked("*.cc"):
        for kind, suite, case in TEST.findall(pathlib.Path(path).read_text()):
            suites[suite][path].append((kind, case))
    clashes = []
    for suite, files in sorted(suites.items()):
        cases = [case for of_file in files.values() for case in of_file]
        plain = all(kind == "TEST" for kind, _ in cases) and len(set(cases)) == len(cases)
        if len(files) > 1 and not plain:
            clashes.append(f"tests {suite}: {', '.join(sorted(files))}")
    return clashes


class Sources:
    """What the files of the tree, and generated ones below `built`, include and name."""

    def __init__(self, built):
        self.built = pathlib.Path(built)

    @functools.lru_cache(maxsize=None)
    def text(self, path):
        for file in (pathlib.Path(path), self.built / path):
            if file.exists():
                return re.sub(r"//.*", "", file.read_text(errors="replace"))
        return ""

    @functools.lru_cache(maxsize=None)
    def words(self, path):
        return set(re.findall(r"\w+", self.text(path)))

    @functools.lru_cache(maxsize=None)
    def headers(self, path):
        """All that it includes, directly or not."""
        found, new = set(), {path}
        while new:
            included = {header for file in new for header in INCLUDE.findall(self.text(file))}
            new = included - found
            found |= new
        return frozenset(found)

    @functools.lru_cache(maxsize=None)
    def naming(self, source, name):
        """The headers of a source that name something."""
        return frozenset(header for header in self.headers(source)
                         if header.endswith(".h") and name in self.words(header))


def newest_objects(built, actions):
    """Source -> object, the newest that the actions make of it: with and without -fPIC are two.

    A generated source may stand for those that it includes, as compiled_together.bzl makes it.
    """
    tracked_sources = set(tracked("*.cc", "*.cu"))
    newest = {}
    for output in MADE.findall(actions):
        path = pathlib.Path(built, output)
        if not path.exists():
            continue
        parts = OBJECT.fullmatch(output)
        source = parts and f"{parts[1] or ''}{parts[2]}{parts[3] or '.cc'}"
        together = source and pathlib.Path(built, source)
        if source in tracked_sources:
            contents = {source}
        elif together and together.exists():
            contents = tracked_sources.intersection(INCLUDE.findall(together.read_text()))
        else:
            continue
        made = path.stat().st_mtime
        for content in contents:
            newest[content] = max(newest.get(content, (0,)), (made, source, path))
    return {source: path for _, source, path in newest.values()}


def symbols(objects):
    """(source, weak, mangled name) of what the objects define for others."""
    source_of = {str(path): source for source, path in objects.items()}
    listed = subprocess.run(["nm", "--defined-only", "--extern-only", "--print-file-name",
                             "--no-sort", *source_of], check=True, capture_output=True, text=True)
    for line in listed.stdout.splitlines():
        place, kind, name = line.rsplit(" ", 2)
        yield source_of[place.rpartition(":")[0]], kind in "WVu", name


@functools.lru_cache(maxsize=None)
def namespaces():
    found = {"grapevine"}
    for path in tracked("*.h", "*.cc"):
        for line in pathlib.Path(path).read_text().splitlines():
            if opened := NAMESPACE.match(line):
                found.update((opened.group(1) or "").split("::"))
    return found


@functools.lru_cache(maxsize=None)
def outermost(mangled):
    """The class, function or variable in namespace grapevine that a symbol belongs to."""
    scopes = MANGLED.match(mangled)
    if not scopes or "_GLOBAL__N_" in mangled:
        return None
    rest = scopes.group(1)
    while length := re.match(r"\d+", rest):
        end = length.end() + int(length.group())
        name, rest = rest[length.end():end], rest[end:]
        if name not in namespaces():
            return name
    return "operator"


def defined_twice(sources, objects):
    places = collections.defaultdict(dict)
    for source, weak, name in symbols(objects):
        if outermost(name):
            places[name][source] = weak
    wrong = {}  # what is wrong with a class or function -> its shortest symbol
    for name, where in places.items():
        thing = outermost(name)
        naming = [sources.naming(source, thing) for source in where]
        apart = [source for source in where if not STAND_IN.fullmatch(source)]
        if len(apart) > 1 and not all(where[source] for source in apart):
            why = f"is defined by {' and '.join(sorted(apart))}"
        elif not all(naming):
            alone = next(source for source in where if not sources.naming(source, thing))
            why = f"is named by no header of {alone}: put it into an unnamed namespace"
        elif not frozenset.intersection(*naming):
            why = ("has two definitions: no header that names it is common to " +
                   " and ".join(sorted(where)))
        else:
            continue
        wrong[thing, why] = min(wrong.get((thing, why), name), name, key=len)
    readable = subprocess.run(["c++filt"], input="\n".join(wrong.values()), check=True,
                              capture_output=True, text=True).stdout.splitlines()
    return sorted(f"{name} {why}" for name, (_, why) in zip(readable, wrong)), len(places)


def main():
    twice, types_seen = types_twice()
    objects = newest_objects(sys.argv[1], sys.stdin.read())
    if not objects:
        print(f"no objects below {sys.argv[1]}: bazel build //... makes them")
        return 1
    clashes, symbols_seen = defined_twice(Sources(sys.argv[1]), objects)
    wrong = twice + clashes + suites_twice()
    print("\n".join(wrong) or
          f"{types_seen} types, {symbols_seen} symbols of {len(objects)} sources")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
