"""The project's own hosts on one machine: network namespaces around one switch.

Each host is a namespace with one interface, the tap whose other end is a port of
`netlab_relay`. The kernel's tbf limits what a host sends; the relay holds every
frame for the latency and limits what a host receives. Linux only, root only.

One lab at a time: a file lock keeps others out, and what an earlier one left
behind (it was killed, say) is removed first.
"""
import ctypes
import fcntl
import json
import os
import select
import shutil
import signal
import subprocess
import time

PREFIX = "gvlab"
LOCK = "/run/grapevine-netlab.lock"
SUBNET = "10.77.0."
# A frame of 1500 bytes and its Ethernet header, as tbf and the relay count it.
FRAME_BYTES = 1514
# How long a step of setting up may take.
PATIENCE_S = 20
PR_SET_PDEATHSIG = 1
# Real-time, below the relay's.
HOST_PRIORITY = 1

LIBC = ctypes.CDLL(None, use_errno=True)


class LabError(Exception):
    """The lab cannot be made or used here; the message says why."""


def address(rank):
    return SUBNET + str(rank + 1)


def die_with_parent():
    """In a child, before it executes: no lab process outlives the driver."""
    LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def begin_as_host():
    """The same for what runs on a host, which waits for nothing else on the machine."""
    die_with_parent()
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(HOST_PRIORITY))


def command(*arguments):
    done = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError("`%s` failed: %s" % (" ".join(arguments), done.stderr.strip()))
    return done.stdout


def check_machine():
    if os.geteuid() != 0:
        raise LabError("the lab needs root: it makes network namespaces (try sudo)")
    if not os.path.exists("/dev/net/tun"):
        raise LabError("/dev/net/tun is missing: this kernel or container has no tap devices "
                       "(try `modprobe tun`)")
    for tool in ("ip", "tc"):
        if shutil.which(tool) is None:
            raise LabError("`%s` is missing: apt-get install iproute2" % tool)


def remove_leftovers():
    """Ends the processes in namespaces of an earlier lab and removes those."""
    for line in command("ip", "netns", "list").splitlines():
        name = line.split()[0] if line.split() else ""
        if not name.startswith(PREFIX):
            continue
        for pid in command("ip", "netns", "pids", name).split():
            try:
                os.kill(int(pid), signal.SIGKILL)
            except ProcessLookupError:
                pass
        command("ip", "netns", "delete", name)


