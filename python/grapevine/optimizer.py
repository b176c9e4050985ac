"""An optimizer of PyTorch whose parameters are a replica of a Grapevine run."""

import math
import warnings

import torch

from . import errors
from .node import PLAIN_STEP, Node
from .program_state import ProgramState


class Optimizer(torch.optim.Optimizer):
    """Wraps an optimizer: step() is its step, and the averaging with the neighbours.

        opt = gv.Optimizer(torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), run,
                           model=model, algorithm="dpsgd", topology="ring")
        for inputs, labels in loader:
            opt.zero_grad()
            loss = criterion(model(inputs), labels)
            loss.backward()
            opt.step(loss=loss)
        opt.finish()

    What the wrapped optimizer changes, x - x', is this node's update u; Grapevine makes of it
    x_next = sum_j W_ij x_j - u for dpsgd, sum_j W_ij (x_j - u_j) for dpsgd:order=atc, and
    likewise for its other algorithms: learning rates, momentum and schedules stay PyTorch's.
    While forward and backward passes run, the weights are on their way to the neighbours.

    optimizer: of float32 parameters, on the CPU or on CUDA devices; from now on they are contiguous
    views of one flat tensor for each device. model: the module that has them, whose names and buffers the
    run takes over; running statistics are averaged, other buffers stay as they are. Without it
    buffers stay each node's own. settings: those of `grapevine node`; with rounds the run ends after
    so many steps, the same on all nodes, without it once all have called finish(). Every node begins
    with the same weights, or the run is refused: seed before the model is made. Waits until all nodes
    have joined.
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
        run.joined(self.node)
        self._kept = ProgramState(self.node)
        self._statistics = _UnaveragedStatistics()
        self._task = None
        self._steps = 0
        self._begin()
        if self._task is not None:  # a server's run is over by now
            self._go_on(self._kept.load(self._steps))
            if model is None:
                self._statistics.look_for(self._replica)

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

    def __getattr__(self, name):
        """What PyTorch keeps in an optimizer, as hooks, the wrapped one has."""
        if name == "_inner":
            raise AttributeError(name)
        return getattr(self._inner, name)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.node.__exit__(kind, error, trace)
        if kind is None and self._task is not None and self.node.over:
            with torch.no_grad():
                self._end()

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
    def finish(self, everybody=False):
        """This node steps no more: it averages on until the others do not either, and the run ends,
        with the parameters as they are then. So it is, too, when the program ends. `everybody`: the
        others are to end after the step that they are at, and see so by `over`. Where rounds were
        given, UsageError before they are done."""
        if self.over:
            return
        self._kept.at_the_end(self._steps, self._state)
        self.node.finish(everybody)
        self._end()

    def leave(self, why):
        """Ends this node: its program has failed, of which `why` tells the others."""
        self.node.leave_now(why)

    @torch.no_grad()
    def average(self, model):
        """Loads the run's last averaged model, parameters and running statistics, into `model`, of
        the same class as the one that is trained; whether there is one: it is put together after
        every `eval_every` steps and at the end, and told to all workers (with asynchronous parameter
        servers, to rank 0's node alone)."""
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
                "the run has ended; give it more rounds, or end the loop when opt.over"
            )
        found = self._inner.step(closure) if closure is not None else self._inner.step()
        loss = found if loss is None else loss
        self._statistics.end()
        self._kept.after_step(self._task.round + 1, self._state)
        self._task = None
        self.node.deliver_weights(
            self._replica.weights(), math.nan if loss is None else float(loss)
        )
        self._begin()
        return found

    def _state(self):
        return {"optimizer": self._inner.state_dict(), "buffers": self._replica.unaveraged()}

    def _go_on(self, state):
        if state is None:
            return
        try:
            self._inner.load_state_dict(state["optimizer"])
            self._replica.set_unaveraged(state["buffers"])
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise errors.InputError(
                f"the state that was kept after step {self._steps} is of another optimizer or "
                f"model: {error}; go on with the program that began the run"
            ) from None

    @torch.no_grad()
    def _begin(self):
        """Takes the weights at which the next gradient is wanted, or those of the end."""
        self._task = self.node.wanted()
        if self._task is None:
            self._steps += 1
            self._end()
        else:
            self._steps = self._task.round
            self._replica.read(torch.from_numpy(self._task.weights))

    def _end(self):
        self._task = None
        self._statistics.end()
        if self.node.model.size > 0:  # a server has none
            self._replica.read(torch.from_numpy(self.node.model))


