"""The backend of torch.compile beside eager and Inductor: training steps of models.

    torch_backend.py [MODEL…] [--rounds N] [--threads N] [--layers N] [--first]

Models are three written here (gpt, mlp, convolutions) and those of `transformers` and `timm` that
`python/tests/torch/real_models.py` lists; without names the three. `timm/NAME/SIZE` is any image model of `timm`, on
two images of that size. All run in one process, in rounds: each contender takes a step a round, the first another one
each time. Times are medians of rounds in ms; `first` is the time to the first step, Dynamo's and AOTAutograd's part
included, in s. Of ferrofuse also how many regions there are, and how many of the ops are fused that are neither views
nor a library's.

With `--first` only first steps are taken, from empty caches: with what tracing alone takes (the backend
`aot_eager_decomp_partition`, which compiles nothing), and how much longer Inductor and ferrofuse take.
"""

import argparse
import copy
import os
import pathlib
import statistics
import sys
import tempfile
import time

import ferrofuse.torch
import torch
import torch.nn.functional as F
from torch import nn

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "python" / "tests" / "torch"))

from compiled_models import Gpt  # noqa: E402

CONTENDERS = ("eager", "inductor", "ferrofuse")
TRACED = "aot_eager_decomp_partition"


class Mlp(nn.Module):
    """RMSNorm and SwiGLU, a residual around them, four times."""

    def __init__(self, width=512):
        super().__init__()
        self.norms = nn.ModuleList([nn.RMSNorm(width) for _ in range(4)])
        self.gates, self.ups, self.downs = (
            nn.ModuleList([nn.Linear(*sizes, bias=False) for _ in range(4)])
            for sizes in ((width, 2 * width), (width, 2 * width), (2 * width, width))
        )

    def forward(self, x):
        for norm, gate, up, down in zip(self.norms, self.gates, self.ups, self.downs):
            y = norm(x)
            x = x + down(F.silu(gate(y)) * up(y))
        return x.square().mean()


class Convolutions(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        layers = [(3, width), (width, width), (width, width)]
        self.layers = nn.Sequential(
            *(nn.Sequential(nn.Conv2d(*sizes, 3), nn.BatchNorm2d(width), nn.ReLU()) for sizes in layers)
        )

    def forward(self, x):
        return self.layers(x).square().mean()


class OfImages(nn.Module):
    """A model of `timm`, without dropout."""

    def __init__(self, architecture):
        super().__init__()
        import timm

        self.model = timm.create_model(architecture, pretrained=False, drop_rate=0.0)

    def forward(self, x):
        return self.model(x).square().mean()


def text(batch, length):
    tokens = torch.randint(0, 1000, (batch, length + 1))
    return tokens[:, :-1].contiguous(), tokens[:, 1:].contiguous()


def model_of(name, layers):
    """A model, and positional and keyword inputs of a step."""
    if name == "gpt":
        return Gpt(layers, width=512, heads=8, vocabulary=1000, length=256), text(2, 256), {}
    if name == "mlp":
        return Mlp(), (torch.randn(1024, 512),), {}
    if name == "convolutions":
        return Convolutions(), (torch.randn(4, 3, 112, 112),), {}
    if name.startswith("timm/"):
        _, architecture, size = name.split("/")
        return OfImages(architecture), (torch.randn(2, 3, int(size), int(size)),), {}
    import real_models

    model, inputs = real_models.made(name, layers)
    return model, (), inputs


class Contender:
    """A copy of a model, compiled in one way, with the optimizer's step."""

    def __init__(self, backend, model, inputs, named):
        compiled = (lambda f: f) if backend == "eager" else lambda f: torch.compile(f, backend=backend)
        self.model, self.times = copy.deepcopy(model), []
        self.optimizer = torch.optim.AdamW(self.model.parameters())
        forward, self.update = compiled(self.model), compiled(self.optimizer.step)
        self.forward = lambda: forward(*inputs, **named)
        self.first = self.seconds()

    def seconds(self):
        start = time.perf_counter()
        self.optimizer.zero_grad()
        self.loss = self.forward()
        self.loss.backward()
        self.update()
        self.loss = self.loss.item()
        return time.perf_counter() - start


def measure(name, arguments):
    """A line of the table."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model, inputs, named = model_of(name, arguments.layers)
    contenders = {backend: Contender(backend, model, inputs, named) for backend in CONTENDERS}
    order = list(contenders.values())
    for _ in range(arguments.rounds):
        for contender in order:
            contender.times.append(contender.seconds())
        order.append(order.pop(0))
    for contender in order:
        assert abs(contender.loss - contenders["eager"].loss) <= 1e-3 * abs(contenders["eager"].loss), name
    torch._dynamo.reset()
    report = ferrofuse.torch.explain(copy.deepcopy(model), *inputs, **named)
    fused, all_ops = report.counts()
    times = [f"{statistics.median(contenders[key].times) * 1e3:.1f}" for key in CONTENDERS]
    firsts = [f"{contenders[key].first:.1f}" for key in CONTENDERS[1:]]
    return [name, *times, *firsts, str(sum(len(graph.regions) for graph in report.graphs)), f"{fused} of {all_ops}"]


def first_steps(name, arguments):
    """A line of the table of first steps: tracing, Inductor and ferrofuse in s, then those two without tracing, and the
    ratio of these.
    """
    torch.manual_seed(0)
    model, inputs, named = model_of(name, arguments.layers)
    firsts = {}
    for backend in (TRACED, TRACED, "inductor", "ferrofuse"):  # tracing twice: the first time imports what it needs
        torch._dynamo.reset()
        firsts[backend] = Contender(backend, model, inputs, named).first
    traced, inductor, ferrofuse = firsts.values()
    own = [seconds - traced for seconds in (inductor, ferrofuse)]
    times = [f"{seconds:.1f}" for seconds in (traced, inductor, ferrofuse, *own)]
    return [name, *times, f"{own[1] / own[0]:.2f}"]


def without_caches():
    """Has compilers find empty caches, and what they import once be there."""
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["FERROFUSE_CACHE"] = tempfile.mkdtemp()
    for backend in (TRACED, "inductor", "ferrofuse"):
        torch.compile(lambda x: (x + 1).sin(), backend=backend)(torch.ones(3))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=["gpt", "mlp", "convolutions"])
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--first", action="store_true")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    if arguments.first:
        without_caches()
        print("| model | traced | Inductor | ferrofuse | Inductor's own | ferrofuse's own | ratio |")
        print("|---|---|---|---|---|---|---|")
        for name in arguments.models:
            print(f"| {' | '.join(first_steps(name, arguments))} |", flush=True)
        return
    print("| model | eager | Inductor | ferrofuse | first, Inductor | first, ferrofuse | regions | fused |")
    print("|---|---|---|---|---|---|---|---|")
    for name in arguments.models:
        print(f"| {' | '.join(measure(name, arguments))} |", flush=True)


if __name__ == "__main__":
    main()
