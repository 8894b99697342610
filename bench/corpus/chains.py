"""Long definitions: layers in a chain, cuts of the user, costly ops, and graphs drawn at random."""

import random

from corpus.norms import rms
from corpus.writer import FLOAT, Raw


def pointwise(fd, count):
    """A chain of cheap ops."""
    x = fd.tensor([4096, 1024], FLOAT)
    for number in range(count):
        x = x * 0.5 + float(number % 7) if number % 2 else fd.ops.abs(x)
    fd.output(x)


def pointwise_300(fd):
    "A chain of some 450 elementwise ops."
    pointwise(fd, 300)


def pointwise_1000(fd):
    "A chain of some 1,500 elementwise ops."
    pointwise(fd, 1000)


def rms_layers(fd, count):
    """Layers of RMS norm and SiLU with a cut of the user and a residual."""
    x = fd.tensor([2048, 1024])
    for _ in range(count):
        weight = fd.f32(fd.tensor([1024]))
        inner = fd.ops.silu(rms(fd, fd.f32(x), 1)[0] * fd.along(weight, 2, 1))
        x = fd.bf16(fd.f32(fd.ops.segment_set(fd.bf16(inner))) + fd.f32(x))
    fd.output(x)


def rms_layers_30(fd):
    "Thirty layers, each cut by the user."
    rms_layers(fd, 30)


def rms_layers_160(fd):
    "A hundred and sixty layers, each cut by the user."
    rms_layers(fd, 160)


def segment_set_full(fd):
    "A constant tensor on both sides of a cut of the user: two readers of the tensor that is kept."
    x = fd.tensor([8192, 2048], FLOAT, static=(0, 1))
    full = fd.ops.full([8192, 2048], 1.5, dtype=Raw(FLOAT))
    kept = fd.ops.segment_set(x + full)
    fd.output(kept * full)
    fd.output(fd.ops.sum(kept + full, dims=[1]))


def costly_chain(fd):
    "Thirty costly ops, whose result two segments use: it is better kept than computed twice."
    x = fd.tensor([4096, 2048], FLOAT)
    for number in range(15):
        x = fd.ops.erf(fd.ops.lgamma(fd.ops.abs(x) + 1.5))
    fd.output(fd.ops.sum(x, dims=[1]))
    fd.output(fd.ops.segment_set(fd.ops.sum(x, dims=[0])) + 1.0)


def shared_inputs(fd):
    "Six independent results of the same three tensors."
    a, b, c = (fd.tensor([8192, 2048], FLOAT) for _ in range(3))
    fd.output(a * b + c)
    fd.output(fd.ops.sum(a * c, dims=[1]))
    fd.output(fd.ops.sum(b * c, dims=[0]))
    fd.output(fd.ops.max(a, dims=[1]))
    fd.output(fd.ops.exp(-(b * b)))
    fd.output(fd.ops.mean(fd.ops.abs(a - b), dims=[0, 1]))


def reduction_chain(fd):
    "Fifty means of rows, each taken off the row."
    x = fd.tensor([4096, 1024], FLOAT)
    for _ in range(50):
        x = x - fd.ops.mean(x, dims=[1], keepdim=True)
    fd.output(x)


def mixed(fd, count, seed):
    """A random graph over recent values of a few tensors; one op in 25 is a fold that is broadcast back, three in four of
    those along rows."""
    draw = random.Random(seed)
    recent = [fd.f32(fd.tensor([1024, 1024])) for _ in range(4)]
    unary = ["neg", "abs", "tanh", "sigmoid", "relu", "sin"]
    for _ in range(count):
        x = draw.choice(recent)
        if draw.random() < 1 / 25:
            axis = 1 if draw.random() < 0.75 else 0
            x = x - fd.ops.mean(x, dims=[axis], keepdim=True)
        elif draw.random() < 0.4:
            x = getattr(fd.ops, draw.choice(unary))(x)
        else:
            x = getattr(fd.ops, draw.choice(["add", "sub", "mul", "maximum"]))(x, draw.choice(recent))
        recent = (recent + [x])[-8:]
    for x in recent[-3:]:
        fd.output(fd.bf16(x))


def mixed_200(fd):
    "A random graph of some 200 ops."
    mixed(fd, 200, 2)


def mixed_1000(fd):
    "A random graph of some 1,000 ops."
    mixed(fd, 1000, 2)


def mixed_10000(fd):
    "A random graph of some 10,000 ops."
    mixed(fd, 10000, 3)


GRAPHS = [
    pointwise_300, pointwise_1000, rms_layers_30, rms_layers_160, segment_set_full, costly_chain, shared_inputs,
    reduction_chain, mixed_200, mixed_1000, mixed_10000,
]
