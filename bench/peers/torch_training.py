"""Training steps in PyTorch, the peer of //bench:training_bench.

Reads lines "NETWORK STEPS" and answers each with the seconds that those steps
took: forward, backward and momentum SGD at batch 32, one thread, channels_last.
"""

import sys
import time

import torch
from torch.nn import functional as F

from torch_networks import NETWORKS

BATCH = 32


class Trainer:
    def __init__(self, name):
        make, shape = NETWORKS[name]
        self.network = make().to(memory_format=torch.channels_last)
        images = torch.randn(BATCH, *shape)
        self.images = images.contiguous(memory_format=torch.channels_last)
        self.labels = torch.randint(0, 10, (BATCH,))
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01, momentum=0.9)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        F.cross_entropy(self.network(self.images), self.labels).backward()
        self.optimizer.step()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    trainers = {}
    for line in sys.stdin:
        name, steps = line.split()
        if name not in trainers:
            trainers[name] = Trainer(name)
        start = time.perf_counter()
        for _ in range(int(steps)):
            trainers[name].step()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
