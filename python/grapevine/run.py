"""Which node of which run this process is, before it joins."""

import ctypes
import itertools
import os
import random
import socket
import sys

from . import _library, errors
from ._library import call


# Below those that the system gives to connections, any of which may be taken at any time.
_PORTS = range(20000, 32000)

_inits = itertools.count()


def _torchrun_port():
    """Where rank 0 is to listen. MASTER_PORT is for a store of torchrun's or of torch.distributed:
    where there is one, it passes on a port that is free on rank 0's machine; else all calculate one
    that is as good as any."""
    count = next(_inits)
    restart = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    master_port = int(os.environ["MASTER_PORT"])
    distributed = sys.modules.get("torch.distributed")
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        chosen = [_free_port() if distributed.get_rank() == 0 else None]
        distributed.broadcast_object_list(chosen)
        return chosen[0]
    if os.environ.get("TORCHELASTIC_USE_AGENT_STORE", "").lower() == "true":
        from torch.distributed import TCPStore

        store = TCPStore(os.environ["MASTER_ADDR"], master_port, is_master=False)
        key = f"grapevine/{restart}/{count}"
        if os.environ["RANK"] == "0":
            store.set(key, str(_free_port()))
        return int(store.get(key))
    return _PORTS[(31 * master_port + 7 * int(restart) + count) % len(_PORTS)]


def _free_port():
    for port in random.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as probe:
            try:
                probe.bind(("", port))
                return port
            except OSError:
                continue
    raise errors.RendezvousError("no free port for rank 0; give master_port=")


def _from_torchrun():
    return "TORCHELASTIC_RUN_ID" in os.environ and "MASTER_PORT" in os.environ


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
    if _from_torchrun() and not {"master_port", "master_addr", "coordinator"} & settings.keys():
        settings["master_port"] = _torchrun_port()
    return Run({name: value for name, value in settings.items() if value is not None})
