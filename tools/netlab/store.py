"""Results of cells, one JSON object a line: what is measured stays measured."""
import dataclasses
import json
import os
import sys
import time

import lab
from cell import Cell, CellFailed, run_cell


class Store:
    """cells.jsonl of a folder. A valid result of a cell is final; others are tried again."""

    def __init__(self, folder):
        os.makedirs(folder, exist_ok=True)
        self.folder = folder
        self.path = os.path.join(folder, "cells.jsonl")
        self.results = {}
        if os.path.exists(self.path):
            with open(self.path, encoding="utf-8") as file:
                for number, line in enumerate(file, 1):
                    try:
                        record = json.loads(line)
                        key = self.key(record["role"], record["cell"])
                    except (ValueError, KeyError, TypeError):
                        # The last line of a run that was killed while it wrote.
                        print("%s:%d: not a result, left out" % (self.path, number),
                              file=sys.stderr)
                        continue
                    self.results[key] = record["result"]

    @staticmethod
    def key(role, cell):
        # What a record does not say is what it was before there was a choice: the default.
        return role, Cell(**cell)

    def get(self, role, cell):
        """The result of a cell, or None."""
        return self.results.get((role, cell))

    def put(self, role, cell, result):
        record = {"role": role, "cell": dataclasses.asdict(cell), "result": result}
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        self.results[role, cell] = result


@dataclasses.dataclass
class Workbench:
    """Where cells are run: the programs, the results, the patience with a busy machine."""

    store: Store
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
                                  os.path.join(self.store.folder, "last-cell"))
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
