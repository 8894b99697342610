"""Checks `torch.compile(…, backend="ferrofuse")` on a GPU beside eager, and times a training step beside Inductor's.

    gpu_torch.py [--seconds 58] [--quick] [NAME…]

A line for each check, with what was fused, then the small models of the tests, then "timings" (medians of whole steps,
waited for; not with --quick); or those named. Ends with 1 if one failed, and at the latest after so many seconds: what
is not done by then is said.
"""

import argparse
import importlib
import os
import pathlib
import statistics
import sys
import threading
import time
import traceback
import warnings

import torch
import torch.nn.functional as F
from torch import nn

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path += [str(FOLDER), str(FOLDER.parent / "python/tests/torch")]  # in a bundle, in the repository

import compiled_models  # noqa: E402
import ferrofuse.torch  # noqa: E402
from ferrofuse.torch import compiler  # noqa: E402

BACKEND = importlib.import_module("ferrofuse.torch.backend")
OURS = BACKEND.backend  # by its name it is found where the package is installed
BEGIN = time.monotonic()
CHECKS = []
BOUNDS = {torch.float32: 2e-4, torch.bfloat16: 3e-2}


def check(function):
    CHECKS.append(function)
    return function


class Reports:
    """What the backend compiled in a block."""

    def __enter__(self):
        self.graphs, self._before = [], compiler.compile_graph

        def heard(module, options, report):
            self.graphs.append(report)
            return self._before(module, options, report)

        BACKEND.compile_graph = heard
        return self

    def __exit__(self, *_):
        BACKEND.compile_graph = self._before

    def __str__(self):
        regions = [region for graph in self.graphs for region in graph.regions]
        fused = sum(region.ops for region in regions)
        left = {}
        for graph in self.graphs:
            for (op, why), count in graph.eager.items():
                if why not in ferrofuse.torch.rows.library.KINDS.values():
                    left[f"{op} ({why})"] = left.get(f"{op} ({why})", 0) + count
        told = ", ".join(f"{count} {what}" for what, count in left.items()) or "nothing that could be fused"
        return f"{len(regions)} regions of {fused} ops, left to eager: {told}"

    def require_gpu(self):
        places = {region.device for graph in self.graphs for region in graph.regions}
        assert "cuda:0" in places, f"no region on the GPU: {self}"


def mlp():
    return nn.Sequential(nn.Linear(64, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 10))


def mlp_batch(rows=128):
    return torch.randn(rows, 64, device="cuda"), torch.randint(0, 10, (rows,), device="cuda")


def loss_of(model, x, target):
    return F.cross_entropy(model(x), target)


def gpt(**sizes):
    return compiled_models.Gpt(layers=2, **sizes)


def gpt_batch(length=64, vocabulary=50):
    text = torch.randint(0, vocabulary, (4, length + 1), device="cuda")
    return text[:, :-1].contiguous(), text[:, 1:].contiguous()


def trained(make, batches, loss, backend, steps=5, autocast=None):
    """Losses of a few steps of AdamW, both compiled by a backend."""
    torch.manual_seed(0)
    model = make().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    forward = torch.compile(lambda *batch: loss(model, *batch), backend=backend)
    update = torch.compile(optimizer.step, backend=backend)
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        with torch.autocast("cuda", autocast, enabled=autocast is not None):
            value = forward(*batches[step % len(batches)])
        value.backward()
        update()
        losses.append(value.item())
    return losses


def same_training(make, batches, loss, bound, **options):
    torch._dynamo.reset()
    right = trained(make, batches, loss, "eager", **options)
    torch._dynamo.reset()
    with Reports() as reports:
        ours = trained(make, batches, loss, OURS, **options)
    off = max(abs(a - b) / abs(b) for a, b in zip(ours, right))
    assert off < bound, f"losses are off by {off:.1e}: {ours}, eager's {right}"
    reports.require_gpu()
    return f"losses within {off:.1e}; {reports}"


def direct(model, *batch):
    return model(*batch)


@check
def the_backend_is_found_by_its_name():
    torch._dynamo.reset()
    with Reports() as reports:
        x = torch.ones(3, device="cuda")
        assert torch.equal(torch.compile(lambda x: x * 2 + 1, backend="ferrofuse")(x), x * 3)
    reports.require_gpu()
    return str(reports)


