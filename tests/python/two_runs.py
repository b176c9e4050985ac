"""A program with two optimizers at once, as for a GAN, and a third one once these are done."""

import sys

import cluster  # noqa: F401
import optimizer_test
import torch

import grapevine as gv

STEPS = 5


def optimizer(seed, run, out):
    model = optimizer_test.network(seed)
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    return model, gv.Optimizer(inner, run, model=model, topology="ring", out=out)


def train(pairs):
    for _, batch in zip(range(STEPS), optimizer_test.batches(run.rank)):
        for model, opt in pairs:
            opt.zero_grad()
            opt.step(loss=optimizer_test.backward(model, batch))
    for _, opt in pairs:
        opt.finish()


out = sys.argv[1]
run = gv.init()
train([optimizer(1, run, f"{out}/first"), optimizer(2, gv.init(), f"{out}/second")])
train([optimizer(3, run, f"{out}/third")])
print(f"rank {run.rank} is done", flush=True)
