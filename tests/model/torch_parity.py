"""PyTorch's answers for //tests/model:torch_parity_test.

    torch_parity.py FOLDER NETWORK...

Reads FOLDER/NETWORK.{layout,replica,images,labels}: lines "NAME EXTENT...",
fp32, fp32 (n, h, w, c) and int32. Writes FOLDER/NETWORK.gradient in the
replica's order, the batch's statistics in the place of running ones, and
FOLDER/NETWORK.loss with the losses in training and in evaluation mode, fp64.
Exits with 77 where there is no PyTorch.
"""

import os
import sys

try:
    import numpy
    import torch
except ImportError:
    sys.exit(77)
from torch.nn import functional as F

LABEL_SMOOTHING = 0.1


def read_layout(path):
    with open(path) as lines:
        fields = [line.split() for line in lines]
    return [(name, [int(extent) for extent in shape]) for name, *shape in fields]


def load(network, layout, replica):
    state = network.state_dict()
    named = {name for name in state if not name.endswith("num_batches_tracked")}
    assert named == {name for name, _ in layout}, "other tensors: %s" % (
        named ^ {name for name, _ in layout})
    offset = 0
    for name, shape in layout:
        assert list(state[name].shape) == shape, name
        size = state[name].numel()
        state[name] = replica[offset : offset + size].reshape(shape)
        offset += size
    assert offset == len(replica)
    network.load_state_dict(state)


def evaluate(network, images, labels):
    network.eval()
    with torch.no_grad():
        return F.cross_entropy(network(images), labels).item()


def train(network, images, labels):
    """The loss; leaves gradients, and the batch's statistics as running ones."""
    for module in network.modules():
        if isinstance(module, torch.nn.BatchNorm2d):
            module.momentum = 1.0
    network.train()
    loss = F.cross_entropy(network(images), labels, label_smoothing=LABEL_SMOOTHING)
    loss.backward()
    return loss.item()


def answer(folder, name):
    from torch_networks import NETWORKS

    make, (channels, height, width) = NETWORKS[name]
    base = os.path.join(folder, name)
    read = lambda suffix, kind: torch.from_numpy(numpy.fromfile(base + suffix, kind))
    layout = read_layout(base + ".layout")
    images = read(".images", numpy.float32).reshape(-1, height, width, channels)
    images = images.permute(0, 3, 1, 2).double()
    labels = read(".labels", numpy.int32).long()
    network = make().double()
    load(network, layout, read(".replica", numpy.float32).double())
    losses = [evaluate(network, images, labels), train(network, images, labels)]
    parameters = dict(network.named_parameters())
    buffers = dict(network.named_buffers())
    gradient = [parameters[n].grad if n in parameters else buffers[n] for n, _ in layout]
    flat = torch.cat([g.reshape(-1) for g in gradient])
    flat.float().numpy().tofile(base + ".gradient")
    numpy.array(losses, numpy.float64).tofile(base + ".loss")


def main():
    sys.path.insert(0, os.path.join("bench", "peers"))
    torch.set_num_threads(1)
    for name in sys.argv[2:]:
        answer(sys.argv[1], name)


if __name__ == "__main__":
    main()
