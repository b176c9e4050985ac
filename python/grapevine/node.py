"""A node of a run whose gradients this program computes."""

import atexit
import ctypes
import functools
import json
import math
import os
import sys
import time
import weakref

import numpy

from . import _library, errors
from ._library import call

# A wait comes back so often, for Ctrl-C.
_SLICE_MS = 100
# For so long a process that has ended says nothing of it.
_MOMENT_S = 2
# Settings with which a step takes an update as it is.
PLAIN_STEP = {
    "lr": 1,
    "momentum": 0,
    "optimizer": "sgd",
    "schedule": "constant",
    "weight_decay": 0,
}

_open = weakref.WeakSet()


def _end_open_nodes():
    for node in list(_open):
        node._end_with_the_program()


atexit.register(_end_open_nodes)


def _as_floats(name, value):
    array = numpy.asarray(value)
    if array.dtype != numpy.float32:
        raise errors.UsageError(f"{name} has elements of type {array.dtype}; Grapevine takes float32")
    return numpy.asarray(array, order="C")


def _reason(error):
    """What the other nodes are told."""
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    kind = type(error).__name__
    return f"{kind}: {error}" if str(error) else kind


class Task:
    """A gradient that is wanted: where, and memory for it. Good until the next one is asked for.

    replica: the weights, read-only. gradient: to be written, all of it. Both are flat arrays of
    float32; `Node.tensors` gives the tensors inside. round: gradients before this one.
    """

    def __init__(self, raw, memory):
        self.round = raw.round
        weights = memory.array(raw.replica, raw.size)
        self._show(weights, memory.array(raw.gradient, raw.size))

    def _show(self, weights, gradient):
        self.weights = weights  # as PyTorch wants them, which writes to none
        self.replica = weights.view()
        self.replica.flags.writeable = False
        self.gradient = gradient

    def detach(self):
        """Has copies from now on: the node's memory is about to go."""
        self._show(self.weights.copy(), self.gradient.copy())


class _Memory:
    """A node's memory, as tasks and arrays show it to a program, which may keep them."""

    def __init__(self):
        self._tasks = weakref.WeakSet()
        self._blocks = {}  # weak, by id: each as long as there is an array of it

    def array(self, address, size):
        if not address:
            return numpy.empty(0, numpy.float32)
        block = (ctypes.c_float * size).from_address(address)
        # ctypes' arrays have no hash, as a WeakSet wants.
        forget = functools.partial(self._blocks.pop, id(block))
        self._blocks[id(block)] = weakref.ref(block, forget)
        return numpy.ctypeslib.as_array(block)

    def task(self, raw):
        task = Task(raw, self)
        self._tasks.add(task)
        return task

    def when_unused(self, free):
        """Calls `free` as soon as no array is left, and says whether that is now."""
        for task in list(self._tasks):
            task.detach()
        found = [weak() for weak in list(self._blocks.values())]
        blocks = [block for block in found if block is not None]
        if not blocks:
            free()
            return True
        kept = _Kept()
        weakref.finalize(kept, free)
        for block in blocks:
            weakref.finalize(block, lambda held: None, kept)
        return False


class _Kept:
    """Gone when the last is gone that refers to it."""


