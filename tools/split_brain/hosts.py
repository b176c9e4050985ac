"""Hosts in network namespaces, of which each can lose its network and a folder, and come back.

They are those of tests/process/virtual_hosts.sh: "node1", "node2", ... on a switch, with one file
system; whatever runs on them ends with them, and they end with this process. Linux and root only.
"""
import os
import pathlib
import shutil
import subprocess
import time

SCRIPT = pathlib.Path(__file__).absolute().parents[2] / "tests" / "process" / "virtual_hosts.sh"
PATIENCE_S = 20
# Where Debian has root's programs; not in the PATH of everybody who starts this.
os.environ["PATH"] = os.environ.get("PATH", os.defpath) + ":/usr/sbin:/sbin"
# States of a port of a switch.
DISABLED, FORWARDING = "0", "3"


class HostsError(Exception):
    """There can be no hosts here; the message says why."""


def children(process):
    try:
        return list(map(int, pathlib.Path(f"/proc/{process}/task/{process}/children")
                        .read_text(encoding="ascii").split()))
    except OSError:
        return []


def command(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise HostsError(f"`{' '.join(arguments)}` failed: {done.stderr.strip()}")
    return done.stdout


def check_machine():
    if os.geteuid() != 0:
        raise HostsError("it needs root: it makes network namespaces (try sudo)")
    for tool in ("ip", "bridge", "nsenter", "unshare"):
        if shutil.which(tool) is None:
            raise HostsError(f"`{tool}` is missing: apt-get install iproute2 util-linux")


class Hosts:
    """A context: the hosts exist inside `with`. `folder` is for its files."""

    def __init__(self, folder, count):
        self.folder = folder
        self.count = count
        self.world = None
        self.holders = []

    def __enter__(self):
        check_machine()
        self.folder.mkdir(parents=True, exist_ok=True)
        log = self.folder / "world.log"
        with log.open("w", encoding="utf-8") as output:
            self.world = subprocess.Popen(
                ["setpriv", "--pdeathsig=KILL", "unshare", "--net", "--mount", "--pid", "--fork",
                 "--kill-child", "--mount-proc", "sh", str(SCRIPT), str(self.folder),
                 str(self.count)],
                stdout=output, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                start_new_session=True)
        deadline = time.monotonic() + PATIENCE_S
        while "the network is up" not in log.read_text(encoding="utf-8"):
            if self.world.poll() is not None or time.monotonic() > deadline:
                self.close()
                raise HostsError(f"no network namespaces here: {log.read_text(encoding='utf-8')}")
            time.sleep(0.02)
        # The first process of the namespaces, and one on each host.
        self.first, = children(self.world.pid)
        self.holders = children(self.first)
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        if self.world.poll() is None:
            self.world.kill()
        self.world.wait()

    def on(self, host, *arguments):
        """The command line that runs a program on a host, from 1."""
        return ["nsenter", f"--target={self.holders[host - 1]}", "--net", "--mount", "--pid",
                "--uts", *arguments]

    def start(self, host, arguments, log):
        """The process that waits for the program; started() is the program itself."""
        with log.open("w", encoding="utf-8") as output:
            return subprocess.Popen(self.on(host, *arguments), stdout=output,
                                    stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                    start_new_session=True)

    @staticmethod
    def started(process):
        return next(iter(children(process.pid)), None)

    def run(self, host, *arguments):
        return command(*self.on(host, *arguments))

    def cut(self, host):
        """Whatever the host sends or is sent is lost from now on, without a word to anybody."""
        self.set_port(host, DISABLED)

    def heal(self, host):
        self.set_port(host, FORWARDING)

    def set_port(self, host, state):
        command("nsenter", f"--target={self.first}", "--net", "bridge", "link", "set", "dev",
                f"port{host}", "state", state)

    def mount(self, host, folder):
        """Makes the folder a mount of its own there, which can be lost or watched."""
        self.run(host, "mount", "--bind", str(folder), str(folder))

    def lose(self, host, folder, how):
        if how == "gone":  # what is there instead is empty
            self.run(host, "mount", "-t", "tmpfs", "-o", "ro", "none", str(folder))
            return
        # Refused while a file there is open for writing.
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.run(host, "mount", "-o", "remount,bind,ro", str(folder))
                return
            except HostsError:
                if time.monotonic() > deadline:
                    raise

    def give_back(self, host, folder, how):
        if how == "gone":
            self.run(host, "umount", str(folder))
        else:
            self.run(host, "mount", "-o", "remount,bind,rw", str(folder))
