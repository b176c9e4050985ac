#!/usr/bin/env python3
"""gv.Node: what NumPy programs use, against a loop over the mixing matrix."""

import json
import math
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import urllib.error
import urllib.request

import cluster
import numpy

import grapevine as gv


def metropolis_ring(size):
    """W of `topology="ring"`: a third for each neighbour and oneself."""
    weights = numpy.zeros((size, size))
    for rank in range(size):
        for other in (rank - 1, rank, rank + 1):
            weights[rank, other % size] += 1 / 3
    return weights


class Quadratic:
    """F_i(x) = |A_i x - b_i|^2 / 2, another one for each node."""

    def __init__(self, rank, dimension=6):
        drawn = numpy.random.default_rng(rank)
        self.a = drawn.normal(size=(dimension, dimension)) / 3
        self.b = drawn.normal(size=dimension)

    def gradient(self, x):
        return (self.a.T @ (self.a @ x - self.b)).astype(numpy.float32)

    def loss(self, x):
        return float(numpy.sum((self.a @ x - self.b) ** 2) / 2)


START = numpy.linspace(-1, 1, 6, dtype=numpy.float32)


def train(problem, settings, begin=START):
    node = gv.Node({"x": begin}, **settings)
    for task in node:
        task.gradient[:] = problem.gradient(task.replica)
        node.deliver(problem.loss(task.replica))
    return node.model


def dpsgd_loop(size, rounds, lr, momentum, adapt_first=False):
    """D-PSGD in double precision: x_i <- sum_j W_ij x_j - lr u_i, or the mean of steps."""
    problems = [Quadratic(rank) for rank in range(size)]
    x = numpy.tile(START.astype(float), (size, 1))
    v = numpy.zeros_like(x)
    weights = metropolis_ring(size)
    for _ in range(rounds):
        v = momentum * v + [problem.gradient(row) for problem, row in zip(problems, x)]
        x = weights @ (x - lr * v) if adapt_first else weights @ x - lr * v
    return x


