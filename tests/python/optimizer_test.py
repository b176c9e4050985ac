#!/usr/bin/env python3
"""gv.Optimizer: PyTorch's programs, against a loop over the mixing matrix in PyTorch."""

import errno
import os
import pathlib
import stat
import subprocess
import tempfile
import unittest
import unittest.mock
import warnings

import cluster

try:
    import torch
except ImportError:
    torch = None

import grapevine as gv

STEPS = 12
BATCH = 8


def network(seed=1):
    torch.manual_seed(seed)
    return network_without_seed()


def network_without_seed():
    return torch.nn.Sequential(
        # Batch norm takes a bias away again: its gradient is noise, which Adam makes large.
        torch.nn.Linear(6, 10, bias=False),
        torch.nn.BatchNorm1d(10, momentum=0.2),
        torch.nn.ReLU(),
        torch.nn.Linear(10, 3),
    )


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-3)


def adam(model):
    return torch.optim.Adam(model.parameters(), lr=0.01)


def batches(rank):
    drawn = torch.Generator().manual_seed(100 + rank)
    for _ in range(STEPS):
        inputs = torch.randn(BATCH, 6, generator=drawn)
        yield inputs, inputs[:, :3].argmax(1)


def backward(model, batch):
    inputs, labels = batch
    loss = torch.nn.functional.cross_entropy(model(inputs), labels)
    loss.backward()
    return loss


def weights_of(model):
    """Parameters, then running statistics."""
    parts = [parameter.detach().reshape(-1) for parameter in model.parameters()]
    norm = model[1]
    return torch.cat([*parts, norm.running_mean, norm.running_var]).double()


def set_weights(model, weights):
    begin = 0
    for tensor in [*model.parameters(), model[1].running_mean, model[1].running_var]:
        end = begin + tensor.numel()
        with torch.no_grad():
            tensor.copy_(weights[begin:end].view(tensor.shape))
        begin = end


def ring(size):
    weights = torch.zeros(size, size, dtype=torch.float64)
    for rank in range(size):
        for other in (rank - 1, rank, rank + 1):
            weights[rank, other % size] += 1 / 3
    return weights


def reference(size, make_optimizer, adapt_first):
    """What D-PSGD makes of it: x <- W x - u, or W (x - u); statistics <- 0.8 W s + 0.2 b."""
    models = [network() for _ in range(size)]
    optimizers = [make_optimizer(model) for model in models]
    data = [batches(rank) for rank in range(size)]
    mixing = ring(size)
    statistics = 2 * 10
    for _ in range(STEPS):
        before = torch.stack([weights_of(model) for model in models])
        for model, optimizer, own in zip(models, optimizers, data):
            optimizer.zero_grad()
            backward(model, next(own))
            optimizer.step()
        after = torch.stack([weights_of(model) for model in models])
        mixed = mixing @ after if adapt_first else mixing @ before - (before - after)
        batch = (after - 0.8 * before) / 0.2
        stepped = 0.8 * (mixing @ before) + 0.2 * batch
        if adapt_first:
            stepped = mixing @ (0.8 * before + 0.2 * batch)
        mixed[:, -statistics:] = stepped[:, -statistics:]
        for model, weights in zip(models, mixed):
            set_weights(model, weights.float())
    return torch.stack([weights_of(model) for model in models])