class Node:
    """Joins a run with tensors by name; they are where it starts, the same on all nodes.

        node = gv.Node({"w": w}, topology="ring", rounds=100, lr=0.1)
        for task in node:
            loss, task.gradient[:] = my_gradient(task.replica)
            node.deliver(loss)
        w = node.tensors(node.model)["w"]

    parameters, buffers: arrays of float32 by name. Buffers are running statistics (batch norm's):
    averaged, never stepped; in the gradient is the batch's statistic, towards which they move by
    buffer_momentum. settings: those of `grapevine node` by name, as topology="ring".

    Without rounds= the run is open-ended: it ends when all nodes' programs have called finish(), or
    have ended. It takes an update rule of one's own (PLAIN_STEP, deliver_weights).

    One thread at a time. An error ends the node, and so does Ctrl-C; the others go on without it,
    or end with its reason, as on_failure says.
    """

    def __init__(self, parameters, buffers=None, *, buffer_momentum=0.1, **settings):
        arrays = {name: _as_floats(name, value) for name, value in parameters.items()}
        kept = {name: _as_floats(name, value) for name, value in (buffers or {}).items()}
        twice = arrays.keys() & kept.keys()
        if twice:
            raise errors.UsageError(f"{min(twice)} is a parameter and a buffer")
        self._layout = _Layout(arrays, kept)
        self._node = ctypes.c_void_p()
        self._memory = _Memory()
        self._task = None
        self._model = None
        self._rounds_done = 0
        self._last = None, None  # metrics and average, of a run that is over
        model = self._layout.model(buffer_momentum)
        call(
            "grapevine_join",
            *_library.settings(settings),
            ctypes.byref(model),
            ctypes.byref(self._node),
        )
        self._process = os.getpid()
        _open.add(self)
        self.rank = _library.library().grapevine_rank(self._node)
        self.size = _library.library().grapevine_size(self._node)

    def wanted(self, timeout=None):
        """The next gradient that is wanted, or None once the run is over. Waits for it; TimeoutError
        after so many seconds."""
        if self._model is not None:
            return None
        raw = self._await(timeout)
        if raw.state == _library.OVER:
            self._task = None
            model = self._memory.array(raw.replica, raw.size).copy()
            self._finish()
            self._model = model
            return None
        if self._task is None or self._task.round != raw.round:
            self._task = self._memory.task(raw)
        return self._task

    def _await(self, timeout):
        self._check_open()
        end = None if timeout is None else time.monotonic() + timeout
        raw = _library.Task()
        while True:
            try:
                call("grapevine_await", self._node, _SLICE_MS, ctypes.byref(raw))
            except errors.RendezvousError as error:
                self._free()
                if "starting weights" not in str(error):
                    raise
                raise errors.RendezvousError(
                    f"{error}; here: seed before the model is made, at all ranks alike"
                ) from None
            except errors.GrapevineError:
                self._free()
                raise
            if raw.state != _library.WAITING:
                return raw
            if end is not None and time.monotonic() >= end:
                raise TimeoutError("no gradient is wanted yet, and the run is not over")

    def _finish(self):
        """Waits until all nodes are done, and keeps what is known then."""
        finished = ctypes.c_int32()
        while not finished.value:
            try:
                call("grapevine_finish", self._node, _SLICE_MS, ctypes.byref(finished))
            except errors.GrapevineError:
                self._free()
                raise
        self._last = self.metrics(), self._averaged()
        self._free()

    def deliver(self, loss=math.nan):
        """The task's gradient is written. loss: its batch's mean; NaN if nobody knows it."""
        self._check_open()
        if self._task is None:
            raise errors.RunOverError("no gradient is wanted now; wanted() says when one is")
        call("grapevine_deliver", self._node, float(loss))
        self._delivered()

    def deliver_weights(self, weights, loss=math.nan):
        """The same for a program with an update rule of its own: what it has made of the task's
        replica, flat. Needs PLAIN_STEP among the settings."""
        self._check_open()
        if self._task is None:
            raise errors.RunOverError("no gradient is wanted now; wanted() says when one is")
        flat = _as_floats("weights", weights).reshape(-1)
        if flat.size != self._task.replica.size:
            raise errors.UsageError(
                f"{flat.size} weights are delivered, and the replica has {self._task.replica.size}"
            )
        call("grapevine_deliver_weights", self._node, flat.ctypes.data, float(loss))
        self._delivered()

    def _delivered(self):
        self._rounds_done = self._task.round + 1
        self._task = None

    def mix(self, weights, loss=math.nan):
        """Averages these weights with the neighbours' as one step, and returns what becomes of
        them: sum_j W_ij weights_j with algorithm="dpsgd:order=atc". Blocks."""
        if self.wanted() is None:
            raise errors.RunOverError("the run has had all its rounds")
        self.deliver_weights(weights, loss)
        task = self.wanted()
        return self.model if task is None else task.replica.copy()

    def finish(self, everybody=False):
        """This program has no more gradients: waits until the others have none either, while the node
        averages on, and for the run's end. `everybody`: theirs are to end, too, each after the step
        that it is at. Where rounds were given, UsageError before they are done."""
        if self.over:
            return
        self._check_open()
        self._retire(everybody)
        self.wanted()

    def _retire(self, everybody=False):
        call("grapevine_retire", self._node, int(everybody))
        self._task = None

    def __iter__(self):
        while True:
            task = self.wanted()
            if task is None:
                return
            yield task
            if self._task is task:
                raise errors.UsageError("the loop's body has not called deliver()")

    @property
    def is_open(self):
        """Whether it is in its run: that is not over, and the node has not left it."""
        return bool(self._node)

    @property
    def over(self):
        """Whether all rounds are done; `model` is there then."""
        return self._model is not None

    @property
    def model(self):
        """This node's weights at the end, flat; None before. Of a server, empty."""
        return self._model

    def tensors(self, flat):
        """The tensors inside a flat array, by name: views where they can be."""
        return self._layout.tensors(flat)

    def setting(self, name):
        """What a setting is in this run, wherever it comes from, as a text; "" where it is none. While
        the node is in the run."""
        self._check_open()
        return _library.call_for_text("grapevine_setting_of", self._node, name.encode())

    def metrics(self):
        """The last measurement of the run, at the node with rank 0's role; None elsewhere."""
        if not self._node:
            return self._last[0]
        return json.loads(_library.call_for_text("grapevine_metrics", self._node))

    def average(self):
        """The last averaged model, flat, the same at all workers; None before the first. There is one
        after every `eval_every` rounds, and at the end. Where asynchronous servers have the model,
        the node with rank 0's role alone has it."""
        found = self._averaged()
        return None if found is None else found[0]

    def consensus_distance(self):
        """(1/n) sum_i |x_i - mean|^2 over the parameters of the workers, when that model was
        averaged; None where there is none."""
        found = self._averaged()
        return None if found is None or math.isnan(found[1]) else found[1]

    def _averaged(self):
        if not self._node:
            return self._last[1]
        weights = numpy.empty(self._layout.values.size, numpy.float32)
        at, distance = ctypes.c_int64(), ctypes.c_double()
        call(
            "grapevine_average",
            self._node,
            weights.ctypes.data,
            ctypes.byref(at),
            ctypes.byref(distance),
        )
        return None if at.value < 0 else (weights, distance.value)

    def leave_now(self, why):
        """Ends the run, unless it is over, for all nodes; `why` is what they are told."""
        if not self._node:
            return
        if self._process != os.getpid():  # a copy in a forked process, which has none of its threads
            self._node = ctypes.c_void_p()
            return
        _library.library().grapevine_interrupt(self._node, why.encode())
        self._free()

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is not None:
            self.leave_now(_reason(error))
            return
        try:
            self.finish()
        except errors.RunOverError:
            pass  # it has left
        except errors.UsageError:
            self._leave_early()

    def _end_with_the_program(self):
        if not self._node or self._process != os.getpid():
            return
        error = getattr(sys, "last_value", None)  # that has ended it
        if error is not None:
            self.leave_now(_reason(error))
            return
        try:
            self._leave_early()
        except errors.GrapevineError as failed:
            print(f"grapevine: {failed}", file=sys.stderr)
        except KeyboardInterrupt as interrupt:
            self.leave_now(_reason(interrupt))

    def _leave_early(self):
        if not self._node:
            return
        try:
            self._retire()
            self._await_the_others()
            return
        except errors.UsageError:
            pass  # the run is longer
        done = f"after {self._rounds_done} rounds, before the run was over"
        print(
            f"grapevine: rank {self.rank} has left {done}: no average was made of its end; give "
            "rounds= as many as the program has steps, or step while the run is not over",
            file=sys.stderr,
        )
        self.leave_now(f"the program ended {done}")

    def _await_the_others(self):
        try:
            self.wanted(timeout=_MOMENT_S)
            return
        except TimeoutError:
            print(
                f"grapevine: rank {self.rank} has ended after {self._rounds_done} rounds, and "
                "averages on until the others have",
                file=sys.stderr,
            )
        self.wanted()

    def __del__(self):
        if getattr(self, "_node", None):
            self._end_with_the_program()

    def _check_open(self):
        if self._node and self._process != os.getpid():
            raise errors.UsageError("a forked process has no node: join in the process that steps")
        if not self._node:
            raise errors.RunOverError(
                "the run is over" if self.over else "the node has left the run"
            )

    def _free(self):
        """Leaves the run, whose error is known, or that it was left. An array that the program has
        kept keeps the node's memory."""
        node, self._node = self._node, ctypes.c_void_p()
        library = _library.library()
        if not self._memory.when_unused(lambda: library.grapevine_leave(node, 0, None)):
            library.grapevine_interrupt(node, b"the node left the run before that was over")


class _Layout:
    """How tensors lie one after the other in a flat array, buffers last."""

    def __init__(self, parameters, buffers):
        self._tensors = {**parameters, **buffers}
        self._sections = [_library.PARAMETER] * len(parameters) + [_library.BUFFER] * len(buffers)
        parts = [array.reshape(-1) for array in self._tensors.values()]
        self.values = numpy.concatenate(parts) if parts else numpy.empty(0, numpy.float32)
        self._shapes = {name: array.shape for name, array in self._tensors.items()}
        del self._tensors

    def model(self, buffer_momentum):
        tensors = (_library.Tensor * len(self._shapes))()
        for tensor, section, (name, shape) in zip(tensors, self._sections, self._shapes.items()):
            tensor.name = _library.encoded("a tensor's name", name)
            tensor.section = section
            tensor.dimensions = len(shape)
            tensor.shape = (ctypes.c_int64 * len(shape))(*shape)
        return _library.Model(
            tensors, len(tensors), self.values.ctypes.data, buffer_momentum
        )

    def tensors(self, flat):
        begin = 0
        found = {}
        for name, shape in self._shapes.items():
            size = math.prod(shape)
            found[name] = flat[begin : begin + size].reshape(shape)
            begin += size
        return found
