"""What was measured: results of cells, the calibration, the overlap.

The folder belongs to the repository (tools/netlab/measured), so that the page can be written again
wherever it is checked out, and nothing that was measured is lost.
"""
import dataclasses
import json
import os
import sys
import time

import lab
from cell import Cell, CellFailed, run_cell


class Store:
    """cells.jsonl of a folder, a line a cell. A valid result is final; others are tried again."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.path = os.path.join(folder, "cells.jsonl")
        self.results = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for line in file:
                    record = json.loads(line)
                    self.results[record["role"], Cell(**record["cell"])] = record["result"]

    def get(self, role, cell):
        """The result of a cell, or None."""
        return self.results.get((role, cell))

    def put(self, role, cell, result):
        self.results[role, cell] = result
        self.write("cells.jsonl", "".join(
            json.dumps({"role": role, "cell": said(cell), "result": rounded(result)}) + "\n"
            for (role, cell), result in self.results.items()))

    def read_json(self, name):
        path = os.path.join(self.folder, name)
        if not os.path.exists(path):
            raise lab.LabError("%s is missing: run `netlab.py measure` first" % path)
        with open(path, encoding="utf-8") as file:
            return json.load(file)

    def write_json(self, name, value):
        self.write(name, json.dumps(value, indent=2) + "\n")

    def write(self, name, text):
        """Whole or not at all: a run may be killed."""
        path = os.path.join(self.folder, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(path + ".new", path)


def said(cell):
    """The parameters of a cell that are not the default."""
    return {field.name: getattr(cell, field.name) for field in dataclasses.fields(cell)
            if getattr(cell, field.name) != field.default}


def rounded(result):
    return {name: float("%.6g" % value) if isinstance(value, float) else value
            for name, value in result.items()}


@dataclasses.dataclass
class Workbench:
    """Where cells are run: the programs, the results, the patience with a busy machine."""

    store: Store
    scratch: str  # where a cell's run directory goes
    grapevine: str
    relay: str
    attempts: int = 3
    patience_s: float = 60
    quiet: float = 0.8  # the share of idle time that a cell waits for

    def measure(self, role, cell, progress=""):
        """The result of a cell: kept, or measured now; valid if that could be had.

        None when its nodes failed every time.
        """
        result = self.store.get(role, cell)
        for _ in range(self.attempts):
            if result is not None and result["valid"]:
                break
            lab.wait_until_idle(self.quiet, self.patience_s)
            begin = time.monotonic()
            try:
                result = run_cell(cell, self.grapevine, self.relay,
                                  os.path.join(self.scratch, "last-cell"))
            except CellFailed as failure:
                print("%s%s: %s" % (progress, cell.label(), failure), file=sys.stderr)
                continue
            self.store.put(role, cell, result)
            print("%s%s: %.2f ms, %.0f %% idle, %.0f %% left%s (%.0f s)" % (
                progress, cell.label(), result["step_s"] * 1e3, result["idle_share"] * 100,
                result["left_share"] * 100,
                "" if result["valid"] else ": does not count", time.monotonic() - begin),
                flush=True)
        return result