class Lab:
    """A context: hosts exist inside `with`, and nothing of them after it.

    bandwidth: bits per second of each direction of each host, Ethernet headers
      included; 0 is without limit. latency_us: one way. queue_bytes: what may
      wait at the switch for one host.
    """

    def __init__(self, relay, hosts, bandwidth, latency_us, queue_bytes=1 << 20,
                 congestion_control="cubic"):
        self.relay_path = relay
        self.hosts = hosts
        self.bandwidth = bandwidth
        self.latency_us = latency_us
        self.queue_bytes = queue_bytes
        self.congestion_control = congestion_control
        self.lock = None
        self.relay = None
        self.children = []

    def __enter__(self):
        check_machine()
        if not os.access(self.relay_path, os.X_OK):
            raise LabError("no relay at %s: bazel build //tools/netlab:netlab_relay, or say "
                           "--relay=FILE" % self.relay_path)
        self.lock = open(LOCK, "w", encoding="utf-8")
        try:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise LabError("another lab is running (it holds %s)" % LOCK) from None
            remove_leftovers()
            self.start_relay()
            for rank in range(self.hosts):
                self.make_host(rank)
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_):
        self.close()

    def start_relay(self):
        self.relay = subprocess.Popen(
            [self.relay_path, "--prefix=" + PREFIX, "--ports=%d" % self.hosts,
             "--latency-us=%d" % self.latency_us, "--rate-bits=%d" % self.bandwidth,
             "--queue-bytes=%d" % self.queue_bytes],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True, preexec_fn=die_with_parent)
        if self.relay_line() != "ready":
            raise LabError(self.relay.stderr.read().strip() or "the relay ended at once")

    def relay_line(self):
        if not select.select([self.relay.stdout], [], [], PATIENCE_S)[0]:
            raise LabError("the relay does not answer")
        return self.relay.stdout.readline().strip()

    def make_host(self, rank):
        name = PREFIX + str(rank)
        command("ip", "netns", "add", name)
        command("ip", "link", "set", name, "netns", name)
        command("ip", "-n", name, "link", "set", "lo", "up")
        command("ip", "-n", name, "address", "add", address(rank) + "/24", "dev", name)
        command("ip", "netns", "exec", name, "sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
        command("ip", "-n", name, "link", "set", name, "up")
        # By route: as a setting of the namespace, the kernel may not allow it.
        command("ip", "-n", name, "route", "replace", SUBNET + "0/24", "dev", name,
                "src", address(rank), "congctl", self.congestion_control)
        if self.bandwidth > 0:
            self.limit(rank, self.bandwidth)

    def limit(self, rank, bandwidth):
        """What a host may send, bits per second, from now on."""
        name = PREFIX + str(rank)
        burst = max(2 * FRAME_BYTES, bandwidth // 8 // 4000)
        command("tc", "-n", name, "qdisc", "replace", "dev", name, "root", "tbf",
                "rate", "%dbit" % bandwidth, "burst", str(burst), "limit", "4000000")

    def start(self, rank, arguments, environment=None, **options):
        """Starts a process on a host; it ends with the lab at the latest."""
        child = subprocess.Popen(
            ["ip", "netns", "exec", PREFIX + str(rank)] + arguments,
            env={**os.environ, **(environment or {})}, stdin=subprocess.DEVNULL,
            start_new_session=True, preexec_fn=begin_as_host, **options)
        self.children.append(child)
        return child

    def processor_time(self):
        """What hosts and relay have used so far, in the ticks of IdleClock; ended hosts leave it."""
        ticks = 0
        for child in self.children + [self.relay]:
            try:
                with open("/proc/%d/stat" % child.pid, encoding="ascii") as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            ticks += int(fields[11]) + int(fields[12])  # utime and stime, of all threads
        return ticks

    def counters(self):
        """The relay's counters since the last call."""
        self.relay.stdin.write("\n")
        self.relay.stdin.flush()
        return json.loads(self.relay_line())

    def close(self):
        # A second Ctrl-C must not leave half of it behind.
        previous = {number: signal.signal(number, signal.SIG_IGN)
                    for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            for child in self.children:
                if child.poll() is None:
                    child.kill()
                child.wait()
            self.children = []
            if self.relay is not None:
                self.relay.stdin.close()
                try:
                    self.relay.wait(timeout=PATIENCE_S)
                except subprocess.TimeoutExpired:
                    self.relay.kill()
                    self.relay.wait()
                self.relay.stdout.close()
                self.relay.stderr.close()
                self.relay = None
                remove_leftovers()
            self.lock.close()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)


class IdleClock:
    """The share of the processors' time that was idle since the last reading.

    Idle time is the kernel's. What it is a share of is the clock's: /proc/stat books what is not
    idle by the tick at which it finds it, if at all, so that its fields may add up to less time
    than has passed. What a process has used (Lab.processor_time) is exact, and no part of that sum.
    """

    TICKS_PER_S = os.sysconf("SC_CLK_TCK") * os.cpu_count()

    def __init__(self):
        self.before = self.read()

    @staticmethod
    def read():
        with open("/proc/stat", encoding="ascii") as file:
            times = [int(field) for field in file.readline().split()[1:6]]
        return times[3] + times[4], time.monotonic() * IdleClock.TICKS_PER_S  # idle and iowait

    def share(self):
        idle, total = self.read()
        share = (idle - self.before[0]) / max(1, total - self.before[1])
        self.before = idle, total
        return share


def wait_until_idle(share, patience_s):
    """Waits until the processors were idle for a second, at most so long."""
    deadline = time.monotonic() + patience_s
    clock = IdleClock()
    while True:
        time.sleep(1)
        if clock.share() >= share or time.monotonic() > deadline:
            return
