"""A wheel of the Python package with the library in it (PEP 427), and with what this needs."""
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


def libraries(library, scratch, bundled):
    """{path in the wheel: bytes}, and the licences of what is not Grapevine's."""
    package, others = scratch / "grapevine", scratch / "grapevine.libs"
    package.mkdir()
    others.mkdir()
    own = debian_package.stripped(os.path.abspath(library), package)
    own.chmod(0o644)  # Bazel's may not be written
    licences = bundled_libraries.bundle(own, others) if bundled else {}
    files = {f"{others.name}/{path.name}": path.read_bytes() for path in sorted(others.iterdir())}
    return {"grapevine/libgrapevine.so.1": own.read_bytes(), **files}, licences


def files_of(packed, licences, version, tag):
    """{path in the wheel: bytes}, the record last."""
    files = {**installation.python_package(SOURCE), **packed}
    info = f"grapevine-{version}.dist-info"
    for package, text in licences.items():
        files[f"{info}/licenses/{package}"] = text
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    files[f"{info}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = "".join(record_line(path, data) for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    return files


def pack(library, scratch, out, bundled=True):
    """Writes the wheel of a built library into the folder `out`; returns its path. `bundled`: the
    libraries that it needs are in it."""
    version = python_version((SOURCE / "VERSION").read_text().strip())
    tag = f"py3-none-{platform_tag(bundled)}"
    packed, licences = libraries(library, scratch, bundled)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files_of(packed, licences, version, tag).items():
            wheel.writestr(zipfile.ZipInfo(path, TIME), data, zipfile.ZIP_DEFLATED)
    out.mkdir(parents=True, exist_ok=True)
    path = out.resolve() / f"grapevine-{version}-{tag}.whl"
    installation.write(path, memory.getvalue(), 0o644)
    return path
