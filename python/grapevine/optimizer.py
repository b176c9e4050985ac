"""An optimizer of PyTorch whose parameters are a replica of a Grapevine run."""

import math

import torch

from . import errors
from .node import PLAIN_STEP, Node


class Optimizer(torch.optim.Optimizer):
    """Wraps an optimizer: step() is its step, and the averaging with the neighbours.

        opt = gv.Optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), run,
                           model=model, algorithm="dpsgd", topology="ring", rounds=1000)
        for inputs, labels in loader:
            opt.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            opt.step(loss=loss)

    What the wrapped optimizer changes, x - x', is this node's update u; Grapevine makes of it
    x_next = sum_j W_ij x_j - u for dpsgd, sum_j W_ij (x_j - u_j) for dpsgd:order=atc, and
    likewise for its other algorithms: learning rates, momentum and schedules stay PyTorch's.
    While forward and backward passes run, the weights are on their way to the neighbours.

    optimizer: of float32 parameters, on the CPU or on CUDA devices; from now on they are views of
    one flat tensor for each device. model: the module that has them, whose names and buffers the
    run takes over; running statistics are averaged, other buffers stay as they are. Without it
    buffers stay each node's own. settings: those of `grapevine node`; rounds is how many steps
    the run has, the same on all nodes. Every node begins with the same weights, or the run is
    refused: seed before the model is made. Waits until all nodes have joined.
    """

    def __init__(self, optimizer, run, *, model=None, **settings):
        self._inner = optimizer
        self._replica = _Replica(optimizer, model)
        settings = run.with_settings(settings)
        for fixed in (*PLAIN_STEP, "scale_lr"):
            if fixed in settings:
                raise errors.UsageError(
                    f"{fixed}={settings[fixed]}: the wrapped optimizer decides it; leave it out"
                )
        self.node = Node(
            self._replica.parameters,
            self._replica.buffers,
            buffer_momentum=self._replica.buffer_momentum,
            **settings,
            **PLAIN_STEP,
        )
        self._task = None
        self._steps = 0
        self._begin()

    # What PyTorch's schedulers and users reach for is the wrapped one's.
    @property
    def param_groups(self):
        return self._inner.param_groups

    @property
    def state(self):
        return self._inner.state

    @property
    def defaults(self):
        return self._inner.defaults

    def zero_grad(self, *arguments, **named):
        self._inner.zero_grad(*arguments, **named)

    def state_dict(self):
        return self._inner.state_dict()

    def load_state_dict(self, state):
        self._inner.load_state_dict(state)

    def add_param_group(self, group):
        raise errors.UsageError("a run's parameters are those that it began with")

    def __repr__(self):
        return f"Grapevine({self._inner!r})"

    @property
    def steps(self):
        """How many steps this node has behind it, those before a resumed run's checkpoint too."""
        return self._steps

    @property
    def over(self):
        """Whether the run has had all its rounds; the parameters are this node's final ones."""
        return self.node.over

    @torch.no_grad()
    def average(self, model):
        """Loads the run's last averaged model, parameters and running statistics, into `model`, of
        the same class as the one that is trained; whether there is one: it is at rank 0's node
        alone, after every `eval_every` steps and at the end."""
        flat = self.node.average()
        if flat is None:
            return False
        state = model.state_dict()
        for name, tensor in self.node.tensors(torch.from_numpy(flat)).items():
            if name not in state:
                raise errors.UsageError(f"the model that is to be averaged has no {name}")
            state[name].copy_(tensor)
        return True

    def consensus_distance(self):
        """How far the nodes were apart then: (1/n) sum_i |x_i - mean|^2; None where there is no
        averaged model."""
        return self.node.consensus_distance()

    @torch.no_grad()
    def step(self, closure=None, *, loss=None):
        """A step of the run. loss: the batch's mean, for the run's metrics; a closure's is taken.

        Raises RunOverError if the run has had all its rounds, and what else befalls the run
        (grapevine.errors): who, where and what to do.
        """
        if self._task is None:
            raise errors.RunOverError(
                "the run has had all its rounds; give it more, or end the loop when opt.over"
            )
        found = self._inner.step(closure) if closure is not None else self._inner.step()
        loss = found if loss is None else loss
        self._task = None
        self.node.deliver_weights(
            self._replica.weights(), math.nan if loss is None else float(loss)
        )
        self._begin()
        return found

    @torch.no_grad()
    def _begin(self):
        """Takes the weights at which the next gradient is wanted, or those of the end. A server
        has none."""
        self._task = self.node.wanted()
        self._steps = self._steps + 1 if self._task is None else self._task.round
        weights = self.node.model if self._task is None else self._task.weights
        if weights.size > 0:
            self._replica.read(torch.from_numpy(weights))


