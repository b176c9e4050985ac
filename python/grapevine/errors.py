"""What can go wrong, as exceptions: one for each exit code of the program `grapevine`."""


class GrapevineError(Exception):
    """The base of all; the message says who, where and what to do."""


class UsageError(GrapevineError, ValueError):
    """A wrong setting or argument, or settings that do not go together."""


class InputError(GrapevineError):
    """A file is missing or broken."""


class OutputError(GrapevineError):
    """A file of the run cannot be written."""


class RendezvousError(GrapevineError):
    """Nodes did not find each other, or differ in what they are to do."""


class PeerLostError(GrapevineError):
    """A peer fell silent, died or broke the protocol; the message names its rank."""


class DivergedError(GrapevineError, ArithmeticError):
    """Numbers became NaN or infinite, or exceed max_norm."""


class DeviceError(GrapevineError):
    """A device failed."""


class InterruptedRunError(GrapevineError):
    """The run was interrupted, here or at another node."""


class NodeLeftError(GrapevineError):
    """A node has left before the run was over."""


class RunOverError(GrapevineError):
    """The run has had all its rounds; no further gradient is wanted."""


OF_CODE = {
    2: UsageError,
    3: InputError,
    4: OutputError,
    5: RendezvousError,
    6: PeerLostError,
    7: DivergedError,
    8: DeviceError,
    130: InterruptedRunError,
    143: NodeLeftError,
}
