"""Which node of which run this process is, before it joins."""

import ctypes
import os

from . import _library
from ._library import call


def _torchrun_port():
    """torchrun's own store listens at MASTER_PORT on rank 0's host: the run takes the next port."""
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE", "").lower() != "true":
        return None
    return int(os.environ["MASTER_PORT"]) + 1


class Run:
    """Which node this process is, and settings for whatever joins; made by init().

    rank, size, local_rank: of this process, of how many nodes, and among those of its machine.
    """

    def __init__(self, settings):
        self.settings = settings
        numbers = [ctypes.c_int32() for _ in range(3)]
        call(
            "grapevine_identify",
            *_library.settings(settings),
            *[ctypes.byref(number) for number in numbers],
        )
        self.rank, self.size, self.local_rank = [number.value for number in numbers]

    def with_settings(self, settings):
        """These settings, and where one is given twice, `settings`."""
        given = {name: value for name, value in settings.items() if value is not None}
        return {**self.settings, **given}


def init(**settings):
    """This process as a node of a run, which begins once something joins it (Optimizer, Node).

    The launcher's environment says which node (torchrun's RANK, WORLD_SIZE, MASTER_ADDR and
    MASTER_PORT, Slurm's, Open MPI's); or rank=, world_size=, master_addr=, master_port=, or
    hosts="a:2,b:2". Without any the process is the only node. `settings` are those of
    `grapevine node`: out="runs/first", insecure=True, tls_ca=..., peer_timeout="10s".
    """
    if "master_port" not in settings and "coordinator" not in settings:
        settings["master_port"] = _torchrun_port()
    return Run({name: value for name, value in settings.items() if value is not None})