class DpsgdTest(unittest.TestCase):
    def test_is_the_loop_over_the_mixing_matrix(self):
        for algorithm, adapt_first in (("dpsgd", False), ("dpsgd:order=atc", True)):
            found = cluster.in_threads(
                4,
                lambda rank, settings: train(Quadratic(rank), settings),
                algorithm=algorithm,
                topology="ring",
                rounds=40,
                lr=0.1,
                momentum=0.9,
                schedule="constant",
            )
            expected = dpsgd_loop(4, 40, 0.1, 0.9, adapt_first)
            numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)

    def test_allreduce_keeps_all_alike(self):
        found = cluster.in_threads(
            3,
            lambda rank, settings: train(Quadratic(rank), settings),
            algorithm="allreduce",
            rounds=20,
            lr=0.1,
            momentum=0,
            schedule="constant",
        )
        numpy.testing.assert_array_equal(found[0], found[1])
        numpy.testing.assert_array_equal(found[0], found[2])
        x = START.astype(float)
        problems = [Quadratic(rank) for rank in range(3)]
        for _ in range(20):
            x = x - 0.1 * numpy.mean([problem.gradient(x) for problem in problems], axis=0)
        numpy.testing.assert_allclose(found[0], x, rtol=0, atol=1e-6)

    def test_buffers_are_averaged_and_moved_towards_the_statistic(self):
        def body(rank, settings):
            node = gv.Node(
                {"x": START},
                {"mean": numpy.ones(2, numpy.float32)},
                buffer_momentum=0.25,
                **settings,
            )
            for task in node:
                task.gradient[:-2] = 0
                task.gradient[-2:] = rank  # the batch's statistic
                node.deliver()
            return node.tensors(node.model)["mean"]

        found = cluster.in_threads(4, body, topology="ring", rounds=7, lr=0.1)
        mean = numpy.ones(4)
        for _ in range(7):
            mean = 0.75 * (metropolis_ring(4) @ mean) + 0.25 * numpy.arange(4)
        numpy.testing.assert_allclose([row[0] for row in found], mean, atol=1e-6)

    def test_a_server_has_no_gradients(self):
        found = cluster.in_threads(
            3,
            lambda rank, settings: train(Quadratic(rank), settings),
            algorithm="ps",
            rounds=10,
            lr=0.1,
            momentum=0,
            on_failure="end",
        )
        self.assertEqual([len(model) for model in found], [6, 6, 0])
        numpy.testing.assert_array_equal(found[0], found[1])

    def test_nodes_that_share_a_budget_do_all_of_it(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            steps = 0
            for task in node:
                task.gradient[:] = Quadratic(rank).gradient(task.replica)
                node.deliver(1.0)
                steps += 1
            return steps

        steps = cluster.in_threads(
            4, body, algorithm="adpsgd", topology="ring", rounds=25, lr=0.01
        )
        self.assertEqual(sum(steps), 100)


class RecordsTest(unittest.TestCase):
    def test_leaves_the_files_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            out = folder + "/run"
            cluster.in_threads(
                2,
                lambda rank, settings: train(Quadratic(rank), settings),
                topology="ring",
                rounds=10,
                lr=0.1,
                out=out,
            )
            run = gv.read_run(out)
        self.assertEqual(run["summary"]["rounds"], 10)
        self.assertEqual(run["summary"]["model"], "outside")
        self.assertEqual(run["metrics"]["round"].tolist(), list(range(1, 11)))
        self.assertLess(run["metrics"]["train_loss"][-1], run["metrics"]["train_loss"][0])
        self.assertGreater(run["metrics"]["consensus_distance"][-1], 0)
        self.assertEqual(len(run["nodes"]), 2)
        self.assertNotIn("test_loss", run["metrics"])

    def test_a_loss_that_nobody_knows_is_in_no_record(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            for task in node:
                task.gradient[:] = 0
                node.deliver()

        with tempfile.TemporaryDirectory() as folder:
            out = folder + "/run"
            cluster.in_threads(2, body, topology="ring", rounds=3, out=out)
            run = gv.read_run(out)
        self.assertNotIn("train_loss", run["metrics"])
        self.assertEqual(run["metrics"]["round"][-1], 3)

    def test_is_alone_without_a_launcher(self):
        run = gv.init()
        self.assertEqual((run.rank, run.size, run.local_rank), (0, 1, 0))
        settings = {"rounds": 5, "lr": 0.1, "momentum": 0, "schedule": "constant"}
        model = train(Quadratic(0), settings)
        x = START.copy()
        for _ in range(5):
            x = x - numpy.float32(0.1) * Quadratic(0).gradient(x)
        numpy.testing.assert_allclose(model, x, atol=1e-6)

    def test_all_have_the_averaged_model(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            for task in node:
                task.gradient[:] = Quadratic(rank).gradient(task.replica)
                node.deliver()
            return node.model, node.average(), node.consensus_distance()

        found = cluster.in_threads(3, body, topology="ring", rounds=8, lr=0.1)
        models = numpy.array([model for model, _, _ in found], dtype=float)
        mean = models.mean(axis=0)
        numpy.testing.assert_allclose(found[0][1], mean, atol=1e-6)
        distance = ((models - mean) ** 2).sum(axis=1).mean()
        self.assertAlmostEqual(found[0][2], distance, places=6)
        for _, average, apart in found[1:]:
            numpy.testing.assert_array_equal(average, found[0][1])
            self.assertEqual(apart, found[0][2])

    def test_where_servers_have_the_model_it_is_rank_0s(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            for task in node:
                task.gradient[:] = Quadratic(rank).gradient(task.replica)
                node.deliver()
            return node.average(), node.consensus_distance()

        found = cluster.in_threads(3, body, algorithm="ps:async", rounds=8, lr=0.1)
        self.assertIsNotNone(found[0][0])
        self.assertIsNone(found[0][1])
        self.assertEqual(found[1:], [(None, None)] * 2)

    def test_metrics_are_rank_0s(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            seen = []
            for task in node:
                task.gradient[:] = 0
                seen.append(node.metrics())
                node.deliver(0.5)
            return seen + [node.metrics()]

        found = cluster.in_threads(2, body, topology="ring", rounds=300)
        self.assertTrue(all(line is None for line in found[1]))
        lines = [line for line in found[0] if line is not None]
        self.assertTrue(lines)
        self.assertEqual(lines[-1]["train_loss"], 0.5)


class DashboardTest(unittest.TestCase):
    def setUp(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        self.port = taken.getsockname()[1]
        self.taken = taken

    def test_the_page_of_the_run_is_served_while_it_goes_on(self):
        self.taken.close()

        def read(path):
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}{path}", timeout=60) as answer:
                return answer.read().decode()

        def body(rank, settings):
            seen = []
            with gv.Node({"x": START}, **settings) as node:
                for task in node:
                    task.gradient[:] = 0
                    if rank == 0 and not seen and node.metrics():  # something is there
                        seen.append((read("/"), json.loads(read("/data.json"))))
                    node.deliver(0.5)
            return seen

        found = cluster.in_threads(
            2, body, topology="ring", rounds=300, log_every=1, dashboard=self.port
        )
        self.assertTrue(found[0])
        page, data = found[0][-1]
        self.assertIn("data.json", page)
        self.assertEqual(len(data["runs"]), 1)
        with self.assertRaises(urllib.error.URLError):
            read("/")

    def test_a_port_that_is_taken_is_told_to_all(self):
        def body(rank, settings):
            gv.Node({"x": START}, **settings).wanted()

        with tempfile.TemporaryDirectory() as folder:
            out = folder + "/run"
            with self.assertRaises(gv.RendezvousError) as caught:
                cluster.in_threads(
                    2, body, topology="ring", rounds=5, dashboard=self.port, out=out
                )
            self.assertFalse(os.path.exists(out))
        self.assertIn("choose another one with dashboard", str(caught.exception))
        self.assertIn("rank 1", " ".join(getattr(caught.exception, "__notes__", [])))


class CheckpointTest(unittest.TestCase):
    def test_a_resumed_run_has_the_bits_of_one_that_never_stopped(self):
        problem = {"topology": "ring", "rounds": 10, "lr": 0.1, "checkpoint_every": 4}

        def whole(rank, settings):
            return train(Quadratic(rank), settings)

        def broken(rank, settings):
            with gv.Node({"x": START}, **settings) as node:
                for task in node:
                    if task.round == 6:
                        cluster.await_file(settings["out"] + "/checkpoints/round-4/manifest.textproto")
                        raise KeyError("the power fails")
                    task.gradient[:] = Quadratic(rank).gradient(task.replica)
                    node.deliver(1.0)

        with tempfile.TemporaryDirectory() as folder:
            expected = cluster.in_threads(3, whole, out=folder + "/whole", **problem)
            with self.assertRaises((KeyError, gv.GrapevineError)):
                cluster.in_threads(3, broken, out=folder + "/broken", **problem)
            rounds = []

            def resumed(rank, settings):
                node = gv.Node({"x": START}, **settings)
                for task in node:
                    rounds.append(task.round)
                    task.gradient[:] = Quadratic(rank).gradient(task.replica)
                    node.deliver(1.0)
                return node.model

            found = cluster.in_threads(3, resumed, resume=folder + "/broken", **problem)
        self.assertEqual(min(rounds), 4)
        numpy.testing.assert_array_equal(found, expected)


class ErrorTest(unittest.TestCase):
    def fails(self, kind, words, body, size=2, **settings):
        settings = {"topology": "ring", "rounds": 5, "rendezvous_timeout": "3s", **settings}
        with self.assertRaises(kind) as caught:
            cluster.in_threads(size, body, **settings)
        text = "\n".join([str(caught.exception), *getattr(caught.exception, "__notes__", [])])
        for word in words:
            self.assertIn(word, text)

    def zeros(self, rank, settings):
        node = gv.Node({"x": START}, **settings)
        for task in node:
            task.gradient[:] = 0
            node.deliver(0)

    def test_settings_are_checked(self):
        for settings, words in (
            ({"topology": "rong"}, ["topology=rong", "did you mean ring"]),
            ({"rounds": None}, ["rounds"]),
            ({"batsh": 3}, ["batsh"]),
            ({"model": "lenet5"}, ["model=lenet5", "leave it out"]),
            ({"clip_norm": 1}, ["clip_norm=1"]),
            ({"device": "cuda"}, ["device=cuda"]),
            ({"topology": "ring\0"}, ["topology", "NUL"]),
            ({"batch": [8]}, ["batch=[8]"]),
        ):
            with self.subTest(settings):
                self.fails(gv.UsageError, words, self.zeros, size=1, **settings)

    def test_tensors_are_checked(self):
        for parameters, words in (
            ({"x": numpy.zeros(3)}, ["x", "float64", "float32"]),
            ({}, ["model"]),
            ({"x": numpy.full(2, numpy.nan, numpy.float32)}, ["x", "not finite"]),
            ({"": START}, ["name"]),
            ({"a\0b": START}, ["NUL"]),
        ):
            with self.subTest(words=words), self.assertRaises(gv.UsageError) as caught:
                gv.Node(parameters, rounds=3)
            for word in words:
                self.assertIn(word, str(caught.exception))

    def test_all_nodes_begin_with_the_same_weights(self):
        def body(rank, settings):
            return train(Quadratic(rank), settings, begin=START + numpy.float32(rank))

        self.fails(gv.RendezvousError, ["starting weights", "rank 1", "seed before"], body)

    def test_all_nodes_have_the_same_tensors(self):
        def body(rank, settings):
            node = gv.Node({"x": START[: 6 - rank]}, **settings)
            node.wanted()

        self.fails(gv.RendezvousError, ["rank 1"], body)

    def test_a_gradient_that_is_not_finite_ends_the_run(self):
        def body(rank, settings):
            node = gv.Node({"x": START}, **settings)
            for task in node:
                task.gradient[:] = numpy.inf if rank == 1 and task.round == 2 else 0
                node.deliver(1.0)

        self.fails(gv.DivergedError, ["rank 1", "round 2"], body)

    def test_a_body_that_raises_ends_the_run_for_all(self):
        def body(rank, settings):
            with gv.Node({"x": START}, **settings) as node:
                for task in node:
                    if rank == 1 and task.round == 2:
                        raise KeyError("no such batch")
                    task.gradient[:] = 0
                    node.deliver(1.0)

        with self.assertRaises((gv.GrapevineError, KeyError)) as caught:
            cluster.in_threads(2, body, topology="ring", rounds=5, on_failure="end")
        notes = " ".join(caught.exception.__notes__)
        self.assertIn("rank 1: KeyError", notes)
        self.assertIn("rank 0: InterruptedRunError", notes)
        self.assertIn("no such batch", str(caught.exception))

    def test_a_program_that_ends_early_says_so(self):
        program = (
            "import numpy, grapevine as gv\n"
            "node = gv.Node({'x': numpy.ones(2, numpy.float32)}, rounds=9, lr=0.1)\n"
            "node.wanted().gradient[:] = 0\n"
            "node.deliver()\n"
        )
        environment = {**os.environ, "PYTHONPATH": str(cluster.SOURCE / "python")}
        for end, words in (("", "left after 1 rounds"), ("raise KeyError('x')", "KeyError")):
            answer = subprocess.run(
                [sys.executable, "-c", program + end],
                env=environment,
                capture_output=True,
                text=True,
                timeout=cluster.DEADLINE_S,
                check=False,
            )
            self.assertIn(words, answer.stderr)
            self.assertEqual("left after" in answer.stderr, not end, answer.stderr)

    def test_a_process_that_was_forked_holds_up_no_end(self):
        node = gv.Node({"x": START}, rounds=1, lr=0.1)
        node.wanted().gradient[:] = 0
        read, write = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(write)
            os.read(read, 1)  # until the parent has seen the end
            os._exit(0)
        os.close(read)
        node.deliver()
        self.assertIsNone(node.wanted())
        os.close(write)
        os.waitpid(child, 0)

    def test_what_is_not_wanted_is_refused(self):
        node = gv.Node({"x": START}, rounds=2, lr=0.1)
        with self.assertRaises(gv.RunOverError):
            node.deliver(1.0)
        with self.assertRaises(gv.UsageError):
            for _ in node:
                pass  # delivers nothing
        task = node.wanted()
        with self.assertRaises(ValueError):
            task.replica[0] = 1
        node.leave_now("the test is over")
        with self.assertRaises(gv.RunOverError):
            node.wanted()

    def test_a_forked_process_leaves_the_run_alone(self):
        """As the workers of a data loader are, which end with their copies of everything."""
        node = gv.Node({"x": START}, rounds=2, lr=0.1)
        node.wanted()
        child = os.fork()
        if child == 0:
            try:
                node.wanted()
            except gv.UsageError:
                node.leave_now("the worker ends")
                del node
                os._exit(0)
            os._exit(1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)
        node.wanted().gradient[:] = 0
        node.deliver()
        node.wanted().gradient[:] = 0
        node.deliver()
        self.assertIsNone(node.wanted())

    def test_waits_no_longer_than_asked(self):
        node = gv.Node(
            {"x": START},
            rank=0,
            world_size=2,
            master_addr="127.0.0.1",
            master_port=cluster.free_port(),
            topology="ring",
            rounds=2,
        )
        with self.assertRaises(TimeoutError):
            node.wanted(timeout=0.3)
        node.leave_now("the test is over")

    def test_a_library_that_is_not_there_is_named(self):
        answer = subprocess.run(
            [sys.executable, "-c", "import grapevine; grapevine.version()"],
            env={"PYTHONPATH": str(cluster.SOURCE / "python"), "LIBGRAPEVINE": "/no/such.so"},
            capture_output=True,
            text=True,
            check=False,
        )
        self.assertIn("LIBGRAPEVINE", answer.stderr)
        self.assertIn("/no/such.so", answer.stderr)

    def test_a_library_in_a_folder_above_is_not_the_packages(self):
        """Whoever can write to such a folder could have this process run anything."""
        name = "libgrapevine.so.1"
        places = {  # of the package, and whether the library beside it is its own
            "lib/grapevine/python": ("lib/grapevine", True),
            "lib/python3/dist-packages": ("lib/grapevine", True),
            "site": ("site/grapevine", True),
            "home/site": ("", False),
            "home/python": ("", False),
            "home/lib/grapevine/other": ("home/lib/grapevine", False),
            "clone/python": ("clone/bazel-bin/capi", False),
        }
        for package, (library, own) in places.items():
            with self.subTest(package), tempfile.TemporaryDirectory() as root:
                root = pathlib.Path(root)
                shutil.copytree(
                    cluster.SOURCE / "python" / "grapevine", root / package / "grapevine"
                )
                (root / library).mkdir(parents=True, exist_ok=True)
                (root / library / name).touch()
                (root / library / "libgrapevine.so").touch()
                expected = str(root / library / name) if own else name
                self.assertEqual(self.path_of_library(root / package), expected)
        with tempfile.TemporaryDirectory() as root:
            root = pathlib.Path(root)
            shutil.copytree(cluster.SOURCE / "python", root / "python")
            (root / "WORKSPACE").touch()
            (root / "bazel-bin" / "capi").mkdir(parents=True)
            built = root / "bazel-bin" / "capi" / "libgrapevine.so"
            built.touch()
            self.assertEqual(self.path_of_library(root / "python"), str(built))
            root.chmod(0o777)  # others could have put it there
            self.assertEqual(self.path_of_library(root / "python"), name)

    def path_of_library(self, packages):
        code = "import grapevine._library as library; print(library._path())"
        return subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONPATH": str(packages)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()

    def test_what_is_kept_of_a_task_outlives_its_node(self):
        start = numpy.arange(1 << 20, dtype=numpy.float32)  # memory that is unmapped when it is freed
        node = gv.Node({"x": start}, rank=0, world_size=1, topology="ring", rounds=2)
        task = node.wanted()
        replica, gradient = task.replica, task.gradient
        node.leave_now("the test is over")
        for kept in (task.replica, replica):
            self.assertTrue(numpy.array_equal(kept, start))
        gradient[:] = 1
        task.gradient[:] = 2
        self.assertEqual(gradient[-1], 1)


FOREVER = "1000000000"


class ProcessTest(unittest.TestCase):
    """Nodes that die or are interrupted: none of the others hangs."""

    def test_survivors_name_the_dead(self):
        with cluster.as_processes(3, "steps.py", "end", FOREVER) as processes:
            for process in processes:
                self.assertIn("stepped", process.stdout.readline())
            processes[2].send_signal(signal.SIGKILL)
            for rank in (0, 1):
                text, code = cluster.output(processes[rank])
                self.assertEqual(code, 1, text)
                self.assertIn("PeerLostError", text)
                self.assertIn("rank 2", text)

    def test_survivors_go_on(self):
        with cluster.as_processes(4, "steps.py", "shrink", "2000") as processes:
            for process in processes:
                self.assertIn("stepped", process.stdout.readline())
            processes[3].send_signal(signal.SIGKILL)
            for rank in range(3):
                text, code = cluster.output(processes[rank])
                self.assertEqual(code, 0, text)
                self.assertIn("done", text)

    def test_another_takes_the_place_of_the_dead(self):
        with tempfile.TemporaryDirectory() as folder:
            place = {
                "GRAPEVINE_COORDINATOR": f"file:{folder}/coordinator",
                "GRAPEVINE_BIND": "127.0.0.1",
            }
            with cluster.as_processes(3, "steps.py", "shrink", FOREVER, **place) as processes:
                for process in processes:
                    self.assertIn("stepped", process.stdout.readline())
                processes[2].send_signal(signal.SIGKILL)
                joins = {"RANK": "2", "WORLD_SIZE": "3", "GRAPEVINE_JOIN": "true", **place}
                with cluster.process("steps.py", "shrink", FOREVER, **joins) as newcomer:
                    self.assertIn("stepped", newcomer.stdout.readline())
                self.assertIsNone(processes[0].poll())

    def test_ctrl_c_ends_all(self):
        with cluster.as_processes(3, "steps.py", "end", FOREVER) as processes:
            for process in processes:
                self.assertIn("stepped", process.stdout.readline())
            processes[1].send_signal(signal.SIGINT)
            text, code = cluster.output(processes[1])
            self.assertIn("KeyboardInterrupt", text)
            self.assertEqual(code, -signal.SIGINT, text)
            for rank in (0, 2):
                text, code = cluster.output(processes[rank])
                self.assertEqual(code, 1, text)
                self.assertIn("InterruptedRunError", text)
                self.assertIn("rank 1", text)


class ResultsTest(unittest.TestCase):
    def test_topology(self):
        found = gv.topology("ring", 8)
        self.assertEqual(found["edges"].shape, (8, 2))
        self.assertAlmostEqual(found["rho"], (1 + 2 * math.cos(math.pi / 4)) / 3)
        self.assertAlmostEqual(max(abs(found["eigenvalues"])), 1)
        with self.assertRaises(gv.UsageError):
            gv.topology("ring", 8, mixing="none")

    def test_simulate(self):
        found = gv.simulate(
            nodes=numpy.int64(8), topology="ring", model="phantom:1MB", compute="5ms", rounds=20
        )
        self.assertEqual(found["rounds"], 20)
        self.assertGreater(found["simulated_time_s"], 0.1)
        with self.assertRaises(gv.UsageError):
            gv.simulate(nodes=0)

    def test_read_run_says_what_is_missing(self):
        with tempfile.TemporaryDirectory() as folder, self.assertRaises(gv.InputError) as caught:
            gv.read_run(folder)
        self.assertIn("config.textproto", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
