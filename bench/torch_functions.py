"""Functions of torch through torch.compile beside Inductor and eager: what is slower than either stands last.

    python bench/torch_functions.py [NAME…] [--dtype bfloat16] [--dynamic] [--forward]

A step is forward and backward, or the forward alone. Contenders take turns; the smallest time of three rounds of five
steps counts, in ms. Names are parts of those below; none means all.
"""

import argparse
import time

import torch
import torch.nn.functional as F

import ferrofuse.torch  # noqa: F401


def rope(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat([-x[..., half:], x[..., :half]], -1) * sin


def interleaved_rope(x, cos, sin):
    even, odd = x[..., ::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], -1).flatten(-2)


def lstm_cell(gates, cell):
    i, f, o, z = gates.chunk(4, -1)
    return torch.sigmoid(o) * torch.tanh(torch.sigmoid(f) * cell + torch.sigmoid(i) * torch.tanh(z))


def standardised(x):
    return (x - x.mean(0)) / x.std(0)


def distances(a, b):
    return (a[:, None] - b).square().sum(-1)


IMAGES = (16, 64, 56, 56)
WORDS = torch.randint(0, 30000, (4096,))
LABELS = torch.randint(0, 8192, (1024,))
# A function, and the shapes of its tensors.
FUNCTIONS = {
    "relu": (torch.relu, (4096, 2048)),
    "where": (lambda x, y: torch.where(x > 0, x, y), (4096, 2048), (4096, 2048)),
    "transposed": (lambda x: x.T.contiguous(), (4096, 2048)),
    "permuted_add": (lambda x, y: x.mT + y, (64, 256, 256), (64, 256, 256)),
    "pad": (lambda x: F.pad(x, (1, 1, 1, 1)) * 2, IMAGES),
    "layer_norm": (lambda x, w, b: F.layer_norm(x, (768,), w, b), (4096, 768), (768,), (768,)),
    "layer_norm_16": (lambda x, w: F.layer_norm(x, (16,), w), (131072, 16), (16,)),
    "softmax": (lambda x: x.softmax(-1), (24576, 256)),
    "softmax_8": (lambda x: x.softmax(-1), (262144, 8)),
    "norm_3": (lambda x: x / (x.square().sum(-1, keepdim=True).sqrt() + 1e-6), (1 << 20, 3)),
    "group_norm": (lambda x, w, b: F.silu(F.group_norm(x, 8, w, b)), IMAGES, (64,), (64,)),
    "batch_norm": (lambda x, w, b: F.relu(F.batch_norm(x, None, None, w, b, True)), IMAGES, (64,), (64,)),
    "cross_entropy": (lambda x: F.cross_entropy(x, LABELS), (1024, 8192)),
    "gelu": (F.gelu, (4096, 3072)),
    "swiglu": (lambda x, y: F.silu(x) * y, (4096, 2048), (4096, 2048)),
    "rope": (rope, (4, 12, 512, 64), (512, 64), (512, 64)),
    "interleaved_rope": (interleaved_rope, (4, 12, 512, 64), (512, 32), (512, 32)),
    "lstm_cell": (lstm_cell, (4096, 2048), (4096, 512)),
    "upsampled": (lambda x: F.interpolate(x, scale_factor=2, mode="nearest") * 2, (8, 32, 56, 56)),
    "looked_up": (lambda table: table[WORDS] * 8, (30000, 512)),
    "standardised": (standardised, (262144, 16)),
    "distances": (distances, (1024, 16), (1024, 16)),
    "cumsum": (lambda x: x.cumsum(1) * 2, (4096, 1024)),
}


def stepper(function, tensors, forward):
    """A step: the forward, and the gradients of what comes of it."""
    if forward:
        return lambda: function(*tensors)
    gradient = torch.randn_like(function(*tensors))
    return lambda: torch.autograd.grad(function(*tensors), tensors, gradient)


def seconds(step, steps=5):
    """The smallest time of a few steps."""
    smallest = float("inf")
    for _ in range(steps):
        begin = time.perf_counter()
        step()
        smallest = min(smallest, time.perf_counter() - begin)
    return smallest


def measured(function, shapes, arguments):
    """Seconds of ferrofuse, Inductor and eager."""
    torch._dynamo.reset()
    dtype = getattr(torch, arguments.dtype)
    tensors = [torch.randn(shape).to(dtype).requires_grad_(not arguments.forward) for shape in shapes]
    dynamic = arguments.dynamic or None
    compiled = [torch.compile(function, backend=backend, dynamic=dynamic) for backend in ("ferrofuse", "inductor")]
    steps = [stepper(each, tensors, arguments.forward) for each in (*compiled, function)]
    for step in steps:
        step()
    rounds = [[seconds(step) for step in steps] for _ in range(3)]
    return [min(times) for times in zip(*rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=[""])
    parser.add_argument("--dtype", default="float32")
    parser.add_argument("--dynamic", action="store_true")
    parser.add_argument("--forward", action="store_true")
    arguments = parser.parse_args()
    chosen = {name: row for name, row in FUNCTIONS.items() if any(part in name for part in arguments.names)}
    rows = []
    for name, (function, *shapes) in chosen.items():
        ours, inductor, eager = measured(function, shapes, arguments)
        rows.append((min(inductor, eager) / ours, name, eager * 1e3, inductor * 1e3, ours * 1e3))
    print(f"{'function':<20}{'eager':>9}{'inductor':>10}{'ferrofuse':>11}{'best/ours':>11}")
    for ratio, name, *times in sorted(rows, reverse=True):
        print(f"{name:<20}{times[0]:9.3f}{times[1]:10.3f}{times[2]:11.3f}{ratio:11.2f}")


if __name__ == "__main__":
    main()
