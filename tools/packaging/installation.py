"""What an installation of Grapevine consists of, and how its files get where they belong.

A manifest in share/grapevine/installed, relative to the prefix, lists the files, and with a slash
at the end the folders, that an installation has created: it is what uninstall removes.
"""
import gzip
import os
import pathlib
import subprocess
import tempfile

# Not resolved: a test finds the links of its own tree.
SOURCE = pathlib.Path(os.path.abspath(__file__)).parents[2]
MANIFEST = pathlib.PurePosixPath("share/grapevine/installed")
PKG_CONFIG = """\
prefix={prefix}
libdir=${{prefix}}/lib/grapevine

Name: grapevine
Description: decentralized gossip SGD
Version: {version}
Cflags: -I${{prefix}}/include
Libs: -L${{libdir}} -Wl,-rpath,${{libdir}} -lgrapevine
"""


class InstallError(Exception):
    """Its text names the culprit and the remedy."""


def output_of(program, *arguments):
    """What the program prints."""
    try:
        ended = subprocess.run([program, *arguments], capture_output=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"{program} does not run: {error}") from error
    if ended.returncode != 0:
        raise InstallError(f"{program} {' '.join(arguments)} ended with {ended.returncode}: "
                           f"{ended.stderr.decode(errors='replace').strip()}")
    return ended.stdout


def manual_pages(program):
    with tempfile.TemporaryDirectory() as folder:
        output_of(program, "manual", f"--all={folder}")
        return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


def documents(source):
    """Pages, their pictures and the examples, by their paths in the source tree."""
    patterns = ["README.md", "CHANGELOG.md", "LICENSE", "docs/*.md", "docs/tutorials/*.md", "docs/images/*",
                "examples/README.md", "examples/*.cc", "examples/BUILD.bazel"]
    return sorted(path.relative_to(source) for pattern in patterns for path in source.glob(pattern))


def zsh_folder(prefix):
    """Debian's zsh looks for the completions of its packages and for others in two places."""
    return "share/zsh/vendor-completions" if prefix == "/usr" else "share/zsh/site-functions"


def python_package(source):
    """{path inside a folder of Python's: bytes}."""
    return {f"grapevine/{path.name}": path.read_bytes()
            for path in sorted((source / "python/grapevine").glob("*.py"))}


def python_folder(prefix):
    """Where Debian's Python looks, or where PYTHONPATH is to lead."""
    return "lib/python3/dist-packages" if prefix == "/usr" else "lib/grapevine/python"


def for_programs(library, prefix):
    """What C and Python programs use: the library in a folder of its own, which the Python package
    finds by itself and the others by pkg-config."""
    files = {"lib/grapevine/libgrapevine.so.1": (pathlib.Path(library).read_bytes(), 0o644),
             # What -lgrapevine finds: a script for the linker.
             "lib/grapevine/libgrapevine.so": (b"INPUT(libgrapevine.so.1)\n", 0o644),
             "include/grapevine.h": ((SOURCE / "capi/grapevine.h").read_bytes(), 0o644),
             "share/pkgconfig/grapevine.pc": (PKG_CONFIG.format(
                 prefix=prefix, version=(SOURCE / "VERSION").read_text().strip()).encode(), 0o644)}
    for path, data in python_package(SOURCE).items():
        files[f"{python_folder(prefix)}/{path}"] = (data, 0o644)
    return files


def contents(program, library, prefix):
    """{path below the prefix: (bytes, mode)} of everything that is installed; `library` may be None,
    and then nothing is for programs in C or Python."""
    program = os.path.abspath(program)
    files = {"bin/grapevine": (pathlib.Path(program).read_bytes(), 0o755)}
    for name, page in manual_pages(program).items():
        files[f"share/man/man1/{name}.gz"] = (gzip.compress(page, 9, mtime=0), 0o644)
    files["share/bash-completion/completions/grapevine"] = (
        output_of(program, "completion", "bash"), 0o644)
    files[f"{zsh_folder(prefix)}/_grapevine"] = (output_of(program, "completion", "zsh"), 0o644)
    if library is not None:
        files.update(for_programs(os.path.abspath(library), prefix))
    for path in documents(SOURCE):
        files[f"share/doc/grapevine/{path}"] = ((SOURCE / path).read_bytes(), 0o644)
    return files


