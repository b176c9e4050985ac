"""A wheel of the Python package with the library and the program in it (PEP 427), and with what
these need."""
import base64
import hashlib
import io
import os
import platform
import zipfile

import bundled_libraries
import debian_package
import installation
from installation import SOURCE

METADATA = """\
Metadata-Version: 2.1
Name: grapevine
Version: {version}
Summary: Decentralized training by gossip
License: Apache-2.0
Requires-Python: >=3.8
Requires-Dist: numpy
Provides-Extra: torch
Requires-Dist: torch; extra == 'torch'
"""
# pip makes a command of it, where it puts those of other packages.
ENTRY_POINTS = """\
[console_scripts]
grapevine = grapevine.program:main
"""
PROGRAM = "grapevine/bin/grapevine"
WHEEL = """\
Wheel-Version: 1.0
Generator: grapevine
Root-Is-Purelib: false
Tag: {tag}
"""
# Of every file in it, as zip has no earlier time; the same sources give the same bytes.
TIME = (1980, 1, 1, 0, 0, 0)


def python_version(version):
    """0.2.0-rc1 as PEP 440 has it."""
    return version.replace("-", "")


def record_line(path, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")
    return f"{path},sha256={digest},{len(data)}\n"


def platform_tag(bundled):
    """Where it runs: with Debian's libraries, or with a C library as new as this machine's."""
    if not bundled:
        return f"linux_{platform.machine()}"
    major, minor = os.confstr("CS_GNU_LIBC_VERSION").removeprefix("glibc ").split(".")[:2]
    return f"manylinux_{major}_{minor}_{platform.machine()}"


def stripped(binary, path):
    """A copy there, which may be written, as Bazel's may not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    debian_package.stripped(os.path.abspath(binary), path.parent).rename(path)
    path.chmod(0o755)
    return path


def binaries(library, program, scratch, bundled):
    """{path in the wheel: bytes}, and the licences of what is not Grapevine's."""
    own = {"grapevine/libgrapevine.so.1": library, PROGRAM: program}
    own = [stripped(binary, scratch / path) for path, binary in own.items()]
    others = scratch / "grapevine.libs"
    others.mkdir()
    licences = bundled_libraries.bundle(own, others) if bundled else {}
    packed = own + sorted(others.iterdir())
    return {str(path.relative_to(scratch)): path.read_bytes() for path in packed}, licences


def files_of(packed, licences, version, tag):
    """{path in the wheel: bytes}, the record last."""
    files = {**installation.python_package(SOURCE), **packed}
    info = f"grapevine-{version}.dist-info"
    for package, text in licences.items():
        files[f"{info}/licenses/{package}"] = text
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/entry_points.txt"] = ENTRY_POINTS.encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    files[f"{info}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = "".join(record_line(path, data) for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    return files


def entry(path):
    """As pip reads it: what may be executed stays so."""
    info = zipfile.ZipInfo(path, TIME)
    info.external_attr = (0o100755 if path == PROGRAM else 0o100644) << 16
    return info


def pack(library, program, scratch, out, bundled=True):
    """Writes the wheel of a built library and program into the folder `out`; returns its path.
    `bundled`: the libraries that they need are in it."""
    version = python_version((SOURCE / "VERSION").read_text().strip())
    tag = f"py3-none-{platform_tag(bundled)}"
    packed, licences = binaries(library, program, scratch, bundled)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files_of(packed, licences, version, tag).items():
            wheel.writestr(entry(path), data, zipfile.ZIP_DEFLATED)
    out.mkdir(parents=True, exist_ok=True)
    path = out.resolve() / f"grapevine-{version}-{tag}.whl"
    installation.write(path, memory.getvalue(), 0o644)
    return path
