"""Checks the Python face on this machine's GPU: torch's streams, memory and graphs, CuPy, JAX, errors; times the host.

    gpu_checks.py [--quick]

A line for each check. Ends with 1 if one failed. Times, which --quick leaves out, are medians of the host's clock.
"""

import argparse
import statistics
import sys
import time
import traceback

import torch

import ferrofuse
from ferrofuse import DataType, FusionDefinition

CHECKS = []


def check(function):
    CHECKS.append(function)
    return function


def matrix(fd, dtype=DataType.Float):
    return fd.define_tensor(shape=[-1, -1], contiguity=[True, True], dtype=dtype)


def softmax():
    with FusionDefinition() as fd:
        x = matrix(fd)
        exponentials = fd.ops.exp(x - fd.ops.max(x, dims=[1], keepdim=True))
        fd.add_output(exponentials / fd.ops.sum(exponentials, dims=[1], keepdim=True))
    return fd


def added(count=1, scale=1.0):
    """`count` segments, each of which adds a number."""
    with FusionDefinition() as fd:
        x = matrix(fd)
        for _ in range(count):
            x = fd.ops.segment_set(x + scale)
        fd.add_output(x)
    return fd


def close(ours, right, **bounds):
    torch.testing.assert_close(ours, right.to(ours.dtype), **bounds)


@check
def the_current_stream_is_honoured():
    """A call on a stream that first waits long and then writes the input: another would read what was there."""
    fd, x, side = softmax(), torch.zeros(512, 1000, device="cuda"), torch.cuda.Stream()
    fd.execute([x])
    right = torch.randn(512, 1000, device="cuda")
    torch.cuda.synchronize()
    for _ in range(5):
        x.zero_()
        torch.cuda.synchronize()
        with torch.cuda.stream(side):
            torch.cuda._sleep(50_000_000)
            x.copy_(right)
            (made,) = fd.execute([x])
            copied = made.clone()
        side.synchronize()
        close(copied, torch.softmax(right, 1))


@check
def outputs_are_in_torchs_memory():
    fd, x = softmax(), torch.randn(1024, 1024, device="cuda")
    fd.execute([x])
    torch.cuda.synchronize()
    before = torch.cuda.memory_allocated()
    (made,) = fd.execute([x])
    assert torch.cuda.memory_allocated() - before == made.numel() * 4, torch.cuda.memory_allocated() - before
    del made
    assert torch.cuda.memory_allocated() == before


@check
def memory_may_be_taken_again_at_once():
    """What a call reads and writes is given to the next in the order of the stream."""
    fd = added(3)
    for step in range(200):
        x = torch.full((256, 1000), float(step), device="cuda")
        (made,) = fd.execute([x])
        del x
        other = torch.full((256, 1000), -1.0, device="cuda")
        assert made[0, 0].item() == step + 3 and made[-1, -1].item() == step + 3
        del made, other


@check
def intermediates_of_streams_do_not_meet():
    """Two streams at once, whose intermediates come from one pool: each by itself, and small ones in one piece."""
    for sizes in ((2048, 2048), (64, 100)):
        run_on_two_streams(sizes)


def run_on_two_streams(sizes):
    fd, streams = added(4), [torch.cuda.Stream() for _ in range(2)]
    inputs = [torch.full(sizes, float(place), device="cuda") for place in range(2)]
    fd.execute([inputs[0]])
    torch.cuda.synchronize()
    for _ in range(50):
        outputs = []
        for stream, x in zip(streams, inputs):
            with torch.cuda.stream(stream):
                outputs.append(fd.execute([x])[0])
        torch.cuda.synchronize()
        for place, made in enumerate(outputs):
            assert (made == place + 4).all().item()


@check
def torch_captures_a_call():
    fd, x = added(3), torch.zeros(64, 100, device="cuda")
    fd.execute([x])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (made,) = fd.execute([x])
    for step in range(3):
        x.fill_(float(step))
        graph.replay()
        assert (made == step + 3).all().item()


@check
def a_graph_of_ours_is_replayed():
    fd, x = softmax(), torch.zeros(64, 100, device="cuda")
    graph = fd.capture([x])
    x.copy_(torch.randn(64, 100))
    graph.replay()
    close(graph.outputs[0], torch.softmax(x, 1))