def may_write_in(folder):
    return os.access(folder, os.W_OK | os.X_OK)


def check_writable(root, paths, may_write=may_write_in):
    """Before anything is written: whether all of it can be."""
    for folder in sorted({(root / path).parent for path in paths}):
        existing = folder
        while not os.path.lexists(existing):
            existing = existing.parent
        if not existing.is_dir():
            raise InstallError(f"{existing} is no folder; choose another --prefix")
        if not may_write(existing):
            raise InstallError(f"{existing} cannot be written by this user; install as root "
                               f"(sudo tools/install --program=bazel-bin/grapevine), or choose a "
                               f"folder of yours: --prefix={os.path.expanduser('~/.local')}")
    for path in paths:
        if (root / path).is_dir():
            raise InstallError(f"{root / path} is a folder; move it away")


def make_folders(root, folder):
    """With its ancestors; returns those that are new below `root`, relative to it."""
    new = []
    for place in [folder, *folder.parents][-2::-1]:
        if not (root / place).is_dir():
            (root / place).mkdir()
            (root / place).chmod(0o755)
            new.append(f"{place}/")
    return new


def write(path, data, mode):
    """Complete or not at all, also where the program that is replaced runs."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with open(aside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        aside.chmod(mode)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def read_manifest(root):
    """Its entries; a path that leads out of `root` is none of ours."""
    try:
        lines = (root / MANIFEST).read_text().splitlines()
    except FileNotFoundError:
        return []
    for line in lines:
        if not line or line.startswith("/") or ".." in pathlib.PurePosixPath(line).parts:
            raise InstallError(f"{root / MANIFEST} is damaged: {line!r} is no path below {root}; "
                               "remove that line")
    return lines


def remove(root, entries):
    """Files, then the folders among the entries that are left empty."""
    for entry in entries:
        if not entry.endswith("/"):
            (root / entry).unlink(missing_ok=True)
    for entry in sorted((entry for entry in entries if entry.endswith("/")), reverse=True):
        try:
            (root / entry).rmdir()
        except OSError:
            pass  # has other files, or is gone


def install(files, prefix, destdir=""):
    """Writes `files` below the prefix and removes what an earlier installation had besides.

    Below `destdir`, for whoever packs the files, no manifest is written. Returns the root.
    """
    root = pathlib.Path(destdir + prefix)
    paths = [pathlib.PurePosixPath(path) for path in files]
    if not destdir:
        paths.append(MANIFEST)
    check_writable(root, paths)
    before = read_manifest(root)
    needed = {f"{parent}/" for path in paths for parent in path.parents}
    folders = [entry for entry in before if entry in needed]
    root.mkdir(parents=True, exist_ok=True)
    for path in sorted(paths):
        folders += make_folders(root, path.parent)
    for path, (data, mode) in files.items():
        write(root / path, data, mode)
    if not destdir:
        entries = sorted({*files, str(MANIFEST), *folders})
        write(root / MANIFEST, "".join(f"{entry}\n" for entry in entries).encode(), 0o644)
        remove(root, [entry for entry in before if entry not in entries])
    return root


def uninstall(prefix):
    """Removes what install wrote; how many files."""
    root = pathlib.Path(prefix)
    entries = read_manifest(root)
    if not entries:
        raise InstallError(f"nothing of tools/install is in {prefix} ({root / MANIFEST} is "
                           "missing); give the --prefix that it was installed to")
    check_writable(root, [pathlib.PurePosixPath(entry) for entry in entries
                          if not entry.endswith("/")])
    remove(root, entries)
    return sum(not entry.endswith("/") for entry in entries)