@check
def trains_an_mlp():
    return same_training(mlp, [mlp_batch()], loss_of, BOUNDS[torch.float32])


@check
def trains_a_gpt():
    return same_training(gpt, [gpt_batch()], direct, BOUNDS[torch.float32])


@check
def trains_under_bf16_autocast():
    return same_training(mlp, [mlp_batch()], loss_of, BOUNDS[torch.bfloat16], autocast=torch.bfloat16)


@check
def dropout_draws_by_torchs_seed():
    torch._dynamo.reset()
    with Reports() as reports:
        run = torch.compile(lambda x: F.dropout(x, 0.25) * 2 + 1, backend=OURS)
        x = torch.ones(1000, 400, device="cuda", requires_grad=True)
        torch.manual_seed(3)
        first, second = run(x), run(x)
        after = torch.cuda.default_generators[0].get_offset()
        torch.manual_seed(3)
        assert torch.equal(run(x), first) and not torch.equal(first, second), "the seed does not decide"
        first.sum().backward()
    assert after > 0, "torch's generator has not gone on"
    assert torch.equal(x.grad, first.detach() - 1), "the backward has another mask"
    zeros = (x.grad == 0).double().mean().item()
    assert abs(zeros - 0.25) < 0.01, f"{zeros} of the elements are dropped"
    reports.require_gpu()
    return str(reports)


@check
def sizes_may_be_dynamic():
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = mlp().cuda()
    counted = torch._dynamo.testing.CompileCounterWithBackend("eager")
    counted.backend = OURS
    with Reports() as reports:
        run = torch.compile(model, backend=counted, dynamic=True)
        for rows in (2, 17, 128, 1000, 4097):
            x = torch.randn(rows, 64, device="cuda")
            torch.testing.assert_close(run(x), model(x), rtol=1e-4, atol=1e-4)
    assert counted.frame_count <= 2, f"Dynamo compiled {counted.frame_count} times"
    reports.require_gpu()
    return f"Dynamo compiled {counted.frame_count} times; {reports}"


@check
def regions_run_on_the_current_stream():
    torch._dynamo.reset()
    run, side = torch.compile(lambda x: torch.softmax(x * 2, 1).sin(), backend=OURS), torch.cuda.Stream()
    x, right = torch.zeros(512, 1000, device="cuda"), torch.randn(512, 1000, device="cuda")
    with Reports() as reports:
        run(x)
    torch.cuda.synchronize()
    with torch.cuda.stream(side):
        torch.cuda._sleep(50_000_000)
        x.copy_(right)
        made = run(x)
    side.synchronize()
    torch.testing.assert_close(made, torch.softmax(right * 2, 1).sin())
    reports.require_gpu()
    return str(reports)


@check
def torch_captures_a_compiled_model():
    torch._dynamo.reset()
    run, x = torch.compile(lambda x: torch.softmax(x * 2, 1).sin(), backend=OURS), torch.zeros(64, 100, device="cuda")
    with Reports() as reports:
        run(x)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        made = run(x)
    x.copy_(torch.randn(64, 100))
    graph.replay()
    torch.testing.assert_close(made, torch.softmax(x * 2, 1).sin())
    reports.require_gpu()
    return str(reports)


@check
def numbers_of_the_host_and_modes():
    torch._dynamo.reset()
    run = torch.compile(lambda x, y, number: (x * number + y.sum() * 2, y * 2 + 1), backend=OURS)
    x, y, number = torch.randn(4, 5, device="cuda"), torch.randn(3), torch.tensor(2.0)
    with Reports() as reports:
        made, other = run(x, y, number)
    reports.require_gpu()
    torch.testing.assert_close(made, x * 2 + y.sum().item() * 2)
    torch.testing.assert_close(other, y * 2 + 1)
    try:
        torch.compile(lambda x: x * 2 + 1, backend=OURS, mode="reduce-overhead")(x)
    except Exception as error:
        assert "has no modes, but mode is 'reduce-overhead'" in str(error), error
    else:
        raise AssertionError("a mode was taken")
    return str(reports)


