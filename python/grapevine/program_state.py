"""What a program of PyTorch has to go on from, beside a node's part of a checkpoint."""

import contextlib
import errno
import fcntl
import json
import os
import pathlib
import secrets
import sys

import numpy
import torch

from . import errors

# In the name of the file of a program's last step.
_LAST = "-last"


class ProgramState:
    """The state of a node's optimizer, and the buffers that nobody averages, in files of the run's
    folder: node-RANK/program-STEPS.npz. A file is whole before the gradient of its last step is
    delivered, and so before any node can have the checkpoint of that round; it stays for as long
    as there may be one to go on from. In an open-ended run there may be rounds, and checkpoints,
    after a program's last step: program-STEPS-last.npz is what there is to go on from then.
    """

    def __init__(self, node):
        self._rank = node.rank
        self._out = pathlib.Path(node.setting("out"))
        self._folder = self._out / f"node-{node.rank}"
        every = node.setting("checkpoint_every")
        # By time rank 0 says when; the program does not hear it beforehand.
        self._every = int(every) if every.isdigit() else None
        self._goes_on = node.setting("resume") != ""
        self._tried = False

    def after_step(self, steps, state):
        """state(): what there is to keep then. Raises OutputError; UsageError if it cannot be kept."""
        if self._every is None:
            return
        if not self._tried:
            _arrays(state())  # rather now than at the first checkpoint
            self._tried = True
        if steps % self._every == 0:
            self._save(steps, state())

    def at_the_end(self, steps, state):
        """No step follows, though rounds may, and checkpoints of them."""
        if self._every is not None:
            self._save(steps, state(), last=True)

    def _save(self, steps, state, last=False):
        path = self._path(steps, last)
        try:
            with _replacement(path) as file:
                numpy.savez(file, **_arrays(state))
            self._remove_before(self._oldest_checkpoint())
        except OSError as error:
            raise errors.OutputError(
                f"rank {self._rank}: cannot keep its optimizer's state in {path}: {error}"
            ) from None

    def load(self, steps):
        """What a run has that goes on after so many rounds; None where it begins. Raises
        InputError."""
        for round_, path in self._files():
            # Of a course that the run does not take, or of the process before in this one's place.
            if round_ > steps or (path.stem.endswith(_LAST) and not self._goes_on):
                path.unlink(missing_ok=True)
        if not self._goes_on or steps == 0:
            return None
        path = self._path(steps)
        for _, last in [] if path.exists() else self._files(last=True):
            last.replace(path)  # in the rounds since then there were no steps
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

    def _path(self, steps, last=False):
        return self._folder / f"program-{steps}{_LAST if last else ''}.npz"

    def _files(self, last=False):
        """With how many steps each has behind it, ascending; those of the last steps are also among
        all."""
        found = self._folder.glob(f"program-*{_LAST if last else ''}.npz")
        return _numbered(found, lambda path: path.stem.removeprefix("program-").removesuffix(_LAST))

    def _oldest_checkpoint(self):
        """After how many rounds, of those that are there, complete or not."""
        found = (self._out / "checkpoints").glob("round-*")
        numbered = _numbered(found, lambda path: path.name.removeprefix("round-"))
        return numbered[0][0] if numbered else 0

    def _remove_before(self, steps):
        for round_, path in self._files():
            if round_ < steps and not path.stem.endswith(_LAST):
                path.unlink(missing_ok=True)


@contextlib.contextmanager
def _replacement(path):
    """A file beside `path` that takes its place once it is whole, on the disk, and so is its name.
    Until then it is locked, by which whoever tidies the folder knows that its writer lives
    (system/file.h)."""
    aside = path.with_name(f"{path.name}.tmp.{secrets.token_hex(8)}")
    with open(aside, "xb") as file:
        try:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield file
            file.flush()
            os.fsync(file.fileno())
            os.replace(aside, path)
        except BaseException:
            aside.unlink(missing_ok=True)
            raise
    _sync_folder(path.parent)


def _sync_folder(folder):
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP, errno.ENOSYS):
            raise  # else the file system has no such call, and the name is safe
    finally:
        os.close(descriptor)


def _numbered(paths, number):
    texts = ((number(path), path) for path in paths)
    return sorted((int(text), path) for text, path in texts if text.isdigit())


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
            try:
                arrays[name] = value.detach().cpu().numpy()
            except TypeError:
                raise _cannot_be_kept(f"tensor of {value.dtype}") from None
            return {"tensor": name}
        if value is None or isinstance(value, (bool, int, float, str)):
            return {"value": value}
        raise _cannot_be_kept(type(value).__name__)

    text = json.dumps(told(state))
    return {"state": numpy.frombuffer(text.encode(), numpy.uint8), **arrays}


def _cannot_be_kept(what):
    return errors.UsageError(
        f"the optimizer's state has a {what}, which cannot be kept with a checkpoint: give "
        "checkpoint_every as a time, and keep it in the program's own way"
    )


def _state(arrays):
    def read(told):
        if "dict" in told:
            return {read(key): read(value) for key, value in told["dict"]}
        if "list" in told:
            values = [read(value) for value in told["list"]]
            return tuple(values) if told["tuple"] else values
        return torch.from_numpy(arrays[told["tensor"]].copy()) if "tensor" in told else told["value"]

    return read(json.loads(arrays["state"].tobytes().decode()))
