#!/usr/bin/env python3
"""gv.Node leaves signals to the program: no thread that it starts takes one, whatever the settings."""

import os
import pathlib
import re
import signal
import socket
import tempfile
import time
import unittest

import cluster

NODES = 2
FOREVER = "1000000000"
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
# gRPC's alone are more.
FEW_THREADS = 6
# {file} is in the test's folder, {port} is one of as many in a row as there are nodes.
SETTINGS = {
    "nothing": {},
    "dashboard": {"GRAPEVINE_DASHBOARD": "{port}"},
    "metrics": {"GRAPEVINE_METRICS_PORT": "{port}"},
    "checkpoints": {"GRAPEVINE_CHECKPOINT_EVERY": "50"},
    "trace": {"GRAPEVINE_TRACE": "{file}"},
    "tensorboard": {"GRAPEVINE_TENSORBOARD": "true"},
    "chaos": {"GRAPEVINE_CHAOS": "slow:rank=0:at=1h:factor=2"},
    "store": {"GRAPEVINE_COORDINATOR": "file:{file}", "GRAPEVINE_BIND": "127.0.0.1"},
}


def ports_in_a_row():
    while True:
        first = cluster.free_port()
        with socket.socket() as next_one:
            try:
                next_one.bind(("127.0.0.1", first + 1))
                return first
            except OSError:
                continue


def takers(process):
    """The names of a process's threads, but for the first, that do not block all of SIGNALS."""
    found = set()
    for task in pathlib.Path(f"/proc/{process}/task").iterdir():
        try:
            status = (task / "status").read_text()
        except OSError:  # it has ended
            continue
        # The kernel shows an empty mask of a thread whose signals are gone already.
        if int(task.name) == process or re.search(r"^Threads:\t0$", status, re.M):
            continue
        blocked = int(re.search(r"^SigBlk:\t(\w+)$", status, re.M)[1], 16)
        if not all(blocked >> (number - 1) & 1 for number in SIGNALS):
            found.add(re.search(r"^Name:\t(.*)$", status, re.M)[1])
    return found


class SignalsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def variables(self, settings):
        places = {"file": self.folder / "file", "port": ports_in_a_row()}
        filled = {name: text.format(**places) for name, text in settings.items()}
        # NumPy's own threads are the program's.
        return {"OPENBLAS_NUM_THREADS": "1", "GRAPEVINE_OUT": str(self.folder / "run"),
                "GRAPEVINE_OVERWRITE": "true", **filled}

    def nodes(self, settings):
        return cluster.as_processes(NODES, "steps.py", "end", FOREVER, **self.variables(settings))

    def expect_no_takers(self, processes, looks=50):
        for _ in range(looks):
            for process in processes:
                self.assertEqual(takers(process.pid), set())

    def test_no_thread_of_a_node_takes_them(self):
        for name, settings in SETTINGS.items():
            for number in (signal.SIGTERM, signal.SIGINT):
                with self.subTest(name, signal=number), self.nodes(settings) as processes:
                    for process in processes:
                        self.assertIn("stepped", process.stdout.readline())
                        self.assertGreater(len(os.listdir(f"/proc/{process.pid}/task")), FEW_THREADS)
                    self.expect_no_takers(processes)
                    processes[0].send_signal(number)
                    text, code = cluster.output(processes[0])
                    self.assertEqual(code, -number, text)
                    self.assertEqual("KeyboardInterrupt" in text, number == signal.SIGINT, text)

    def test_no_thread_of_a_rank_0_that_cannot_begin_takes_them(self):
        """It waits for the others, to tell them."""
        (self.folder / "run").write_text("is no run directory")
        alone = {"RANK": "0", "WORLD_SIZE": str(NODES), "MASTER_ADDR": "127.0.0.1",
                 "MASTER_PORT": str(cluster.free_port())}
        with cluster.process("steps.py", "end", FOREVER, **alone, **self.variables({})) as zero:
            deadline = time.monotonic() + cluster.DEADLINE_S
            while zero.poll() is None and len(os.listdir(f"/proc/{zero.pid}/task")) <= FEW_THREADS:
                self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(zero.poll(), "it does not wait")
            self.expect_no_takers([zero])


if __name__ == "__main__":
    unittest.main()