class _Replica:
    """A model's tensors as a part of one flat vector: parameters, then running statistics."""

    def __init__(self, optimizer, model):
        parameters = _parameters(optimizer, model)
        buffers, self.buffer_momentum = _running_statistics(model)
        if not parameters:
            raise errors.UsageError("the optimizer has no parameters")
        for name, tensor in {**parameters, **buffers}.items():
            if tensor.dtype != torch.float32:
                raise errors.UsageError(
                    f"{name} has elements of type {tensor.dtype}; Grapevine takes torch.float32"
                )
        self._tensors = [_flattened([*parameters.values()]), _flattened([*buffers.values()])]
        self.parameters = {name: _host(tensor) for name, tensor in parameters.items()}
        self.buffers = {name: _host(tensor) for name, tensor in buffers.items()}

    def read(self, flat):
        """From the run's vector."""
        begin = 0
        for section in self._tensors:
            for tensor in section:
                tensor.copy_(flat[begin : begin + tensor.numel()])
                begin += tensor.numel()

    def weights(self):
        """Flat, in host memory."""
        flats = [flat.to("cpu") for section in self._tensors for flat in section]
        return (flats[0] if len(flats) == 1 else torch.cat(flats)).numpy()


def _host(tensor):
    return tensor.detach().to("cpu").numpy()


def _parameters(optimizer, model):
    """The optimizer's parameters by name."""
    names = {} if model is None else {id(p): name for name, p in model.named_parameters()}
    found = {}
    for group, settings in enumerate(optimizer.param_groups):
        for place, parameter in enumerate(settings["params"]):
            if model is not None and id(parameter) not in names:
                raise errors.UsageError(
                    f"parameter {place} of group {group} is not one of the model's"
                )
            found[names.get(id(parameter), f"group{group}.{place}")] = parameter
    return found


def _running_statistics(model):
    """Those of all batch norms that keep them, and how far they move in a step."""
    found = {}
    momenta = set()
    for prefix, module in () if model is None else model.named_modules():
        if not isinstance(module, torch.nn.modules.batchnorm._NormBase):
            continue
        if not module.track_running_stats:
            continue
        if module.momentum is None:
            raise errors.UsageError(
                f"{prefix} averages its statistics over all batches (momentum=None), which nodes "
                "cannot mix; give it a momentum"
            )
        momenta.add(module.momentum)
        for name in ("running_mean", "running_var"):
            found[f"{prefix}.{name}"] = getattr(module, name)
    # The largest: of one that moves less, the rest of the way is its own old value, which keeps
    # the average convex.
    return found, max(momenta, default=0.1)


def _flattened(tensors):
    """Makes tensors views of one flat one for each run of the same device, and returns these."""
    flats = []
    while tensors:
        device = tensors[0].device
        count = next((i for i, t in enumerate(tensors) if t.device != device), len(tensors))
        part, tensors = tensors[:count], tensors[count:]
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in part])
        begin = 0
        for tensor in part:
            tensor.data = flat[begin : begin + tensor.numel()].view(tensor.shape)
            begin += tensor.numel()
        flats.append(flat)
    return flats
