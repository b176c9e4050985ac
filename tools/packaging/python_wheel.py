"""A wheel of the Python package with the library in it (PEP 427)."""
import base64
import hashlib
import io
import os
import platform
import zipfile

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


def files_of(library, version, tag):
    """{path in the wheel: bytes}, the record last."""
    files = installation.python_package(SOURCE)
    files["grapevine/libgrapevine.so.1"] = library
    info = f"grapevine-{version}.dist-info"
    files[f"{info}/METADATA"] = METADATA.format(version=version).encode()
    files[f"{info}/WHEEL"] = WHEEL.format(tag=tag).encode()
    files[f"{info}/LICENSE"] = (SOURCE / "LICENSE").read_bytes()
    record = "".join(record_line(path, data) for path, data in files.items())
    files[f"{info}/RECORD"] = (record + f"{info}/RECORD,,\n").encode()
    return files


def pack(library, scratch, out):
    """Writes the wheel of a built library into the folder `out`; returns its path."""
    version = python_version((SOURCE / "VERSION").read_text().strip())
    tag = f"py3-none-linux_{platform.machine()}"
    stripped = debian_package.stripped(os.path.abspath(library), scratch)
    memory = io.BytesIO()
    with zipfile.ZipFile(memory, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in files_of(stripped.read_bytes(), version, tag).items():
            wheel.writestr(zipfile.ZipInfo(path, TIME), data, zipfile.ZIP_DEFLATED)
    out.mkdir(parents=True, exist_ok=True)
    path = out.resolve() / f"grapevine-{version}-{tag}.whl"
    installation.write(path, memory.getvalue(), 0o644)
    return path