def picked():
    with FusionDefinition() as fd:
        table, index = matrix(fd), fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Int)
        fd.add_output(fd.ops.index_select(table, index, 0))
    return fd


def told_of(fd, table, wrong):
    """The next call of a definition tells of an index, and the one behind it runs."""
    torch.cuda.synchronize()
    right = torch.tensor([1, 3], device="cuda")
    try:
        fd.execute([table, right])
    except ferrofuse.OutOfRangeError as error:
        assert f"index {wrong} is out of range for axis 0 of size 4" in str(error), error
    else:
        raise AssertionError("the next call said nothing")
    (made,) = fd.execute([table, right])
    close(made, table[[1, 3]])


@check
def an_index_out_of_range_is_told_by_the_next_call():
    fd, table = picked(), torch.randn(4, 4, device="cuda")
    fd.execute([table, torch.tensor([1, 9, 7], device="cuda")])
    told_of(fd, table, 7)
    many = torch.full((1 << 20,), 3, device="cuda")  # of as many threads that report one is the smallest
    many[::2] = 5 + torch.arange(1 << 19, device="cuda")
    fd.execute([table, many])
    told_of(fd, table, 5)


@check
def launches_of_graphs_tell_of_an_index():
    """Of a graph of torch's and of one of ours, each time."""
    fd, table, index = picked(), torch.randn(4, 4, device="cuda"), torch.tensor([1, 3], device="cuda")
    fd.execute([table, index])
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        fd.execute([table, index])
    for replay in (graph.replay, fd.capture([table, index]).replay):
        for wrong in (9, 6):
            index.copy_(torch.tensor([1, wrong]))
            replay()
            told_of(fd, table, wrong)


@check
def wrong_places_are_rejected():
    fd = added()
    for given, told in [
        (torch.zeros(2, 2, device="meta"), "meta"),
        (torch.zeros(2, 2, dtype=torch.float64, device="cuda"), "expected dtype f32, got f64"),
    ]:
        try:
            fd.execute([given])
        except Exception as error:
            assert told in str(error), error
        else:
            raise AssertionError(f"{given.dtype} on {given.device} was not rejected")
    with FusionDefinition() as two:
        two.add_output(matrix(two) + matrix(two))
    try:
        two.execute([torch.zeros(2, 2, device="cuda"), torch.zeros(2, 2)])
    except ferrofuse.InputError as error:
        assert "CPU" in str(error) and "cuda:0" in str(error), error
    else:
        raise AssertionError("tensors of two devices were not rejected")
    (made,) = added().execute([torch.zeros(2, 2, device="cuda")])
    assert (made == 1).all().item()


@check
def no_memory_is_an_error_after_which_calls_work():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1], contiguity=True, dtype=DataType.Float)
        square = fd.ops.broadcast(x, [False, True]) * fd.ops.broadcast(x, [True, False])
        fd.add_output(fd.ops.segment_set(square) * 2.0)
    try:
        fd.execute([torch.ones(400_000, device="cuda")])  # 640 GB
    except Exception as error:
        assert "memory" in str(error), error
    else:
        raise AssertionError("640 GB were found")
    (made,) = fd.execute([torch.ones(100, device="cuda")])
    assert (made == 2).all().item()


@check
def bf16_views_and_writes_in_place():
    with FusionDefinition() as fd:
        x = fd.define_tensor(shape=[-1, -1], contiguity=True, dtype=DataType.BFloat16)
        y = matrix(fd)
        fd.add_output(fd.ops.permute(y, [1, 0]))
        fd.add_output(fd.ops.cast(fd.ops.cast(x, DataType.Float) + 1.0, DataType.BFloat16), x)
    x, y = torch.zeros(33, 70, dtype=torch.bfloat16, device="cuda"), torch.randn(3, 5, device="cuda")
    version = x._version
    (view,) = fd.execute([x, y])
    assert view.data_ptr() == y.data_ptr() and (x == 1).all().item() and x._version > version


@check
def random_numbers_go_on_from_torchs_generator():
    with FusionDefinition() as fd:
        zero, one = fd.define_scalar(0.0), fd.define_scalar(1.0)
        x = matrix(fd)
        fd.add_output(x + fd.ops.uniform(zero, one, [64, 100], dtype=DataType.Float))
    x = torch.zeros(64, 100, device="cuda")
    torch.manual_seed(3)
    first, second = fd.execute([x])[0], fd.execute([x])[0]
    torch.manual_seed(3)
    again = fd.execute([x])[0]
    assert torch.equal(first, again) and not torch.equal(first, second)
    assert 0.45 < first.mean().item() < 0.55 and 0 <= first.min().item() and first.max().item() < 1


