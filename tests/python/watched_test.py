#!/usr/bin/env python3
"""The example of PyTorch under torchrun, as docs/python.md has it watched: Prometheus itself scrapes
its four nodes, and Chromium shows the page of the run, which rank 0 serves, while it goes on."""

import contextlib
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse
import urllib.request

import cluster

sys.path.insert(0, str(cluster.HERE.parent / "process"))
import browser

NODES = 4
GRAPEVINE = os.path.join(os.environ.get("TEST_SRCDIR", "."), os.environ.get("TEST_WORKSPACE", "."), "grapevine")


def ports_in_a_row(count):
    for first in random.SystemRandom().sample(range(20000, 32000), 100):
        probes = [socket.socket() for _ in range(count)]
        try:
            for offset, probe in enumerate(probes):
                probe.bind(("127.0.0.1", first + offset))
            return first
        except OSError:
            continue
        finally:
            for probe in probes:
                probe.close()
    raise AssertionError("no free ports in a row")


class WatchedTest(unittest.TestCase):
    def setUp(self):
        for program in ("prometheus", "chromium"):
            self.assertIsNotNone(shutil.which(program), f"{program} is not installed (Debian's)")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.nodes, self.server = ports_in_a_row(NODES), cluster.free_port()
        self.page = cluster.free_port()

    def start(self, command, **variables):
        """In a session of its own, which ends with the test."""
        environment = {**os.environ, "OMP_NUM_THREADS": "1", **variables}
        with open(self.folder / "said.txt", "ab") as said:
            process = subprocess.Popen(command, cwd=self.folder, env=environment, stdout=said,
                                       stderr=said, start_new_session=True)
        self.addCleanup(process.wait)
        self.addCleanup(lambda: os.killpg(process.pid, signal.SIGKILL))
        return process

    def train(self):
        page = (cluster.SOURCE / "docs/python.md").read_text(encoding="utf-8")
        [command] = re.findall(r"^GRAPEVINE_METRICS_PORT=9400 .*pytorch_cifar.*$", page, re.M)
        for shown, own in (("=9400", f"={self.nodes}"), ("=8080", f"={self.page}"), ("--epochs=5", "--epochs=1000"),
                           ("torchrun ", shlex.join(cluster.torchrun(NODES)) + " "),
                           ("examples/", f"{cluster.SOURCE}/examples/")):
            self.assertIn(shown, command)
            command = command.replace(shown, own, 1)
        return self.start(["bash", "-c", command + " --batch=4"],
                          PYTHONPATH=str(cluster.SOURCE / "python"), GRAPEVINE_LOG_EVERY="2")

    def watch(self):
        """Prometheus with the configuration of deploy/, in a hurry."""
        deploy = cluster.SOURCE / "deploy/prometheus"
        text = (deploy / "prometheus.yml").read_text()
        for shown, own in [("scrape_interval: 5s", "scrape_interval: 200ms"),
                           *((f":{9400 + i}", f":{self.nodes + i}") for i in range(NODES))]:
            self.assertIn(shown, text)
            text = text.replace(shown, own)
        (self.folder / "prometheus.yml").write_text(text)
        shutil.copy(deploy / "alerts.yml", self.folder)
        self.start(["prometheus", "--config.file=prometheus.yml", "--storage.tsdb.path=tsdb",
                    f"--web.listen-address=127.0.0.1:{self.server}", "--log.level=error"])

    def asked(self, expression):
        """Values of the series that Prometheus has of it; none until it answers."""
        query = urllib.parse.urlencode({"query": expression})
        address = f"http://127.0.0.1:{self.server}/api/v1/query?{query}"
        try:
            with urllib.request.urlopen(address, timeout=cluster.DEADLINE_S) as reply:
                return [float(each["value"][1]) for each in json.load(reply)["data"]["result"]]
        except OSError:
            return []

    def eventually(self, holds, run):
        deadline = time.monotonic() + cluster.DEADLINE_S
        while not holds():
            if time.monotonic() > deadline or run.poll() is not None:
                self.fail((self.folder / "said.txt").read_text())
            with contextlib.suppress(subprocess.TimeoutExpired):
                run.wait(0.05)

    def test_prometheus_and_the_page_beside_it(self):
        run = self.train()
        self.watch()
        self.eventually(lambda: self.asked('up{job="grapevine"}') == [1] * NODES, run)
        self.eventually(lambda: len(self.asked("grapevine_round > 4")) == NODES, run)
        self.eventually(lambda: self.asked("grapevine_living_nodes") == [NODES], run)

        tab = browser.Browser(self.folder)
        self.addCleanup(tab.close)
        tab.resize(1280, 900)
        kept = self.folder / "run.html"
        subprocess.run([GRAPEVINE, "report", "run", "-o", str(kept)],
                       cwd=self.folder, check=True, timeout=cluster.DEADLINE_S)
        for page, state in ((f"http://127.0.0.1:{self.page}/", "under way"),
                            (kept.as_uri(), "not finished")):
            with self.subTest(page):
                self.look_at(page, state, tab)
        # Both look at one run, which goes on all the while.
        self.assertIsNone(run.poll())
        self.assertEqual(self.asked('up{job="grapevine"}'), [1] * NODES)

    def look_at(self, page, state, tab):
        asked = len(tab.requests)
        tab.open(page)
        self.assertTrue(tab.becomes("document.querySelector('#graph circle.ground')"))
        self.assertGreaterEqual(tab.value("document.querySelectorAll('#learning .curve').length"), 1)
        self.assertEqual(tab.value("document.querySelectorAll('#graph circle.ground').length"), NODES)
        self.assertRegex(tab.value("document.body.textContent"), rf"Real, {state}[.:] .*Grapevine \d")
        self.assertEqual(tab.complaints, [])
        self.assertTrue(all(request.startswith(page) for request in tab.requests[asked:]), tab.requests)
        if "TEST_UNDECLARED_OUTPUTS_DIR" in os.environ:
            name = page.split(":")[0] + ".png"
            tab.screenshot(os.path.join(os.environ["TEST_UNDECLARED_OUTPUTS_DIR"], name))


if __name__ == "__main__":
    unittest.main()
