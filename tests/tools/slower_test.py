"""What tools/checks/slower.py makes of what benchmarks print."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = os.path.abspath(os.path.join(os.environ.get("TEST_SRCDIR", "."),
                                      os.environ.get("TEST_WORKSPACE", "."),
                                      "tools/checks/slower.py"))
PRINTED = """\
plain in-place average of 3                    16 B/element     6.50 ms   24.60 GB/s  x 1.000
fused mix + momentum, 2 neighbours             28 B/element    11.24 ms   24.90 GB/s  x 1.030
ring, model nic, 8192 nodes, 100 rounds: 0.461 s of wall and 0.455 s of processor time (0.010 s to \
build), 3.5e+06 and 3.6e+06 messages/s, 115 ns an event (processor), 1.600 simulated s, 0.04 GB
8192 4915200 0.455000 0.040
mlp           160215 samples/s, PyTorch     64175, ratio 2.50
one way, raw TCP       21.6 ms   4.63 GB/s each way   0.29 CPU s/GB
one way, norm          22.8 ms   4.38 GB/s each way   0.37 CPU s/GB  0.95 x raw TCP
"""


class SlowerTest(unittest.TestCase):

    def compare(self, before, now):
        """(exit status, lines) for two nights; None: there was none before."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("before", before), ("now", now)):
                if text is not None:
                    pathlib.Path(folder, name).write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, "before", "now"], cwd=folder,
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.stderr, "")
            return done.returncode, done.stdout.splitlines()

    def test_a_first_night_has_nothing_to_compare(self):
        self.assertEqual(self.compare(None, PRINTED), (0, ["5 benchmarks, 0 compared, 0 slower"]))

    def test_what_takes_as_long_is_no_slower(self):
        self.assertEqual(self.compare(PRINTED, PRINTED), (0, ["5 benchmarks, 5 compared, 0 slower"]))

    def test_what_takes_twice_as_long_is_named(self):
        for before, now, name in (
                ("x 1.030", "x 0.500", "fused mix + momentum, 2 neighbours: 2.06"),
                ("0.455 s of", "0.910 s of", "ring, model nic, 8192 nodes: 2.00"),
                ("ratio 2.50", "ratio 1.25", "mlp: 2.00"),
                ("0.95 x raw", "0.38 x raw", "one way, norm: 2.50")):
            self.assertIn(before, PRINTED)
            self.assertEqual(self.compare(PRINTED, PRINTED.replace(before, now)),
                             (1, [name + " times as long as before",
                                  "5 benchmarks, 5 compared, 1 slower"]))

    def test_without_its_peer_a_bench_counts_by_itself(self):
        before, now = ("mlp   %d samples/s; PyTorch does not run here\n" % rate
                       for rate in (160215, 80000))
        self.assertEqual(self.compare(before, now)[1][0], "mlp: 2.00 times as long as before")

    def test_a_bench_that_prints_nothing_is_missed(self):
        self.assertEqual(self.compare(PRINTED, PRINTED.replace("mlp", "   "))[1][0],
                         "mlp: no figure any more")
        self.assertEqual(self.compare(None, "")[0], 1)


if __name__ == "__main__":
    unittest.main()
