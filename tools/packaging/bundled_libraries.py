"""Programs and libraries with the libraries that they need, so that they run where those are
missing, or are others.

Copies of them lie in a folder beside, under names of their own, which nobody else asks for: a
process may have loaded libraries of the usual names for somebody else. Names are made of contents,
so that two programs that bring the same library along share it.
"""
import hashlib
import os
import pathlib
import re

from debian_package import run
from installation import InstallError

# What every Linux with a C++ runtime has (PEP 600). There is one C library in a process, and one
# C++ runtime, as exceptions go through it.
SYSTEMS_OWN = re.compile(r"(ld-linux[\w-]*|lib(c|dl|gcc_s|m|pthread|resolv|rt|stdc\+\+))\.so\.\d+")
DOCUMENTS = pathlib.Path("/usr/share/doc")


def needed_by(library):
    """{name: path} of all libraries that it needs, directly or not, but the system's own."""
    libraries = {}
    for line in run("ldd", str(library)).splitlines():
        name, arrow, rest = line.strip().partition(" => ")
        if not arrow or SYSTEMS_OWN.fullmatch(name):
            continue
        path = rest.split(" (")[0]
        if not os.path.isfile(path):
            raise InstallError(f"{library} needs {name}, which is not there; run "
                               "tools/install_packages")
        libraries[name] = path
    return libraries


def own_name(name, path):
    """libre2.so.9 becomes libre2-0a1b2c3d.so.9."""
    digest = hashlib.sha256(pathlib.Path(path).read_bytes()).hexdigest()[:8]
    stem, dot, rest = name.partition(".so")
    return f"{stem}-{digest}{dot}{rest}"


def licences(paths):
    """{name of a package: its copyright file}, of the packages that these files are from."""
    # /lib is /usr/lib, and packages name it either way.
    patterns = {"*" + os.path.realpath(path).removeprefix("/usr") for path in paths}
    found = run("dpkg-query", "--search", *sorted(patterns))
    packages = sorted({line.split(":")[0] for line in found.splitlines()})
    return {package: (DOCUMENTS / package / "copyright").read_bytes() for package in packages}


def patch(file, names, folder):
    """Lets it look in the folder, relative to its own, for those of its libraries that have names
    of their own."""
    wanted = run("patchelf", "--print-needed", str(file)).split()
    renamed = [argument for name in wanted if name in names
               for argument in ("--replace-needed", name, names[name])]
    # patchelf does one kind of change at a time.
    if renamed:
        run("patchelf", *renamed, str(file))
    run("patchelf", "--set-rpath", os.path.join("$ORIGIN", folder), str(file))


def bundle(binaries, folder):
    """Makes these programs and libraries ask for copies of what they need, and leaves the copies in
    the empty `folder`, which is to lie where it lies now, seen from each. Returns the licences of
    what is in it, by the names of their packages."""
    needed = {name: path for binary in binaries for name, path in needed_by(binary).items()}
    names = {name: own_name(name, path) for name, path in needed.items()}
    for name, path in needed.items():
        copy = folder / names[name]
        copy.write_bytes(pathlib.Path(path).read_bytes())
        run("patchelf", "--set-soname", names[name], str(copy))
        patch(copy, names, "")
    for binary in binaries:
        patch(binary, names, os.path.relpath(folder, pathlib.Path(binary).parent))
    return licences(needed.values())
