"""A fresh Debian in a folder, in which a package or a wheel is installed and tried.

It is made from the archives that apt uses on this machine, with apt's own settings for them. The
package is installed by the commands of deploy/Containerfile, a wheel by pip.
"""
import os
import pathlib
import re
import shlex
import subprocess
import tempfile

from build import run_to_end
from installation import SOURCE, InstallError

RELEASE = "bookworm"  # for which packages are
WHEEL_RELEASES = ("bookworm", "trixie")  # the oldest that a wheel is for, and a newer one
CONTAINERFILE = SOURCE / "deploy/Containerfile"
# How apt reaches the archives, and what it makes of their dates, holds for the root, too.
APT_SETTINGS = re.compile(r"Acquire::(https?|ftp|Retries|Check-Valid-Until|Check-Date)\b")
# What a user does first, by the user of the container.
TRIAL = SOURCE / "tools/packaging/try_installed"


def check_can_be_made():
    if os.geteuid() != 0:
        raise InstallError("--test makes a root: run it as root")


def archives():
    """Those of Debian 12, as apt on this machine has them: (URI, suite, component)."""
    fields = "$(ORIGIN)\t$(CODENAME)\t$(REPO_URI)\t$(RELEASE)\t$(COMPONENT)"
    listed = subprocess.run(["apt-get", "indextargets", "--format", fields, "Created-By: Packages"],
                            check=True, capture_output=True, text=True).stdout
    sources = []
    for line in dict.fromkeys(listed.splitlines()):
        origin, codename, uri, release, component = line.split("\t")
        if origin == "Debian" and codename.startswith(RELEASE):
            sources.append((uri, release, component))
    if not sources:
        raise InstallError(f"apt on this machine has no archive of Debian's {RELEASE}, from which "
                           "the fresh root is made; add one to its sources and run apt-get update")
    return sources


def sources_list(release):
    """One-line sources of a release."""
    sources = archives()
    if release != RELEASE:  # what it began with
        sources = [(uri, release, component) for uri, suite, component in sources
                   if suite == RELEASE]
    return "".join(f"deb {uri} {suite} {component}\n" for uri, suite, component in sources)


def apt_settings():
    dumped = subprocess.run(["apt-config", "dump", "--no-empty"], check=True, capture_output=True,
                            text=True).stdout
    return "".join(f"{line}\n" for line in dumped.splitlines() if APT_SETTINGS.match(line))


def installing_commands(text):
    """The commands of the last stage of a container file."""
    stage = re.split(r"^FROM .*$", text, flags=re.M)[-1].replace("\\\n", " ")
    commands = re.findall(r"^RUN (.*)$", stage, flags=re.M)
    if not any("apt-get install" in command and ".deb" in command for command in commands):
        raise InstallError(f"{CONTAINERFILE}: the last stage does not install the package")
    return commands


def trial(user, *arguments):
    return (f'chroot "$1" runuser -u {user} -- bash -s {" ".join(arguments)} < '
            + shlex.quote(str(TRIAL)))


def installing(*packages):
    return ('chroot "$1" sh -c "apt-get update -qq && apt-get install -y -qq '
            f'--no-install-recommends {" ".join(packages)}"')


def package_hooks(package):
    """What mmdebstrap does in the root, $1: what the container file does, then the trial."""
    prepare = [f'mkdir "$1/packages" && cp {shlex.quote(str(package))} "$1/packages/"']
    install = [f'chroot "$1" sh -c {shlex.quote(command)}'
               for command in installing_commands(CONTAINERFILE.read_text())]
    return [*prepare, *install, trial("grapevine"), installing("python3-numpy"),
            trial("grapevine", "python")]


def wheel_hooks(wheel):
    name = shlex.quote(wheel.name)
    return [installing("python3-numpy", "python3-pip"),
            f'cp {shlex.quote(str(wheel))} "$1/"',
            f'chroot "$1" pip install --quiet --no-index --break-system-packages '
            f'--root-user-action=ignore /{name}',
            trial("nobody", "python")]


def test_package(package):
    """Installs the package in a fresh root, and tries what it installs there."""
    in_fresh_root(RELEASE, package_hooks(package))


def test_wheel(wheel, release):
    """Installs the wheel in a fresh root of that release, and has two nodes average with it."""
    in_fresh_root(release, wheel_hooks(wheel))


def in_fresh_root(release, hooks):
    with tempfile.TemporaryDirectory(prefix="grapevine-root-") as folder:
        scratch = pathlib.Path(folder)
        (scratch / "sources.list").write_text(sources_list(release))
        (scratch / "apt.conf").write_text(apt_settings())
        # The folder itself is not open to the user in the root.
        scratch.chmod(0o755)
        status = run_to_end(["mmdebstrap", "--quiet", "--mode=root", "--variant=minbase",
                             f"--aptopt={scratch / 'apt.conf'}",
                             *(f"--customize-hook={hook}" for hook in hooks),
                             release, str(scratch / "root"), str(scratch / "sources.list")])
    if status != 0:
        raise InstallError(f"the trial in a fresh root of {release} failed: mmdebstrap ended with "
                           f"{status} (above)")
