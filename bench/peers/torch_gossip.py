#!/usr/bin/env python3
"""A step of ResNet-20 in PyTorch with Grapevine, and beside it what it is made of and its peer.

    OMP_NUM_THREADS=1 LIBGRAPEVINE=bazel-bin/capi/libgrapevine.so python3 -m torch.distributed.run \\
        --standalone --nproc_per_node=4 --redirects=9:1 --tee=9:1 bench/peers/torch_gossip.py

The processes take turns, a few steps of each kind at a time, so that all see the same machine:

    compute    forward, backward and SGD at all processes, without any communication
    exchange   Grapevine's steps without a gradient: the replicas alone
    grapevine  gv.Optimizer, D-PSGD on a ring
    ddp        DistributedDataParallel over gloo

Rank 0 prints the median over all steps of the slowest process's time, in milliseconds, the ratios
grapevine / max(compute, exchange) and ddp / grapevine, and seconds of processor time a step over
all processes. --steps=N of each kind (200), --batch=B (32), --network=resnet20.
"""

import argparse
import pathlib
import statistics
import sys
import time

import torch
import torch.distributed as dist

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent.parent / "python")]
import torch_networks

import grapevine as gv

TURN = 10  # steps


def network(name):
    torch.manual_seed(1)
    make, image = torch_networks.NETWORKS[name]
    return make().to(memory_format=torch.channels_last), image


def sgd(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def stepping(model, optimizer, batch, labels):
    """One step of a program as its users write it."""

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()

    return step


def exchanging(model, settings):
    parameters = {name: p.detach().numpy() for name, p in model.named_parameters()}
    node = gv.Node(parameters, **gv.init().settings, **settings)

    def step():
        node.wanted().gradient[:] = 0
        node.deliver()

    return step


def timed(step, count):
    """Seconds of the clock for each of so many steps, and of this process's processors in all."""
    times = []
    before = time.process_time()
    for _ in range(count):
        begin = time.perf_counter()
        step()
        times.append(time.perf_counter() - begin)
    return times, time.process_time() - before


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--network", default="resnet20")
    given = parser.parse_args()

    dist.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.set_flush_denormal(True)
    model, image = network(given.network)
    batch = torch.randn(given.batch, *image).to(memory_format=torch.channels_last)
    labels = torch.randint(0, 10, (given.batch,))
    settings = {"topology": "ring", "rounds": given.steps + TURN, "batch": given.batch}
    run = gv.init()
    own = network(given.network)[0]
    gossip = gv.Optimizer(sgd(own), run, model=own, **settings)
    peer = torch.nn.parallel.DistributedDataParallel(network(given.network)[0])
    kinds = {
        "compute": stepping(model, sgd(model), batch, labels),
        "exchange": exchanging(network(given.network)[0], settings),
        "grapevine": stepping(own, gossip, batch, labels),
        "ddp": stepping(peer, sgd(peer), batch, labels),
    }
    clock = {kind: [] for kind in kinds}
    processors = dict.fromkeys(kinds, 0.0)
    for turn in range(given.steps // TURN + 1):
        for kind, step in kinds.items():
            dist.barrier()
            times, busy = timed(step, TURN)
            if turn == 0:
                continue  # plans, caches, connections
            slowest = torch.tensor(times, dtype=torch.float64)
            dist.all_reduce(slowest, dist.ReduceOp.MAX)
            clock[kind] += slowest.tolist()
            processors[kind] += busy
    together = torch.tensor(list(processors.values()), dtype=torch.float64)
    dist.all_reduce(together)
    if run.rank == 0:
        report(clock, dict(zip(kinds, together.tolist())))
    dist.barrier()


def report(clock, processors):
    median = {kind: statistics.median(times) for kind, times in clock.items()}
    for kind, times in clock.items():
        print(
            f"{kind:10} {median[kind] * 1e3:8.2f} ms   "
            f"{processors[kind] / len(times) * 1e3:8.2f} ms of processors"
        )
    floor = max(median["compute"], median["exchange"])
    print(f"grapevine / max(compute, exchange)  {median['grapevine'] / floor:.3f}")
    print(f"ddp / grapevine                     {median['ddp'] / median['grapevine']:.3f}", flush=True)


if __name__ == "__main__":
    main()