class _UnaveragedStatistics:
    """Says once, in the first step of a program without model=, that it has batch norms, whose
    statistics nobody averages."""

    def __init__(self):
        self._hook = None

    def look_for(self, replica):
        """For batch norms whose weights are in this replica: others are another optimizer's."""
        register = torch.nn.modules.module.register_module_forward_pre_hook
        self._hook = register(lambda module, _: self._look(module, replica))

    def _look(self, module, replica):
        if not isinstance(module, torch.nn.modules.batchnorm._NormBase):
            return
        if module.training and module.track_running_stats and replica.has(module.weight):
            self.end()
            warnings.warn(
                f"{type(module).__name__}'s running statistics stay this node's own, while its "
                "weights are averaged: give gv.Optimizer the module, model=, and they are, too"
            )

    def end(self):
        """The first step is done: what there is has passed by."""
        if self._hook is not None:
            self._hook.remove()
        self._hook = None


class _Replica:
    """A model's tensors as a part of one flat vector: parameters, then running statistics."""

    def __init__(self, optimizer, model):
        parameters = _parameters(optimizer, model)
        self._norms = _norms(model)
        self._model = model
        # The largest: where one moves less, the rest of the way is its own old value, which keeps
        # the average convex.
        self.buffer_momentum = max((norm.momentum for norm in self._norms), default=0.1)
        buffers = [seat for norm in self._norms for seat in norm.seats]
        if not parameters:
            raise errors.UsageError("the optimizer has no parameters")
        self._seats = [*parameters, *buffers]
        for seat in self._seats:
            seat.check()
        self._flats = _flattened(parameters) + _flattened(buffers)
        self.parameters = {seat.name: seat.place.cpu().numpy() for seat in parameters}
        self.buffers = {seat.name: seat.place.cpu().numpy() for seat in buffers}
        self._statistics = sum(seat.place.numel() for seat in buffers)

    def has(self, tensor):
        return any(seat.find() is tensor for seat in self._seats)

    def read(self, flat):
        """From the run's vector."""
        for seat in self._seats:
            seat.sit()
        begin = 0
        for tensor in self._flats:
            tensor.copy_(flat[begin : begin + tensor.numel()])
            begin += tensor.numel()
        for norm in self._norms:
            norm.note()

    def unaveraged(self):
        """The model's buffers that the run does not have, by name: counters."""
        named = {} if self._model is None else dict(self._model.named_buffers())
        return {name: tensor for name, tensor in named.items() if name not in self.buffers}

    @torch.no_grad()
    def set_unaveraged(self, buffers):
        for name, tensor in self.unaveraged().items():
            tensor.copy_(buffers[name])
        for norm in self._norms:
            norm.note()

    def weights(self):
        """Flat, in host memory."""
        for seat in self._seats:
            seat.sit()
        flats = [flat.to("cpu") for flat in self._flats]
        whole = flats[0] if len(flats) == 1 else torch.cat(flats)
        begin = whole.numel() - self._statistics
        for norm in self._norms:
            begin = norm.write(whole, begin, 1 - self.buffer_momentum)
        return whole.numpy()


