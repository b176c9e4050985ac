"""Which node of which run this process is, before it joins."""

import ctypes
import itertools
import os
import random
import socket
import sys
import weakref

from . import _library, errors
from ._library import call


# Below those that the system gives to connections, any of which may be taken at any time.
_PORTS = range(20000, 32000)

# Of grapevine node, where nobody says another one.
_DEFAULT_PORT = 29500

_inits = itertools.count()


def _torchrun_port(count):
    """Where rank 0 is to listen. MASTER_PORT is for a store of torchrun's or of torch.distributed:
    where there is one, it passes on a port that is free on rank 0's machine; else all calculate one
    that is as good as any."""
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


def _next_port(address, count):
    """Where rank 0 is to listen in a program's run number `count`; None where its address or the
    environment says it in another way."""
    port = os.environ.get("GRAPEVINE_MASTER_PORT") or os.environ.get("MASTER_PORT")
    elsewhere = {"GRAPEVINE_COORDINATOR", "GRAPEVINE_HOSTS", "GRAPEVINE_HOSTFILE"} & os.environ.keys()
    if elsewhere or not (port or "0").isdigit() or address.count(":") == 1 or "]:" in address:
        return None
    return int(port or _DEFAULT_PORT) + count


def _place(given):
    """The setting that says where rank 0 listens, if the environment alone does not: each init() of
    a program is for another run."""
    count = next(_inits)
    if _from_torchrun():
        named = {"master_port", "master_addr", "coordinator"}
        return {} if named & given.keys() else {"master_port": _torchrun_port(count)}
    named = {"master_port", "coordinator", "hosts", "hostfile", "config"}
    address = given.get("master_addr") or os.environ.get("MASTER_ADDR", "")
    port = None if count == 0 or named & given.keys() else _next_port(str(address), count)
    return {} if port is None else {"master_port": port}


class Run:
    """Which node this process is, and settings for what joins, one after the other; made by init().

    rank, size, local_rank: of this process, of how many nodes, and among those of its machine.
    """

    def __init__(self, settings):
        self.settings = settings
        self._node = None  # the last one
        numbers = [ctypes.c_int32() for _ in range(3)]
        call(
            "grapevine_identify",
            *_library.settings(settings),
            *[ctypes.byref(number) for number in numbers],
        )
        self.rank, self.size, self.local_rank = [number.value for number in numbers]

    def joined(self, node):
        """A node that is in it."""
        self._node = weakref.ref(node)

    def with_settings(self, settings):
        """For the next node: these settings, and where one is given twice, `settings`. UsageError
        while another one is in the run."""
        node = self._node and self._node()
        if node is not None and node.is_open:
            raise errors.UsageError(
                "an optimizer is in this run already; end that one (finish()), give all parameters "
                "to one, or join another run with a second one: gv.init() again"
            )
        given = {name: value for name, value in settings.items() if value is not None}
        return {**self.settings, **given}


def init(**settings):
    """This process as a node of a run, which begins once something joins it (Optimizer, Node).
    Another call is for another run, at the same time or later.

    The launcher's environment says which node (torchrun's RANK, WORLD_SIZE, MASTER_ADDR and
    MASTER_PORT, Slurm's, Open MPI's); or rank=, world_size=, master_addr=, master_port=, or
    hosts="a:2,b:2". Without any the process is the only node. `settings` are those of
    `grapevine node`: out="runs/first", insecure=True, tls_ca=..., peer_timeout="10s".
    """
    given = {name: value for name, value in settings.items() if value is not None}
    return Run({**given, **_place(given)})