def train(rank, settings, make_optimizer):
    model = settings.pop("start")[rank]
    optimizer = gv.Optimizer(make_optimizer(model), gv.init(**settings), model=model)
    for batch in batches(rank):
        optimizer.zero_grad()
        optimizer.step(loss=backward(model, batch))
    assert optimizer.over
    return weights_of(model)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class OptimizerTest(unittest.TestCase):
    def run_nodes(self, size, body, **settings):
        settings = {"topology": "ring", "rounds": STEPS, "rendezvous_timeout": "20s", **settings}
        # Drawn here: the generator is one for all threads.
        start = [network() for _ in range(size)]
        return cluster.in_threads(size, body, start=start, **settings)

    def test_is_the_loop_over_the_mixing_matrix(self):
        for algorithm, make_optimizer in (
            ("dpsgd", sgd),
            ("dpsgd", adam),
            ("dpsgd:order=atc", sgd),
        ):
            with self.subTest(algorithm=algorithm, optimizer=make_optimizer.__name__):
                found = self.run_nodes(
                    4,
                    lambda rank, settings: train(rank, settings, make_optimizer),
                    algorithm=algorithm,
                )
                expected = reference(4, make_optimizer, algorithm.endswith("atc"))
                torch.testing.assert_close(torch.stack(found), expected, rtol=0, atol=2e-6)

    def test_is_grapevine_s_own_sgd(self):
        """The same gradients into Grapevine's momentum, without the running statistics."""

        def own(rank, settings):
            model = settings.pop("start")[rank]
            parameters = {name: p.detach().numpy() for name, p in model.named_parameters()}
            node = gv.Node(
                parameters, lr=0.1, momentum=0.9, schedule="constant", **settings
            )
            data = batches(rank)
            for task in node:
                for name, tensor in node.tensors(task.replica).items():
                    with torch.no_grad():
                        model.get_parameter(name).copy_(torch.from_numpy(tensor.copy()))
                model.zero_grad()
                loss = backward(model, next(data))
                for name, tensor in node.tensors(task.gradient).items():
                    tensor[:] = model.get_parameter(name).grad.numpy()
                node.deliver(float(loss))
            return torch.from_numpy(node.model)

        def wrapped(rank, settings):
            model = settings.pop("start")[rank]
            inner = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
            optimizer = gv.Optimizer(inner, gv.init(**settings))
            for batch in batches(rank):
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            return torch.cat([p.detach().reshape(-1) for p in model.parameters()])

        found = self.run_nodes(4, wrapped)
        expected = self.run_nodes(4, own)
        torch.testing.assert_close(torch.stack(found), torch.stack(expected), rtol=0, atol=1e-6)

    def test_a_run_whose_length_nobody_has_said_ends_when_its_programs_do(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for batch in batches(rank):
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            assert not optimizer.over
            optimizer.finish()
            assert optimizer.over
            optimizer.finish()
            return weights_of(model)[: -2 * 10]

        found = self.run_nodes(4, body, rounds=None)
        # In its last round nobody steps.
        expected = ring(4) @ reference(4, sgd, adapt_first=False)[:, : -2 * 10]
        torch.testing.assert_close(torch.stack(found), expected, rtol=0, atol=2e-6)

    def test_who_has_fewer_batches_does_not_hold_up_the_others(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for batch in list(batches(rank))[: STEPS - 4 * rank]:
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            # The end of this scope is that of its program.

        self.run_nodes(3, body, rounds=None, peer_timeout="2s")

    def test_one_may_end_the_run_for_all(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            batch = next(batches(rank))
            while not optimizer.over:
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
                if rank == 1 and optimizer.steps == 5:
                    optimizer.finish(everybody=True)
            return optimizer.steps

        for steps in self.run_nodes(3, body, rounds=None):
            self.assertGreaterEqual(steps, 5)

    def test_a_run_of_a_known_length_does_not_finish_before(self):
        optimizer = gv.Optimizer(sgd(network()), gv.init(), rounds=2)
        with self.assertRaises(gv.UsageError) as caught:
            optimizer.finish()
        self.assertIn("rounds=2: the run ends then", str(caught.exception))

    def test_goes_on_from_a_checkpoint_with_the_same_bits(self):
        def steps(rank, settings):
            model = settings.pop("start")[rank]
            ends = settings.pop("ends", None)
            optimizer = gv.Optimizer(adam(model), gv.init(**settings), model=model)
            schedule = torch.optim.lr_scheduler.StepLR(
                optimizer, step_size=5, gamma=0.1, last_epoch=optimizer.steps - 1
            )
            for batch in list(batches(rank))[optimizer.steps :]:
                if optimizer.steps == ends:
                    raise RuntimeError("enough")
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
                schedule.step()
            return weights_of(model), int(model[1].num_batches_tracked)

        expected = self.run_nodes(2, steps)
        with tempfile.TemporaryDirectory() as folder:
            kept = {"out": f"{folder}/run", "checkpoint_every": 4, "on_failure": "end"}
            with self.assertRaises(RuntimeError):
                self.run_nodes(2, steps, ends=10, **kept)
            for rank in range(2):
                files = sorted(os.listdir(f"{folder}/run/node-{rank}"))
                self.assertIn("program-8.npz", files)
                self.assertFalse([name for name in files if ".tmp" in name])
            found = self.run_nodes(
                2, steps, resume=f"{folder}/run", checkpoint_every=4, on_failure="end"
            )
        for rank in range(2):
            self.assertTrue(torch.equal(found[rank][0], expected[rank][0]))
            self.assertEqual(found[rank][1], expected[rank][1])

    def test_a_state_is_on_the_disk_before_its_step_counts(self):
        """Its bytes, its name, and nothing half written beside it where that fails."""
        from grapevine import program_state

        class Node:
            rank = 0

            def __init__(self, out):
                self._settings = {"out": out, "checkpoint_every": "1", "resume": ""}

            def setting(self, name):
                return self._settings[name]

        with tempfile.TemporaryDirectory() as folder:
            os.mkdir(f"{folder}/node-0")
            kept = program_state.ProgramState(Node(folder))
            synced = []
            with unittest.mock.patch("os.fsync", lambda file: synced.append(os.fstat(file).st_mode)):
                kept.after_step(1, {"a": 1}.copy)
            self.assertEqual([stat.S_ISDIR(mode) for mode in synced], [False, True])
            failing = unittest.mock.patch("os.fsync", side_effect=OSError(errno.EIO, "I/O error"))
            with failing, self.assertRaisesRegex(gv.OutputError, "program-2.npz"):
                kept.after_step(2, {"a": 1}.copy)
            self.assertEqual(os.listdir(f"{folder}/node-0"), ["program-1.npz"])

    def test_the_state_after_the_last_step_is_that_of_the_rounds_that_follow(self):
        def steps(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(adam(model), gv.init(**settings), model=model)
            begin = optimizer.steps, [int(s["step"]) for s in optimizer.state.values()]
            for batch in list(batches(rank))[:3]:
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            optimizer.finish()
            return begin

        with tempfile.TemporaryDirectory() as folder:
            kept = {"checkpoint_every": 4, "rounds": None}
            self.run_nodes(2, steps, out=f"{folder}/run", **kept)
            files = os.listdir(f"{folder}/run/node-0")
            self.assertIn("program-3-last.npz", files)
            found = self.run_nodes(2, steps, resume=f"{folder}/run", **kept)
            # The file of the first process's end is that of round 4 now.
            files = os.listdir(f"{folder}/run/node-0")
            self.assertIn("program-4.npz", files)
            self.assertNotIn("program-3-last.npz", files)
        for begin, taken in found:
            self.assertEqual(begin, 4)  # in the last of which nobody stepped
            self.assertEqual(set(taken), {3})

    def test_the_end_of_a_with_statement_is_that_of_the_program(self):
        def body(rank, settings):
            model, other = settings.pop("start")[rank], network_without_seed()
            with gv.Optimizer(sgd(model), gv.init(**settings), model=model) as optimizer:
                for batch in batches(rank):
                    optimizer.zero_grad()
                    optimizer.step(loss=backward(model, batch))
            return weights_of(model), optimizer.average(other), weights_of(other)

        found = self.run_nodes(2, body, rounds=None, topology="complete")
        self.assertTrue(found[0][1])
        # All are alike after a round of averaging with everybody.
        torch.testing.assert_close(found[0][2][:-20], found[0][0][:-20], rtol=0, atol=1e-6)
        torch.testing.assert_close(found[1][0][:-20], found[0][0][:-20], rtol=0, atol=1e-6)

    def test_a_program_that_fails_may_say_so(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for batch in batches(rank):
                optimizer.zero_grad()
                if rank == 1 and optimizer.steps == 3:
                    optimizer.leave("out of data")
                    return
                optimizer.step(loss=backward(model, batch))

        with self.assertRaises(gv.GrapevineError) as caught:
            self.run_nodes(2, body, rounds=None, on_failure="end")
        self.assertIn("out of data", str(caught.exception))

    def test_a_damaged_state_is_named(self):
        def steps(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for batch in list(batches(rank))[optimizer.steps : 9]:
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            raise RuntimeError("enough")

        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(RuntimeError, "enough"):
                self.run_nodes(1, steps, out=f"{folder}/run", checkpoint_every=4)
            kept = pathlib.Path(f"{folder}/run/node-0")
            for path in kept.glob("program-*"):
                path.write_bytes(b"cbuiltins\nexit\n(I0\ntR.")  # a pickle that would exit
            with self.assertRaises(gv.InputError) as caught:
                self.run_nodes(1, steps, resume=f"{folder}/run", checkpoint_every=4)
            self.assertRegex(str(caught.exception), r"program-\d.npz: is no state")
            for path in kept.glob("program-*"):
                path.unlink()  # as it says
            with self.assertRaises(RuntimeError):
                self.run_nodes(1, steps, resume=f"{folder}/run", checkpoint_every=4)

    def test_schedulers_and_state_are_the_wrapped_one_s(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=5, gamma=0.1)
            for batch in batches(rank):
                optimizer.zero_grad(set_to_none=True)
                loss = optimizer.step(lambda: backward(model, batch))
                assert loss is not None
                schedule.step()
            assert optimizer.steps == STEPS
            state = optimizer.state_dict()
            optimizer.load_state_dict(state)
            return optimizer.param_groups[0]["lr"], len(state["state"])

        found = self.run_nodes(2, body)
        self.assertAlmostEqual(found[0][0], 0.001)
        self.assertEqual(found[0][1], 5)

    def test_the_averaged_model_is_loaded_into_another(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for batch in batches(rank):
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, batch))
            averaged = network_without_seed()
            there = optimizer.average(averaged)
            return weights_of(model), there, weights_of(averaged)

        found = self.run_nodes(3, body)
        mean = torch.stack([weights for weights, _, _ in found]).mean(dim=0)
        self.assertEqual([there for _, there, _ in found], [True, True, True])
        for _, _, averaged in found:
            torch.testing.assert_close(averaged, mean, rtol=0, atol=1e-6)

    def steps_with(self, change, passes=1, size=2, scale=1.0, **settings):
        """The models of nodes of which `change` has something done after they are wrapped."""

        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            change(model)
            for inputs, labels in batches(rank):
                optimizer.zero_grad()
                for _ in range(passes):
                    loss = backward(model, (inputs * scale, labels))
                optimizer.step(loss=loss)
            return weights_of(model), model[1].running_var.min().item()

        return self.run_nodes(size, body, **settings)

    def test_a_model_that_gets_other_tensors_is_still_the_run_s(self):
        def other_data(model):
            model[0].weight.data = model[0].weight.data.clone()
            model[1].running_mean = model[1].running_mean.clone()

        def other_vector(model):
            vector = torch.nn.utils.parameters_to_vector(model.parameters())
            torch.nn.utils.vector_to_parameters(vector, model.parameters())

        expected = self.steps_with(lambda model: None)
        for change in (other_data, other_vector, lambda model: model.double().float()):
            found = self.steps_with(change)
            for rank in range(2):
                torch.testing.assert_close(found[rank][0], expected[rank][0], rtol=0, atol=0)

    def test_a_model_that_becomes_another_is_refused(self):
        with self.assertRaises(gv.UsageError) as caught:
            model = network()
            optimizer = gv.Optimizer(sgd(model), gv.init(), model=model, rounds=2)
            model.double()
            optimizer.step()
        self.assertIn("before it is wrapped", str(caught.exception))

    def test_statistics_stay_variances_however_many_passes_a_step_has(self):
        for topology in ("ring", "complete"):
            found = self.steps_with(
                lambda model: None, passes=8, size=4, scale=100.0, topology=topology
            )
            self.assertGreater(min(variance for _, variance in found), 0)

    def test_a_parameter_without_dimensions_is_averaged(self):
        class Scaled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = torch.nn.Parameter(torch.tensor(2.0))

        def body(rank, settings):
            del settings["start"]
            model, other = Scaled(), Scaled()
            optimizer = gv.Optimizer(
                torch.optim.SGD(model.parameters(), lr=0.5), gv.init(**settings), model=model
            )
            while not optimizer.over:
                optimizer.zero_grad()
                model.scale.backward()
                optimizer.step()
            return optimizer.average(other), other.scale.item()

        found = self.run_nodes(2, body, rounds=3)
        self.assertEqual(found[0], (True, 0.5))

    def test_the_workers_of_a_loader_hold_nobody_up(self):
        """They are forked, and end with their loader, after the last step."""

        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            data = list(batches(rank))
            loader = torch.utils.data.DataLoader(data, batch_size=None, num_workers=1)
            for inputs, labels in loader:
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, (inputs, labels)))
            return optimizer.over

        self.assertEqual(self.run_nodes(1, body), [True])

    def test_a_loop_that_is_too_long_is_told(self):
        def body(rank, settings):
            model = settings.pop("start")[rank]
            optimizer = gv.Optimizer(sgd(model), gv.init(**settings), model=model)
            for _ in range(3):
                optimizer.zero_grad()
                optimizer.step(loss=backward(model, next(batches(rank))))

        with self.assertRaises(gv.RunOverError) as caught:
            self.run_nodes(2, body, rounds=2)
        self.assertIn("has ended", str(caught.exception))

    def test_what_it_cannot_train_is_refused(self):
        model = network()
        for make, words in (
            (lambda: gv.Optimizer(sgd(network().double()), gv.init(), rounds=3), "torch.float32"),
            (lambda: gv.Optimizer(sgd(network()), gv.init(), model=model, rounds=3), "model's"),
            (lambda: gv.Optimizer(sgd(model), gv.init(), lr=0.1, rounds=3), "leave it out"),
            (lambda: gv.Optimizer(sgd(model), gv.init(topology="rong"), rounds=3), "did you mean"),
        ):
            with self.subTest(words), self.assertRaises(gv.UsageError) as caught:
                make()
            self.assertIn(words, str(caught.exception))
        run = gv.init()
        with gv.Optimizer(sgd(model), run, model=model), self.assertRaises(gv.UsageError) as caught:
            gv.Optimizer(sgd(network()), run)
        self.assertIn("gv.init() again", str(caught.exception))
        model[1].momentum = None
        with self.assertRaises(gv.UsageError):
            gv.Optimizer(sgd(model), gv.init(), model=model, rounds=3)


    def test_a_tied_weight_has_one_place(self):
        tied = torch.nn.Linear(2, 2, bias=False)
        model = torch.nn.Sequential(tied, torch.nn.Tanh(), tied)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PyTorch says that it is there twice
            inner = torch.optim.SGD([tied.weight, tied.weight], lr=0.1)
        opt = gv.Optimizer(inner, gv.init(), model=model, rounds=2)
        self.assertEqual(opt.node.tensors(opt._task.weights).keys(), {"0.weight"})
        for _ in range(2):
            opt.zero_grad()
            model(torch.ones(1, 2)).sum().backward()
            opt.step()
        self.assertTrue(opt.over)

    def test_batch_norm_without_the_module_is_warned_of_once(self):
        model = network()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            others = network(2)
            for settings in ({}, {"model": model}):
                optimizer = gv.Optimizer(sgd(model), gv.init(), rounds=STEPS, **settings)
                before = len(caught)
                others(next(batches(0))[0])  # another optimizer's, or nobody's
                self.assertEqual(len(caught), before)
                for batch in batches(0):
                    optimizer.zero_grad()
                    optimizer.step(loss=backward(model, batch))
        said = [str(warning.message) for warning in caught]
        self.assertEqual(len(said), 1, said)
        self.assertIn("BatchNorm1d's running statistics stay this node's own", said[0])

    def test_a_program_may_have_several_runs(self):
        with tempfile.TemporaryDirectory() as out:
            with cluster.as_processes(2, "two_runs.py", out) as nodes:
                for rank, node in enumerate(nodes):
                    said, code = cluster.output(node)
                    self.assertEqual(code, 0, said)
                    self.assertIn(f"rank {rank} is done", said)
            models = {
                (pathlib.Path(out) / name / "model.safetensors").read_bytes()
                for name in ("first", "second", "third")
            }
        self.assertEqual(len(models), 3)


@unittest.skipIf(torch is None, "PyTorch is not installed")
class TorchrunTest(unittest.TestCase):
    def test_four_processes(self):
        answer = subprocess.run(
            cluster.torchrun(4) + [str(cluster.HERE / "train_torch.py")],
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            timeout=cluster.DEADLINE_S,
            check=False,
        )
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        for rank in range(4):
            self.assertIn(f"rank {rank} of 4 is done", answer.stdout)


if __name__ == "__main__":
    unittest.main()
