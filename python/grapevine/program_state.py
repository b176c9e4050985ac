"""What a program of PyTorch has to go on from, beside a node's part of a checkpoint."""

import json
import os
import pathlib
import sys

import numpy
import torch

from . import errors


class ProgramState:
    """The state of a node's optimizer, and the buffers that nobody averages, in files of the run's
    folder: node-RANK/program-STEPS.npz. A file is whole before the gradient of its last step is
    delivered, and so before any node can have the checkpoint of that round; it stays for as long
    as there may be one to go on from.
    """

    def __init__(self, node):
        self._rank = node.rank
        self._out = pathlib.Path(node.setting("out"))
        self._folder = self._out / f"node-{node.rank}"
        every = node.setting("checkpoint_every")
        # By time rank 0 says when; the program does not hear it beforehand.
        self._every = int(every) if every.isdigit() else None
        self._goes_on = node.setting("resume") != ""

    def due(self, steps):
        """Whether there is a checkpoint after so many steps."""
        return self._every is not None and steps % self._every == 0

    def save(self, steps, state):
        """Raises OutputError."""
        path = self._path(steps)
        aside = path.with_suffix(".tmp")
        try:
            with open(aside, "wb") as file:
                numpy.savez(file, **_arrays(state))
                file.flush()
                os.fsync(file.fileno())
            os.replace(aside, path)
            self._remove_before(self._oldest_checkpoint())
        except OSError as error:
            raise errors.OutputError(
                f"rank {self._rank}: cannot keep its optimizer's state in {path}: {error}"
            ) from None

    def load(self, steps):
        """The state after so many steps; None where the run begins. Raises InputError."""
        if not self._goes_on or steps == 0:
            return None
        path = self._path(steps)
        if not path.exists():
            print(
                f"grapevine: rank {self._rank} goes on with a fresh optimizer: there is no {path}",
                file=sys.stderr,
            )
            return None
        try:
            with numpy.load(path, allow_pickle=False) as arrays:  # a file cannot run anything
                return _state(arrays)
        except Exception as error:  # of zip, NumPy or JSON, whose classes are many
            raise errors.InputError(
                f"{path}: is no state of an optimizer, or damaged ({error}); remove it to go on with "
                "a fresh one, or resume an earlier checkpoint"
            ) from None

    def _path(self, steps):
        return self._folder / f"program-{steps}.npz"

    def _oldest_checkpoint(self):
        """After how many steps, of those that are there, complete or not."""
        rounds = _numbers(self._out / "checkpoints", "round-*", "round-")
        return min(rounds, default=0)

    def _remove_before(self, steps):
        for old in _numbers(self._folder, "program-*.npz", "program-"):
            if old < steps:
                self._path(old).unlink(missing_ok=True)


def _numbers(folder, pattern, prefix):
    texts = [path.name.removeprefix(prefix).removesuffix(".npz") for path in folder.glob(pattern)]
    return [int(text) for text in texts if text.isdigit()]


def _arrays(state):
    """A tree of dicts, lists, numbers, texts and tensors as arrays: its tensors, and all else as JSON
    in which a tensor is a number. JSON's objects have texts as keys; here a dict is a list of pairs."""
    arrays = {}

    def told(value):
        if isinstance(value, dict):
            return {"dict": [[told(key), told(inner)] for key, inner in value.items()]}
        if isinstance(value, (list, tuple)):
            return {"list": [told(inner) for inner in value], "tuple": isinstance(value, tuple)}
        if isinstance(value, torch.Tensor):
            name = f"tensor{len(arrays)}"
            arrays[name] = value.detach().cpu().numpy()
            return {"tensor": name}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        raise errors.UsageError(
            f"the optimizer's state has a {type(value).__name__}, which cannot be kept with a "
            "checkpoint: leave out checkpoint_every, or keep it by time"
        )

    text = json.dumps(told(state))
    return {"state": numpy.frombuffer(text.encode(), numpy.uint8), **arrays}


def _state(arrays):
    def read(told):
        if "dict" in told:
            return {read(key): read(value) for key, value in told["dict"]}
        if "list" in told:
            values = [read(value) for value in told["list"]]
            return tuple(values) if told["tuple"] else values
        return torch.from_numpy(arrays[told["tensor"]].copy()) if "tensor" in told else told["value"]

    return read(json.loads(arrays["state"].tobytes().decode()))
