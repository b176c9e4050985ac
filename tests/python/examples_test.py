#!/usr/bin/env python3
"""The examples in Python, run as they stand, but shorter."""

import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

import cluster

EXAMPLES = cluster.SOURCE / "examples"


def run(command, folder):
    """What it prints; a failure has all of it."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MPLBACKEND": "Agg"}
    environment["PYTHONPATH"] = str(cluster.SOURCE / "python")
    answer = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=cluster.DEADLINE_S,
        check=False,
    )
    assert answer.returncode == 0, answer.stdout
    return answer.stdout


class ExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_pytorch_learns(self):
        said = run(cluster.torchrun(2) + [str(EXAMPLES / "pytorch_cifar.py"), "--out=run"], self.folder)
        accuracy = re.search(r"averaged model: accuracy ([0-9.]+)%", said)
        self.assertGreater(float(accuracy.group(1)), 50, said)
        self.assertTrue(os.path.exists(f"{self.folder}/run/model.safetensors"))

    def test_pytorch_says_what_is_wrong_with_the_data(self):
        with self.assertRaisesRegex(AssertionError, "has no data_batch"):
            run([sys.executable, str(EXAMPLES / "pytorch_cifar.py"), "--data=."], self.folder)

    def test_the_notebook_runs(self):
        cells = json.loads((EXAMPLES / "convergence.ipynb").read_text())["cells"]
        code = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
        code, shorter = re.subn(r"^EPOCHS = \d+$", "EPOCHS = 0.5", code, flags=re.MULTILINE)
        self.assertEqual(shorter, 1)
        program = f"{self.folder}/notebook.py"
        with open(program, "w", encoding="utf-8") as file:
            file.write(code + "\nfigure.savefig('picture.png')\n")
        run([sys.executable, program], self.folder)
        self.assertGreater(os.path.getsize(f"{self.folder}/picture.png"), 10000)


# What the page's programs have already.
PRELUDE = """
import matplotlib.pyplot as plt
import numpy
import torch
from torch.nn.functional import cross_entropy as criterion

torch.manual_seed(1)
model = torch.nn.Linear(6, 3)
loader = [(torch.randn(8, 6), torch.randint(0, 3, (8,))) for _ in range(4)]
w = numpy.ones(3, numpy.float32)

def my_gradient(x):
    return float(x @ x) / 2, x
"""


class PageTest(unittest.TestCase):
    """docs/python.md: its blocks of Python, one after the other, by one node that is alone."""

    def test_the_blocks_run(self):
        page = (cluster.SOURCE / "docs/python.md").read_text(encoding="utf-8")
        blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
        self.assertEqual(len(blocks), 3)
        training, numbers, results = (re.sub(r"rounds=\d+", "rounds=4", block) for block in blocks)
        self.assertIn("run = gv.init()", training)
        training = training.replace("gv.init()", "gv.init(out='runs/first')")
        with tempfile.TemporaryDirectory() as folder:
            program = f"{folder}/page.py"
            with open(program, "w", encoding="utf-8") as file:
                file.write(PRELUDE + training + "assert opt.over\n" + numbers + results)
            run([sys.executable, program], folder)


if __name__ == "__main__":
    unittest.main()
