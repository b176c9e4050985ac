#!/usr/bin/env python3
"""ResNet-20 on CIFAR-10 by gossip: a program of PyTorch, of which five lines are Grapevine's.

    torchrun --nproc_per_node=4 examples/pytorch_cifar.py --data=cifar-10-batches-bin --epochs=5

Each process has a share of the images and talks to its neighbours alone. --data is the folder of the
binary version, as many of its files as there are; without it the images are drawn. --topology=ring,
--algorithm=dpsgd, --batch=32, --lr=0.05, --out=DIR for the files of the run.
"""

import argparse
import pathlib

import numpy
import torch
from torch import nn
from torch.nn import functional

import grapevine as gv


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.first = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.norm1 = nn.BatchNorm2d(outputs)
        self.second = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.norm2 = nn.BatchNorm2d(outputs)
        self.stride, self.missing = stride, outputs - inputs

    def forward(self, x):
        y = functional.relu(self.norm1(self.first(x)))
        shortcut = x[:, :, :: self.stride, :: self.stride]
        shortcut = functional.pad(shortcut, (0, 0, 0, 0, 0, self.missing))
        return functional.relu(self.norm2(self.second(y)) + shortcut)


def resnet20():
    blocks = [
        Block(inputs if first else outputs, outputs, stride if first else 1)
        for inputs, outputs, stride in ((16, 16, 1), (16, 32, 2), (32, 64, 2))
        for first in (True, False, False)
    ]
    stem = [nn.Conv2d(3, 16, 3, 1, 1, bias=False), nn.BatchNorm2d(16), nn.ReLU()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 10))


def images_of(files):
    """Records of a label and 3 x 32 x 32 bytes."""
    records = [numpy.fromfile(file, numpy.uint8).reshape(-1, 3073) for file in files]
    records = torch.from_numpy(numpy.concatenate(records))
    pixels = records[:, 1:].reshape(-1, 3, 32, 32).float()
    return (pixels - 120) / 64, records[:, 0].long()


def drawn(count, seed):
    """Ten patterns and noise, where there are no data."""
    patterns = torch.randn(10, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    own = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, 10, (count,), generator=own)
    return patterns[labels] + torch.randn(count, 3, 32, 32, generator=own), labels


def load(folder):
    if folder is None:
        return drawn(2048, 1), drawn(512, 2)
    train = sorted(pathlib.Path(folder).glob("data_batch_*.bin"))
    if not train:
        raise SystemExit(f"{folder} has no data_batch_*.bin: it is not CIFAR-10's binary version")
    return images_of(train), images_of([pathlib.Path(folder) / "test_batch.bin"])


@torch.no_grad()
def accuracy(model, images, labels):
    model.eval()
    right = sum(
        (model(part).argmax(1) == own).sum().item()
        for part, own in zip(images.split(256), labels.split(256))
    )
    return right / len(labels)


def main():
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--data")
    parser.add_argument("--out")
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--topology", default="ring")
    parser.add_argument("--algorithm", default="dpsgd")
    given = parser.parse_args()

    run = gv.init(out=given.out)
    (images, labels), test = load(given.data)
    images, labels = images[run.rank :: run.size], labels[run.rank :: run.size]
    steps = -(-len(images) // given.batch) * given.epochs

    torch.manual_seed(1)  # the same weights everywhere
    model = resnet20()
    optimizer = gv.Optimizer(
        torch.optim.SGD(model.parameters(), lr=given.lr, momentum=0.9),
        run,
        model=model,
        topology=given.topology,
        algorithm=given.algorithm,
        batch=given.batch,
    )
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    shuffle = torch.Generator().manual_seed(run.rank)
    for epoch in range(given.epochs):
        order = torch.randperm(len(images), generator=shuffle)
        for batch in order.split(given.batch):
            optimizer.zero_grad()
            loss = functional.cross_entropy(model(images[batch]), labels[batch])
            loss.backward()
            optimizer.step(loss=loss)
            schedule.step()
        if run.rank == 0:
            print(f"epoch {epoch + 1}: loss {loss.item():.3f}", flush=True)
    optimizer.finish()

    average = resnet20()
    if optimizer.average(average) and run.rank == 0:  # all ranks have it
        print(
            f"averaged model: accuracy {accuracy(average, *test):.1%}, "
            f"nodes apart by {optimizer.consensus_distance():.3g}; "
            f"rank 0's own: {accuracy(model, *test):.1%}",
            flush=True,
        )


if __name__ == "__main__":
    main()
