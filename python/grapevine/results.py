"""Simulations, graphs and the records of runs, as plain dicts and NumPy arrays."""

import json
import os
import pathlib

import numpy

from . import _library, errors


def simulate(**settings):
    """Simulates an experiment, with the settings of `grapevine sim`, and returns its summary: a
    dict with the members of summary.json.

        gv.simulate(nodes=16, topology="ring", model="phantom:100MB", compute="50ms", rounds=100)
    """
    return json.loads(
        _library.call_for_text("grapevine_simulate", *_library.settings(settings))
    )


def topology(name, nodes, *, mixing=None, seed=None):
    """The properties of a graph: a dict with the members of `grapevine topology --json`.

    "edges" is an array of pairs, "eigenvalues" one of complex numbers, or None where there are too
    many.
    """
    text = _library.call_for_text(
        "grapevine_topology",
        *_library.settings({"topology": name, "nodes": nodes, "mixing": mixing, "seed": seed}),
    )
    found = json.loads(text)
    found["edges"] = numpy.array(found["edges"], dtype=numpy.int64).reshape(-1, 2)
    if found["eigenvalues"] is not None:
        found["eigenvalues"] = numpy.array(
            [complex(*value) if isinstance(value, list) else value for value in found["eigenvalues"]]
        )
    return found


def read_run(path):
    """The records of a run, real or simulated: a dict of

    summary: summary.json, None for a run that has not ended;
    metrics: metrics.jsonl, an array for each member, NaN where a line has none;
    nodes: likewise of each node's own metrics.jsonl, in order of ranks.
    """
    run = pathlib.Path(os.fspath(path))
    if not (run / "config.textproto").is_file():
        raise errors.InputError(f"{run}: is no run directory: it has no config.textproto")
    nodes = sorted(run.glob("node-*"), key=lambda folder: int(folder.name.split("-")[1]))
    summary = run / "summary.json"
    return {
        "summary": _object(summary) if summary.is_file() else None,
        "metrics": _columns(run / "metrics.jsonl"),
        "nodes": [_columns(folder / "metrics.jsonl") for folder in nodes],
    }


def _object(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise errors.InputError(f"{path}: {error}") from None


def _lines(path):
    """The objects of a file of lines. A last line that is being written does not count."""
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8").split("\n")
    found = []
    for number, line in enumerate(lines[:-1], 1):
        try:
            found.append(json.loads(line))
        except ValueError as error:
            raise errors.InputError(f"{path}:{number}: {error}") from None
    return found


def _columns(path):
    lines = _lines(path)
    numbers = {
        name: None
        for line in lines
        for name, value in line.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool)
    }
    return {
        name: numpy.array([line.get(name, numpy.nan) for line in lines], dtype=float)
        for name in numbers
    }
