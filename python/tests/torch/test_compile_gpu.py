"""What the backend decides for tensors of a GPU. There is none: graphs are of fake tensors, and what becomes of them is run
on tensors of the host in their place, which kernels and eager ops take as well.
"""

import pytest
import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx

import test_compile_ops
from ferrofuse.torch import Options, compiler, decompositions, devices
from ferrofuse.torch.report import GraphReport


@pytest.fixture(autouse=True)
def two_gpus(monkeypatch):
    monkeypatch.setattr(devices, "_of_gpu", lambda ordinal: None)
    monkeypatch.setattr(compiler, "_kept", type(compiler._kept)())


def compiled(function, *places, options=Options(min_ops=1)):
    """A function compiled for (device, sizes) of its arguments, and the report of that."""
    with FakeTensorMode():
        fakes = [torch.empty(sizes, device=device) for device, *sizes in places]
        graph = make_fx(function, decompositions.table(False))(*fakes)
    report = GraphReport("inference")
    return compiler.compile_graph(graph, options, report), report


def numbers(*places):
    return [torch.randn(sizes, dtype=torch.float32) for _, *sizes in places]


def same_on_the_host(function, *places):
    """The devices of its regions and what is left to eager, once it gave what eager gives."""
    run, report = compiled(function, *places)
    inputs = numbers(*places)
    for made, right in zip(run(list(inputs)), function(*inputs)):
        torch.testing.assert_close(made, right)
    return [region.device for region in report.regions], dict(report.eager)


X, Y, NUMBER = ("cuda:0", 4, 5), ("cpu", 4, 5), ("cpu",)


def test_regions_are_of_gpus_too():
    def function(x, w):
        return (torch.softmax((x * 2 + 1) @ w, 1).sin(),)

    places, eager = same_on_the_host(function, X, ("cuda:0", 5, 3))
    assert places == ["cuda:0"] * 2 and eager == {("aten.mm.default", "product of matrices"): 1}


def test_a_region_is_of_one_device():
    def function(x, y, z):
        return x * 2 + 1, y * 3 + 1, z * 4 + 1

    assert same_on_the_host(function, X, Y, ("cuda:1", 4, 5)) == (["cpu", "cuda:0", "cuda:1"], {})


def test_numbers_of_the_host_come_into_regions_of_a_gpu():
    places, eager = same_on_the_host(lambda x, number: (x * number + 1,), X, NUMBER)
    assert places == ["cuda:0"] and eager == {}


def test_a_number_that_the_host_computes_is_there_before_the_gpu_needs_it():
    def function(x, y):
        total = (y * y).sum()
        return x * total + 1, (x + 1) * 2, total * y

    places, eager = same_on_the_host(function, X, Y)
    assert places == ["cpu", "cuda:0", "cuda:0"] and eager == {}


def test_a_view_of_the_hosts_memory_is_no_gpus():
    def function(x, y):
        return x * y[1, 2] + 1, torch.tanh(y[1, 2] + y)

    places, eager = same_on_the_host(function, X, Y)
    assert places == ["cpu", "cuda:0"] and eager == {}


def test_constants_of_the_host_are_in_regions_of_a_gpu():
    def function(x):
        return (torch.where(x > 0, x, torch.full((), -1.0)) * 2,)

    assert same_on_the_host(function, X) == (["cuda:0"], {})


def test_copies_between_devices_are_eagers():
    _, report = compiled(lambda x, y: (x.cpu() * y + 1, y.cuda() * x), X, Y)
    assert sum(report.eager.values()) == 2
    assert sorted(region.device for region in report.regions) == ["cpu", "cuda:0"]


def test_an_index_on_the_host_is_eagers():
    with FakeTensorMode():
        graph = make_fx(lambda x, at: x[at] * 2)(torch.empty(4, 5, device="cuda"), torch.zeros(3, dtype=torch.int64))
    report = GraphReport("inference")
    compiler.compile_graph(graph, Options(min_ops=1), report)
    assert report.eager == {("aten.index.Tensor", "tensors on cuda:0 and cpu"): 1}


def test_numbers_of_the_host_alone_are_no_region_of_a_gpu():
    _, report = compiled(lambda number: torch.full((4,), 2.0, device="cuda:0") * number + 1, NUMBER)
    assert report.regions == []
    assert {why for _, why in report.eager} == {"numbers of the host alone, for work on cuda:0"}


def test_a_call_without_tensors_is_told_its_gpu(monkeypatch):
    told = []
    monkeypatch.setattr(compiler, "_kernel", lambda defined: told.append(defined.device) or (lambda *inputs: []))
    compiled(lambda: torch.rand(4, device="cuda:1") * 2)
    compiled(lambda x: torch.rand_like(x) * 2, X)
    compiled(lambda: torch.rand(4) * 2)
    assert told == ["cuda:1", None, None]


def test_equal_graphs_on_two_devices_are_compiled_for_each(monkeypatch):
    made = []
    monkeypatch.setattr(compiler, "_kernel", lambda defined: made.append(defined) or (lambda *inputs: []))
    for device in ("cpu", "cuda:0", "cuda:0", "cuda:1"):
        compiled(lambda x: x * 2 + 1, (device, 3))
    assert len(made) == 3


@pytest.mark.parametrize("name", test_compile_ops.CASES)
def test_no_op_of_the_table_is_the_hosts(name, monkeypatch):
    """All segments of what the table makes of ops have a kernel for GPUs."""
    made = []
    monkeypatch.setattr(compiler, "_kernel", lambda defined: made.append(defined.fd) or (lambda *inputs: []))
    function, x = test_compile_ops.CASES[name]
    graph = make_fx(function, decompositions.table(False), tracing_mode="fake", _allow_non_fake_inputs=True)(x)
    compiler.compile_graph(graph, Options(min_ops=1), GraphReport("inference"))
    assert made
    for fd in made:
        code = fd.cuda_code()
        assert "__global__" in code and "runs on the evaluator" not in code
