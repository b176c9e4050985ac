"""Training steps in PyTorch, the peer of //bench:training_bench.

    torch_training.py [cpu|cuda [fp32|tf32|bf16|fp16 [BATCH [IMAGE]]]]

Reads lines "NETWORK STEPS" and answers each with the seconds that those steps
took: forward, backward and momentum SGD in channels_last; on the CPU with one
thread.
"""

import sys
import time

import torch
from torch.nn import functional as F

from torch_networks import NETWORKS

DEVICE, PRECISION, BATCH, IMAGE = (sys.argv[1:] + ["cpu", "fp32", "32", "64"][len(sys.argv) - 1 :])
HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(PRECISION)


class Trainer:
    def __init__(self, name):
        make, shape = NETWORKS[name]
        if name == "resnet50":
            shape = (3, int(IMAGE), int(IMAGE))
        self.network = make().to(device=DEVICE, memory_format=torch.channels_last)
        images = torch.randn(int(BATCH), *shape)
        self.images = images.contiguous(memory_format=torch.channels_last)
        self.labels = torch.randint(0, 10, (int(BATCH),))
        if DEVICE == "cuda":
            self.images, self.labels = self.images.pin_memory(), self.labels.pin_memory()
        self.optimizer = torch.optim.SGD(self.network.parameters(), lr=0.01, momentum=0.9)
        self.scaler = torch.cuda.amp.GradScaler(enabled=PRECISION == "fp16")

    # Like ours, a step begins with a batch in host memory.
    def loss(self):
        images = self.images.to(DEVICE, non_blocking=True)
        labels = self.labels.to(DEVICE, non_blocking=True)
        with torch.autocast(DEVICE, dtype=HALF, enabled=HALF is not None):
            return F.cross_entropy(self.network(images), labels)

    def step(self):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(self.loss()).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()


def synchronize():
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def main():
    torch.set_num_threads(1)
    torch.manual_seed(1)
    torch.set_flush_denormal(True)
    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = PRECISION != "fp32"
    torch.backends.cuda.matmul.allow_tf32 = PRECISION != "fp32"
    trainers = {}
    for line in sys.stdin:
        name, steps = line.split()
        if name not in trainers:
            trainers[name] = Trainer(name)
        synchronize()
        start = time.perf_counter()
        for _ in range(int(steps)):
            trainers[name].step()
        synchronize()
        print(time.perf_counter() - start, flush=True)


if __name__ == "__main__":
    main()
