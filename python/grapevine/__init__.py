"""Grapevine: decentralized training by gossip.

    import grapevine as gv
    run = gv.init()
    opt = gv.Optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), run,
                       model=model, topology="one-peer-exponential", rounds=1000)

docs/python.md has the whole of it. PyTorch is needed for Optimizer alone.
"""

from . import _library, errors
from .errors import *  # noqa: F401,F403
from .node import PLAIN_STEP, Node, Task
from .results import read_run, simulate, topology
from .run import Run, init

__all__ = [
    "Node",
    "Optimizer",
    "PLAIN_STEP",
    "Run",
    "Task",
    "init",
    "read_run",
    "simulate",
    "topology",
    "version",
] + [name for name in dir(errors) if name.endswith("Error")]


def version():
    """The version of the library: "0.1.0"."""
    return _library.library().grapevine_version().decode()


def __dir__():
    return sorted({*globals(), *__all__, "__version__"})


def __getattr__(name):
    """What needs PyTorch or the library, once somebody asks for it."""
    if name == "Optimizer":
        from .optimizer import Optimizer

        return Optimizer
    if name == "__version__":
        return version()
    raise AttributeError(f"module 'grapevine' has no attribute {name!r}")