@check
def products_of_matrices():
    for dtype, ours, bound in [(torch.float32, DataType.Float, 1e-5), (torch.bfloat16, DataType.BFloat16, 1e-2)]:
        with FusionDefinition() as fd:
            fd.add_output(fd.ops.matmul(matrix(fd, ours), matrix(fd, ours)))
        a, b = (torch.randn(shape, dtype=dtype, device="cuda") for shape in ((300, 200), (200, 130)))
        (made,) = fd.execute([a, b])
        right = a.double() @ b.double()
        off = ((made.double() - right).norm() / right.norm()).item()
        assert off < bound, (dtype, off)


@check
def cupy_arrays():
    import cupy

    x = cupy.random.randn(64, 1000, dtype=cupy.float32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        stream.synchronize()
        (made,) = softmax().execute([x])
        assert type(made) is cupy.ndarray
        stream.synchronize()
    close(torch.from_dlpack(made), torch.softmax(torch.from_dlpack(x), 1))


@check
def jax_arrays():
    import jax

    x = jax.random.normal(jax.random.key(0), (64, 1000))
    (made,) = softmax().execute([x])
    assert isinstance(made, jax.Array), type(made)
    close(torch.from_dlpack(made), torch.softmax(torch.from_dlpack(x), 1))


def median_us(run, calls=500, wait=50):
    for _ in range(20):
        run()
    torch.cuda.synchronize()
    times = []
    for call in range(calls):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
        if call % wait == 0:
            torch.cuda.synchronize()
    torch.cuda.synchronize()
    return 1e6 * statistics.median(times)


def inductor_us(x):
    """Of a call that Inductor compiled; why there is none, as where it has no compiler."""
    compiled = torch.compile(lambda x: torch.softmax(x, 1) * 2, dynamic=False)
    try:
        return f"{median_us(lambda: compiled(x)):.1f} us"
    except Exception as error:
        return f"not measured: {type(error).__name__}"


def host_times():
    """Lines: what the host spends."""
    x, fd = torch.randn(8, 64, device="cuda"), softmax()
    ours = torch.compile(lambda x: torch.softmax(x, 1) * 2, backend="ferrofuse", dynamic=False)
    out = [torch.empty_like(x)]
    yield "call of one small kernel", f"{median_us(lambda: fd.execute([x])):.1f} us"
    yield "the same into `out`", f"{median_us(lambda: fd.execute([x], out=out)):.1f} us"
    yield "torch eager, x + 1", f"{median_us(lambda: x + 1):.1f} us"
    yield "torch.compile by Inductor, softmax * 2", inductor_us(x)
    yield "torch.compile by ferrofuse, softmax * 2", f"{median_us(lambda: ours(x)):.1f} us"
    one, ten = added(1), added(10)
    launch, replay = one.capture([x]), ten.capture([x])
    yield "call of ten small kernels", f"{median_us(lambda: ten.execute([x])):.1f} us"
    yield "replay of one small kernel", f"{median_us(launch.replay):.1f} us"
    yield "replay of ten small kernels", f"{median_us(replay.replay):.1f} us"
    firsts = []
    for number in range(8):
        new = added(1, 2.5 + number)
        start = time.perf_counter()
        new.execute([x])
        firsts.append(time.perf_counter() - start)
    yield "definition to loaded machine code", f"{1e3 * statistics.median(firsts):.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="without times")
    options = parser.parse_args()
    failed = 0
    for function in CHECKS:
        try:
            function()
            print(f"{function.__name__}: matches", flush=True)
        except ModuleNotFoundError as missing:
            print(f"{function.__name__}: not checked, {missing}", flush=True)
        except Exception:
            failed = 1
            print(f"{function.__name__}: FAILED: {traceback.format_exc(limit=-2)}", flush=True)
            try:
                torch.cuda.synchronize()
            except Exception as lost:
                print(f"the device is lost: {lost}", flush=True)
                break
    for name, said in () if options.quick else host_times():
        print(f"{name}: {said}", flush=True)
    sys.exit(failed)


main()
