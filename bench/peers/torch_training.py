"""Training steps in PyTorch, the peer of //bench:training_bench.

Reads lines "NETWORK STEPS" and answers each with the seconds that those steps
took: forward, backward and momentum SGD at batch 32, one thread, channels_last.
"""

import sys
import time

import torch
from torch import nn
from torch.nn import functional as F

BATCH = 32


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.stride = stride
        self.padding = outputs - inputs

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = self.bn2(self.conv2(y))
        if self.stride > 1:
            x = F.pad(x[:, :, :: self.stride, :: self.stride], (0, 0, 0, 0, 0, self.padding))
        return F.relu(y + x)


class ResNet20(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        self.layer1 = nn.Sequential(Block(16, 16, 1), Block(16, 16, 1), Block(16, 16, 1))
        self.layer2 = nn.Sequential(Block(16, 32, 2), Block(32, 32, 1), Block(32, 32, 1))
        self.layer3 = nn.Sequential(Block(32, 64, 2), Block(64, 64, 1), Block(64, 64, 1))
        self.fc = nn.Linear(64, 10)

    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return self.fc(x.mean((2, 3)))


class LeNet5(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 5, padding=2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(784, 256)
        self.fc2 = nn.Linear(256, 128)
        self.fc3 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(F.relu(self.fc2(x)))


class Softmax(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(784, 10)

    def forward(self, x):
        return self.fc(torch.flatten(x, 1))


NETWORKS = {
    "softmax": (Softmax, (1, 28, 28)),
    "mlp": (Mlp, (1, 28, 28)),
    "lenet5": (LeNet5, (1, 28, 28)),
    "resnet20": (ResNet20, (3, 32, 32)),
}


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
