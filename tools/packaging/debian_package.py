"""A Debian package of an installation: its control files, its size, its dependencies."""
import email.utils
import gzip
import hashlib
import json
import os
import pathlib
import re
import subprocess
import textwrap
import time

import installation
from installation import SOURCE, InstallError

# DEBFULLNAME and DEBEMAIL, which Debian's own tools read, replace it.
MAINTAINER = ("Grapevine maintainers", "grapevine@packages.invalid")
DESCRIPTION = ("decentralized gossip SGD, for real and in a simulator", """\
Grapevine trains neural networks without a central server: every node keeps a replica of the \
weights, averages it with those of its neighbours in a graph and applies its own gradient \
(D-PSGD, push-sum, AD-PSGD). Allreduces and parameter servers run in the same harness.

The program starts the nodes of one machine or is one node of a cluster, simulates the same \
algorithms on a network that is described to it, and draws how runs converged. Programs in C, and in \
Python with NumPy or PyTorch, take part with gradients of their own.""")
CONTROL = """\
Package: grapevine
Version: {version}
Architecture: {architecture}
Maintainer: {maintainer}
Installed-Size: {kilobytes}
Depends: {depends}
Recommends: gnuplot-nox | gnuplot
Suggests: python3-numpy, python3-torch
Section: science
Priority: optional
Description: {synopsis}
{description}
"""
CHANGELOG = """\
grapevine ({version}) unstable; urgency=medium

  * Revision {revision}; see CHANGELOG.md.

 -- {maintainer}  {date}
"""
COPYRIGHT = """\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: Grapevine

Files: *
Copyright: {year} the authors of Grapevine
{comment}License: Apache-2.0
 On Debian systems, the Apache License 2.0 is in
 /usr/share/common-licenses/Apache-2.0.
"""


CUDA_COMMENT = """\
Comment: this build has the CUDA runtime in it, linked statically, whose terms are those of
 NVIDIA's CUDA Toolkit End User License Agreement.
"""


def run(*command, **options):
    """What the command prints. What it warns of is shown where it fails."""
    try:
        return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout
    except FileNotFoundError as error:
        raise InstallError(f"{command[0]} is missing; run tools/install_packages "
                           "package_packages.txt") from error
    except subprocess.CalledProcessError as error:
        raise InstallError(f"{command[0]} ended with {error.returncode}: {error.stderr.strip()}"
                           ) from error


def maintainer():
    name, address = MAINTAINER
    return f"{os.environ.get('DEBFULLNAME', name)} <{os.environ.get('DEBEMAIL', address)}>"


def debian_version(version):
    """0.2.0-rc1 comes before 0.2.0, and has no revision of a packager's."""
    return version.replace("-", "~")


def commit_time():
    """Of the sources, in seconds, so that the same sources give the same package."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return os.environ["SOURCE_DATE_EPOCH"]
    try:
        return run("git", "log", "-1", "--format=%ct", cwd=SOURCE).strip()
    except InstallError:  # a source archive, or no git
        return str(int((SOURCE / "VERSION").stat().st_mtime))


def wrapped(text):
    """An extended description: one blank before each line, a dot for an empty one."""
    paragraphs = [textwrap.wrap(part, 78) for part in text.split("\n\n")]
    return "\n .\n".join("\n".join(f" {line}" for line in lines) for lines in paragraphs)


def shared_libraries(binaries, folder):
    """What they need, with versions: dpkg-shlibdeps wants a source tree to run in."""
    (folder / "debian").mkdir()
    (folder / "debian/control").write_text("Source: grapevine\n\nPackage: grapevine\n"
                                           "Architecture: any\n")
    found = run("dpkg-shlibdeps", "-O", *(f"-e{binary}" for binary in binaries), cwd=folder)
    return re.fullmatch(r"shlibs:Depends=(.*)\n", found).group(1)


def copyright_text(program, date):
    with_cuda = json.loads(installation.output_of(program, "version", "--json"))["cuda"]
    year = time.gmtime(int(date)).tm_year
    return COPYRIGHT.format(year=year, comment=CUDA_COMMENT if with_cuda else "")


def dependencies(program, library, scratch):
    """Python only where its package is there, too."""
    needed = shared_libraries(filter(None, (program, library)), scratch)
    return f"{needed}, python3" if library else needed


def stripped(binary, scratch):
    """A copy without what only a debugger or a linker of objects reads."""
    copy = scratch / os.path.basename(binary)
    run("strip", "--strip-unneeded", "--remove-section=.comment", "--remove-section=.note",
        "-o", str(copy), os.path.abspath(binary))
    return copy


def packed_files(program, library, version, revision, date):
    """{path below /usr: (bytes, mode)}: the installation with Debian's own two pages."""
    files = installation.contents(program, library, "/usr")
    # Debian has the licence once for all packages, and wants the changelog packed.
    del files["share/doc/grapevine/LICENSE"]
    day = email.utils.formatdate(int(date))
    changelog = CHANGELOG.format(version=version, revision=revision, maintainer=maintainer(),
                                 date=day).encode()
    files["share/doc/grapevine/changelog.gz"] = (gzip.compress(changelog, 9, mtime=0), 0o644)
    files["share/doc/grapevine/copyright"] = (copyright_text(program, date).encode(), 0o644)
    return files


def checksums(root):
    lines = [f"{hashlib.md5(path.read_bytes()).hexdigest()}  {path.relative_to(root)}\n"
             for path in sorted(root.glob("usr/**/*")) if path.is_file()]
    return "".join(lines)


def pack(program, library, scratch, out):
    """Writes the package of what was built into the folder `out`; returns its path. `library` may
    be None."""
    said = installation.output_of(program, "--version").decode()
    version, revision = re.fullmatch(r"grapevine (\S+) \((\S+)\)\n", said).groups()
    version = debian_version(version)
    date = commit_time()
    program = stripped(program, scratch)
    library = library and stripped(library, scratch)
    root = scratch / "root"
    installation.install(packed_files(program, library, version, revision, date), "/usr", str(root))
    kilobytes = sum(path.stat().st_size + 1023 for path in root.glob("usr/**/*")) // 1024
    architecture = run("dpkg", "--print-architecture").strip()
    synopsis, description = DESCRIPTION
    (root / "DEBIAN").mkdir()
    (root / "DEBIAN/control").write_text(CONTROL.format(
        version=version, architecture=architecture, maintainer=maintainer(), kilobytes=kilobytes,
        depends=dependencies(program, library, scratch), synopsis=synopsis,
        description=wrapped(description)))
    (root / "DEBIAN/md5sums").write_text(checksums(root))
    for path in [root, *root.glob("**/*")]:
        if path.is_dir():
            path.chmod(0o755)
    name = f"grapevine_{version}_{architecture}.deb"
    packed = scratch / name
    run("dpkg-deb", "--root-owner-group", "-Zxz", "--build", str(root), str(packed),
        env=dict(os.environ, SOURCE_DATE_EPOCH=date))
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    path = pathlib.Path(out).resolve() / name
    installation.write(path, packed.read_bytes(), 0o644)
    return path


def lint(package):
    """Errors and warnings of lintian are errors."""
    ended = subprocess.run(["lintian", "--fail-on", "error,warning", "--no-cfg", "--allow-root",
                            str(package)])
    if ended.returncode != 0:
        raise InstallError(f"lintian has complaints about {package} (above)")
