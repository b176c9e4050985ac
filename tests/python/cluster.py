"""Runs of several nodes for tests: as threads of this process, or as processes of their own."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import threading
import time

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parent.parent
sys.path.insert(0, str(SOURCE / "python"))
# As bazel build //capi:libgrapevine.so leaves it, unless the test says where it is.
os.environ.setdefault("LIBGRAPEVINE", str(SOURCE / "bazel-bin" / "capi" / "libgrapevine.so"))
# What a test means to set, it sets for the processes that it starts.
if "CLUSTER_PROCESS" not in os.environ:
    for name in [name for name in os.environ if name.startswith("GRAPEVINE_")]:
        del os.environ[name]

# No test waits longer: a run that hangs is an error.
DEADLINE_S = 120


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def await_file(path):
    deadline = time.monotonic() + DEADLINE_S
    while not os.path.exists(path):
        assert time.monotonic() < deadline, f"{path} does not come"
        time.sleep(0.005)


def in_threads(size, body, **settings):
    """What body(rank, settings) returned at each node; the first exception is raised again, those
    of other ranks are its notes."""
    port = free_port()
    results, raised = [None] * size, {}

    def run(rank):
        own = {"rank": rank, "world_size": size, "master_addr": "127.0.0.1", "master_port": port}
        try:
            results[rank] = body(rank, {**own, **settings})
        except BaseException as error:
            raised[rank] = error

    threads = [threading.Thread(target=run, args=(rank,), daemon=True) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(DEADLINE_S)
        assert not thread.is_alive(), "a node hangs"
    if raised:
        first = raised[min(raised)]
        for rank in sorted(raised):
            first.add_note(f"rank {rank}: {raised[rank]!r}")
        raise first
    return results


@contextlib.contextmanager
def process(script, *arguments, **variables):
    """A process that runs tests/python/`script`, killed at the end."""
    started = subprocess.Popen(
        [sys.executable, str(HERE / script), *arguments],
        env={**os.environ, "OMP_NUM_THREADS": "1", "CLUSTER_PROCESS": "1", **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield started
    finally:
        if started.poll() is None:
            started.send_signal(signal.SIGKILL)
        started.communicate()


@contextlib.contextmanager
def as_processes(size, script, *arguments, **variables):
    """One for each rank."""
    shared = {"WORLD_SIZE": str(size), **variables}
    if "GRAPEVINE_COORDINATOR" not in variables:
        shared |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port())}
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(
                process(script, *arguments, RANK=str(rank), LOCAL_RANK=str(rank), **shared)
            )
            for rank in range(size)
        ]


def torchrun(size):
    """Without the program. Not --standalone, whose port is one for all torchruns of a machine. The
    mapping of a rank that is not there stands for the default, which torch 1.13 cannot read under
    Python 3.11."""
    launch = [sys.executable, "-m", "torch.distributed.run", f"--nproc_per_node={size}"]
    return launch + [f"--master_port={free_port()}", "--redirects=9:1", "--tee=9:1"]


def output(process):
    """All that a process says until it ends, and its exit code."""
    text, _ = process.communicate(timeout=DEADLINE_S)
    return text, process.returncode