class _Seat:
    """A tensor of the model's, and its place in a flat one."""

    def __init__(self, name, find):
        self.name = name
        self.find = find  # as the model has it now
        self.place = None

    def check(self):
        tensor = self.find()
        if tensor.dtype != torch.float32:
            raise errors.UsageError(
                f"{self.name} has elements of type {tensor.dtype}; Grapevine takes torch.float32"
            )

    def sit(self):
        """The model may have another tensor by now (model.to(...), p.data = ...): its values count,
        and its place is here again."""
        tensor, place = self.find(), self.place
        same = tensor.data_ptr() == place.data_ptr() and tensor.stride() == place.stride()
        if (same and tensor.shape == place.shape) or place.numel() == 0:
            return
        if (tensor.dtype, tensor.device, tensor.shape) != (place.dtype, place.device, place.shape):
            raise errors.UsageError(
                f"{self.name} has become {tensor.dtype} {tuple(tensor.shape)} on {tensor.device}; "
                f"in the run it is {place.dtype} {tuple(place.shape)} on {place.device}: change "
                "the model before it is wrapped"
            )
        place.copy_(tensor)
        tensor.data = place


class _Norm:
    """A batch norm's running statistics, moved by each forward pass in training."""

    def __init__(self, prefix, module):
        if module.momentum is None:
            raise errors.UsageError(
                f"{prefix} averages its statistics over all batches (momentum=None), which nodes "
                "cannot mix; give it a momentum"
            )
        self.momentum = module.momentum
        self._module = module
        self.seats = [
            _Seat(f"{prefix}.{name}", lambda name=name: getattr(module, name))
            for name in ("running_mean", "running_var")
        ]
        self._before = []
        self._passes = 0

    def _passes_now(self):
        count = self._module.num_batches_tracked
        return 0 if count is None else int(count)

    def note(self):
        """They are as the run has them."""
        self._before = [seat.place.clone() for seat in self.seats]
        self._passes = self._passes_now()

    def write(self, whole, begin, keep):
        """Into the run's vector from `begin` on; returns the end. A step moves statistics by no more
        than 1 - keep. After several passes they have moved further, and the run gets the mean of
        these batches in place of one's: a convex average still."""
        kept = (1 - self.momentum) ** (self._passes_now() - self._passes)
        for seat, before in zip(self.seats, self._before):
            end = begin + before.numel()
            if kept < keep * (1 - 1e-6):
                batches = (seat.place - kept * before) / (1 - kept)
                whole[begin:end] = keep * before + (1 - keep) * batches
            begin = end
        return begin


def _parameters(optimizer, model):
    """The optimizer's, with their names."""
    names = {} if model is None else {id(p): name for name, p in model.named_parameters()}
    found = []
    seen = set()
    for group, settings in enumerate(optimizer.param_groups):
        for place, parameter in enumerate(settings["params"]):
            if id(parameter) in seen:  # a tied weight, which has one place
                continue
            seen.add(id(parameter))
            if model is not None and id(parameter) not in names:
                raise errors.UsageError(
                    f"parameter {place} of group {group} is not one of the model's"
                )
            name = names.get(id(parameter), f"group{group}.{place}")
            found.append(_Seat(name, lambda parameter=parameter: parameter))
    return found


def _norms(model):
    return [
        _Norm(prefix, module)
        for prefix, module in (() if model is None else model.named_modules())
        if isinstance(module, torch.nn.modules.batchnorm._NormBase) and module.track_running_stats
    ]


def _flattened(seats):
    """Gives tensors their places in one flat tensor for each run of the same device."""
    flats = []
    while seats:
        device = seats[0].find().device
        same = [seat.find().device == device for seat in seats] + [False]
        part, seats = seats[: same.index(False)], seats[same.index(False) :]
        tensors = [seat.find() for seat in part]
        flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
        begin = 0
        for seat, tensor in zip(part, tensors):
            seat.place = flat[begin : begin + tensor.numel()].view(tensor.shape)
            tensor.data = seat.place
            begin += tensor.numel()
        flats.append(flat)
    return flats