def small_model(make, draw):
    """A model of the tests, forward and backward, beside the same run as it is."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = make().cuda()
    inputs = [x.cuda() for x in draw(3)]
    state = {key: value.clone() for key, value in model.state_dict().items()}
    results = []
    with Reports() as reports:
        for run in (model, torch.compile(model, backend=OURS)):
            model.load_state_dict(state)
            model.zero_grad()
            output = run(*inputs)
            output.square().mean().backward()
            results.append([output.detach(), *(p.grad.clone() for p in model.parameters() if p.grad is not None)])
    for right, made in zip(*results):
        torch.testing.assert_close(made, right, rtol=2e-3, atol=2e-4)
    reports.require_gpu()
    return str(reports)


def left_s():
    """Seconds to the deadline."""
    return DEADLINE - (time.monotonic() - BEGIN)


def step_times(make, batch, loss, backend):
    """Milliseconds to the first step, and of one."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    model = make().cuda()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    forward, update = (lambda *batch: loss(model, *batch)), optimizer.step
    if backend != "eager":
        forward, update = (torch.compile(function, backend=backend) for function in (forward, update))

    def step():
        optimizer.zero_grad()
        forward(*batch).backward()
        update()
        torch.cuda.synchronize()

    times = []
    for _ in range(40):
        begin = time.perf_counter()
        step()
        times.append(1e3 * (time.perf_counter() - begin))
        if left_s() < 2:
            break
    return times[0], statistics.median(times[5:] or times)


def timings():
    """Lines: a training step of each model by each backend, the slowest to compile last."""
    big = {"width": 256, "heads": 4, "vocabulary": 1000, "length": 256}
    for model, given in {
        "MLP": (mlp, mlp_batch(4096), loss_of),
        "GPT": (lambda: gpt(**big), gpt_batch(256, 1000), direct),
    }.items():
        for name, backend in {"eager": "eager", "ferrofuse": OURS, "inductor": "inductor"}.items():
            if left_s() < (40 if backend == "inductor" else 6):
                yield f"training step of the {model}, {name}: no time left"
                continue
            try:
                first, median = step_times(*given, backend)
                yield f"training step of the {model}, {name}: {median:.3f} ms, the first {first:.0f} ms"
            except Exception as error:  # the next may work
                said = f"FAILED: {error}" if backend is OURS else f"not measured: {type(error).__name__}"
                yield f"training step of the {model}, {name}: {said}"


def watch():
    """Ends the process at the deadline, whatever it does."""

    def end():
        print(f"ended after {DEADLINE:.0f} s: what has no line was not done", flush=True)
        os._exit(1)

    timer = threading.Timer(DEADLINE, end)
    timer.daemon = True
    timer.start()


def passes(name, function):
    """Whether a check passes; its line."""
    begin = time.monotonic()
    try:
        said = function()
        took = time.monotonic() - begin
        print(f"{name}: matches ({took:.1f} s){'; ' + said if said else ''}", flush=True)
        return True
    except Exception:
        print(f"{name}: FAILED: {traceback.format_exc(limit=-3)}", flush=True)
        try:
            torch.cuda.synchronize()
        except Exception as lost:
            print(f"the device is lost: {lost}", flush=True)
            os._exit(1)
        return False


def main(names, quick):
    models = {name: lambda given=given: small_model(*given) for name, given in compiled_models.MODELS.items()}
    checks = {function.__name__: function for function in CHECKS}
    unknown = [name for name in names if name not in {*checks, *models, "timings"}]
    if unknown:
        sys.exit(f"no check {unknown[0]!r}: {', '.join([*checks, 'timings', *models])}")
    passed = [passes(*each) for each in checks.items() if not names or each[0] in names]
    for name, function in models.items():
        if names and name not in names:
            continue
        if left_s() < 4:
            print(f"{name}: no time left", flush=True)
        else:
            passed.append(passes(name, function))
    for line in timings() if "timings" in names or not (names or quick) else ():
        print(line, flush=True)
        passed.append("FAILED" not in line)
    return passed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=58.0)
    parser.add_argument("--quick", action="store_true", help="without timings")
    given = parser.parse_args()
    DEADLINE = given.seconds
    warnings.filterwarnings("ignore", module="torch")
    watch()
    code = 0 if all(main(given.names, given.quick)) else 1
    sys.stdout.flush()
    os._exit(code)  # without waiting for compilers in the background
