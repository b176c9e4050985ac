"""A program as its users write it, for torchrun."""

import cluster  # noqa: F401
import optimizer_test
import torch

import grapevine as gv

run = gv.init()
model = optimizer_test.network()
optimizer = gv.Optimizer(
    torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
    run,
    model=model,
    algorithm="dpsgd",
    topology="one-peer-exponential",
)
for batch in optimizer_test.batches(run.rank):
    optimizer.zero_grad()
    optimizer.step(loss=optimizer_test.backward(model, batch))
print(f"rank {run.rank} of {run.size} is done", flush=True)
