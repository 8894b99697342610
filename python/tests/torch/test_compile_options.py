"""Options of the backend, its name, what fails, random numbers, writes to inputs, and what `explain` says."""

import importlib.metadata
import re
import warnings
from types import SimpleNamespace

import pytest
import torch
import torch.nn.functional as F
from torch._dynamo.exc import BackendCompilerFailed
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.testing._internal.two_tensor import TwoTensor

import compiled_models
import ferrofuse.torch
from ferrofuse.torch import Options, UnsupportedError, backend, compiler, devices, rows
from ferrofuse.torch.explain import _heard
from ferrofuse.torch.regions import regions
from ferrofuse.torch.report import GraphReport


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    torch._dynamo.reset()
    monkeypatch.setattr(compiler, "_warned", set())
    monkeypatch.setattr(compiler, "_kept", type(compiler._kept)())


def chain(x):
    return (x * 2 + 1).sin()


def test_the_backend_is_found_by_its_name():
    [found] = importlib.metadata.entry_points(group="torch_dynamo_backends", name="ferrofuse")
    assert found.load() is backend
    assert torch.equal(torch.compile(lambda x: x * 2 + 1, backend="ferrofuse")(torch.ones(3)), torch.full((3,), 3.0))


def test_errors_of_calls_name_the_users_line():
    def taken(x, index):
        return x.index_select(0, index) * 2 + 1

    compiled = torch.compile(taken, backend=backend)
    place = f"test_compile_options.py:{taken.__code__.co_firstlineno + 1}"
    assert torch.equal(compiled(torch.ones(4), torch.tensor([1, 2])), torch.full((2,), 3.0))
    with pytest.raises(ferrofuse.OutOfRangeError, match=f"^{place}: .* 9 is out of range"):
        compiled(torch.ones(4), torch.tensor([1, 9]))


WRONG = {
    "no option": (
        {"min_op": 1},
        "ValueError: backend \"ferrofuse\" has no option 'min_op'; it has min_ops, on_unsupported, "
        "emulate_precision_casts, fallback_random\n",
    ),
    "too few": ({"min_ops": 0}, "ValueError: option 'min_ops' must be 1 or more, but is 0\n"),
    "no number": ({"min_ops": "2"}, "TypeError: option 'min_ops' must be of type int, but is '2'\n"),
    "no bool": ({"fallback_random": 1}, "TypeError: option 'fallback_random' must be of type bool, but is 1\n"),
    "no choice": (
        {"on_unsupported": "warn"},
        "ValueError: option 'on_unsupported' must be 'eager' or 'error', but is 'warn'\n",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options_are_errors(name):
    options, message = WRONG[name]
    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(chain, backend=backend, options=options)(torch.ones(3))
    assert message in str(caught.value)


@pytest.mark.parametrize("mode", ["max-autotune", "reduce-overhead"])
def test_a_mode_is_an_error(mode):
    with pytest.raises(BackendCompilerFailed) as caught:
        torch.compile(chain, backend=backend, mode=mode)(torch.ones(3))
    graphs = "; torch.cuda.graph captures a compiled model" if mode == "reduce-overhead" else ""
    said = f"ValueError: backend \"ferrofuse\" has no modes, but mode is '{mode}': give options{graphs}\n"
    assert said in str(caught.value)


def test_the_default_mode_is_none():
    torch.testing.assert_close(torch.compile(chain, backend=backend, mode="default")(torch.zeros(3)), chain(torch.zeros(3)))


def broken(call, *_, **__):
    raise ValueError("out of order")


def test_an_op_that_fails_to_lower_is_left_to_eager_alone_and_warns_once(monkeypatch):
    monkeypatch.setitem(rows.TABLE, "aten.sin.default", rows.Row(broken))
    run = torch.compile(lambda x: chain(chain(x)).exp() + 1, backend=backend)
    x = torch.linspace(0, 1, 8)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        torch.testing.assert_close(run(x), chain(chain(x)).exp() + 1)
    [said] = [str(warning.message) for warning in heard if "ferrofuse" in str(warning.message)]
    line = chain.__code__.co_firstlineno + 1
    assert said == (
        f'ferrofuse: aten.sin.default is left to eager: out of order. It comes from File "{__file__}", line {line}, in chain '
        "return (x * 2 + 1).sin()"
    )


def test_all_ops_that_fail_to_lower_are_known_at_once(monkeypatch):
    monkeypatch.setitem(rows.TABLE, "aten.sin.default", rows.Row(broken))
    cuts = []
    monkeypatch.setattr(compiler, "regions", lambda *given: cuts.append(found := regions(*given)) or found)

    def failing(x):
        for _ in range(8):
            x = chain(x) + chain(x).exp() @ x
        return x

    x = torch.linspace(-1, 1, 9).reshape(3, 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.testing.assert_close(torch.compile(failing, backend=backend)(x), failing(x))
    assert len(cuts) == 2


def test_an_op_that_fails_to_lower_is_an_error_where_it_is_asked_for(monkeypatch):
    monkeypatch.setitem(rows.TABLE, "aten.sin.default", rows.Row(broken))
    with pytest.raises(BackendCompilerFailed, match="UnsupportedError: ferrofuse: aten.sin.default is left to eager: out of"):
        torch.compile(chain, backend=backend, options={"on_unsupported": "error"})(torch.ones(3))


def graph_on(device):
    with FakeTensorMode():
        return make_fx(lambda x: x * 2 + 1)(torch.empty(4, device=device))


@pytest.mark.parametrize(
    "device, why", [("cuda:0", "no driver here"), ("meta", "kernels run on CPUs and NVIDIA's GPUs alone")]
)
def test_tensors_on_other_devices_warn_or_are_errors(device, why, monkeypatch):
    monkeypatch.setattr(devices, "_of_gpu", lambda ordinal: "no driver here")
    said = f"aten.mul.Tensor is left to eager: a tensor on {device}: {why}. It comes from a line"
    report = GraphReport("inference")
    with pytest.warns(UserWarning) as heard:
        compiler.compile_graph(graph_on(device), Options(), report)
    assert re.search(said, str(heard[0].message)) and len(heard) == 2  # one an op
    assert not report.regions
    with pytest.raises(UnsupportedError, match=said):
        compiler.compile_graph(graph_on(device), Options(on_unsupported="error"), report)


def test_a_gpu_that_failed_once_is_tried_again(monkeypatch):
    outcomes = [RuntimeError("out of memory"), None]

    def to_gpu(array, device):
        outcome = outcomes.pop(0)
        if outcome is not None:
            raise outcome

    monkeypatch.setattr(devices, "to_gpu", to_gpu)
    monkeypatch.setattr(devices, "_WORKED", set())
    said = [devices.missing(torch.device("cuda:1")) for _ in range(3)]  # the third asks no driver
    assert said == ["out of memory", None, None] and not outcomes


def test_subclasses_sparse_and_quantized_tensors_give_what_eager_gives():
    run = torch.compile(lambda x: x * 2 + 1, backend=backend)
    pair = run(TwoTensor(torch.ones(3), torch.zeros(3)))
    assert type(pair) is TwoTensor and torch.equal(pair.a, torch.full((3,), 3.0)) and torch.equal(pair.b, torch.ones(3))
    dense = torch.compile(lambda x: (x * 2).to_dense() + 1, backend=backend)
    assert torch.equal(dense(torch.eye(3).to_sparse()), torch.eye(3) * 2 + 1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch calls them deprecated
        quantized = torch.quantize_per_tensor(torch.ones(3), 0.5, 0, torch.quint8)
        again = torch.compile(lambda x: x.dequantize() * 2 + 1, backend=backend)
        assert torch.equal(again(quantized), torch.full((3,), 3.0))


def test_regions_with_few_ops_are_left_to_eager():
    report = ferrofuse.torch.explain(lambda x: x * 2 + 1, torch.ones(3), options={"min_ops": 3})
    assert report.graphs[0].regions == []
    assert set(report.graphs[0].eager) == {
        ("aten.mul.Tensor", "in a region of fewer than 3 ops"),
        ("aten.add.Tensor", "in a region of fewer than 3 ops"),
    }


def test_an_op_that_is_slow_in_eager_counts_twice():
    def left(function, min_ops, *shape):
        report = ferrofuse.torch.explain(function, torch.ones(*shape), options={"min_ops": min_ops})
        return [op for op, _ in report.graphs[0].eager]

    assert left(torch.tanh, 2, 3) == [] and left(torch.relu, 2, 3) == ["aten.relu.default"]
    assert left(torch.tanh, 3, 3) == ["aten.tanh.default"] and left(lambda x: x.argmax(0), 2, 3) == []
    assert left(torch.relu, 2, 512, 512) == [] and left(torch.relu, 3, 512, 512) == ["aten.relu.default"]
    assert left(lambda x: x.mT.contiguous(), 2, 512, 512) == [] and left(torch.relu, 2, 512, 511) == ["aten.relu.default"]


def test_an_op_that_eager_is_faster_at_counts_as_none():
    def left(function, dtype, *shape):
        report = ferrofuse.torch.explain(function, torch.ones(*shape, dtype=dtype))
        return [op for op, _ in report.graphs[0].eager]

    assert left(torch.sin, torch.float32, 3) == [] and left(torch.sin, torch.float64, 3) == ["aten.sin.default"]
    assert left(torch.exp, torch.float64, 3) == [] and left(lambda x: x**2.3, torch.float64, 512, 512) != []
    assert left(lambda x: x % 0.7, torch.float32, 512, 512) != [] and left(lambda x: x % 3, torch.int64, 512, 512) == []
    assert left(torch.rand_like, torch.float32, 512, 1024) != [] and left(lambda x: x.sin() * 2 + 1, torch.float64, 3) == []
    report = ferrofuse.torch.explain(torch.sin, torch.ones(3).double(), options={"min_ops": 1})
    assert not report.graphs[0].eager


def test_long_chains_of_views_are_followed():
    def viewed(x, index):
        zeros, y = torch.zeros(2, 2), x * 2 + 1
        for _ in range(500):
            zeros, x, y = zeros.view(4).view(2, 2), x.t(), y.t()
        return zeros.index_put((index,), x.sin()), y.t() @ x, y + 1

    given = torch.ones(2, 2), torch.tensor([0, 0])
    with FakeTensorMode(allow_non_fake_inputs=True):
        module = make_fx(viewed)(*(torch.empty_like(each) for each in given))
    run = compiler.compile_graph(module, Options(), GraphReport("inference"))
    for got, expected in zip(run([*given]), viewed(*given)):
        torch.testing.assert_close(got, expected)


def test_dropout_draws_by_torchs_seed_and_the_backward_uses_its_mask():
    run = torch.compile(lambda x: F.dropout(x, 0.25) * 2 + 1, backend=backend)
    x = torch.ones(4000, requires_grad=True)
    torch.manual_seed(3)
    first, second = run(x), run(x)
    torch.manual_seed(3)
    assert torch.equal(run(x), first) and not torch.equal(first, second)
    first.sum().backward()
    assert torch.equal(x.grad, first.detach() - 1)
    assert abs((x.grad == 0).double().mean().item() - 0.25) < 0.03


def test_fallback_random_draws_in_eagers_order():
    def waiting(x):
        a = x.sin() + 1
        first = torch.rand_like(a)  # waits for a region, which ends after the next draw
        second = torch.rand(4)
        return a * first, second * (x.cos() * 2)

    def dropped(x):
        h = torch.nn.functional.dropout((x.sin() + 1) @ x, 0.5)
        return h, torch.nn.functional.dropout(x, 0.5) * x.cos()

    for function, x in ((waiting, torch.randn(4)), (dropped, torch.randn(4, 4))):
        run = torch.compile(function, backend=backend, options={"fallback_random": True})
        torch.manual_seed(0)
        expected = function(x)
        torch.manual_seed(0)
        for given, eager in zip(run(x), expected):
            torch.testing.assert_close(given, eager)


def test_fallback_random_draws_eagers_bits():
    def noisy(x):
        return F.dropout(x, 0.5) + torch.rand_like(x) * torch.randn(8)

    run = torch.compile(noisy, backend=backend, options={"fallback_random": True})
    x = torch.ones(8)
    torch.manual_seed(5)
    got = run(x)
    torch.manual_seed(5)
    assert torch.equal(got, noisy(x))


@pytest.mark.parametrize("foreach", [False, True])  # on GPUs by lists of tensors
def test_an_optimizer_step_is_one_region_that_writes_to_what_it_was_given(foreach):
    model = compiled_models.Gpt(layers=1)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=foreach)
    text = torch.randint(0, 50, (2, 8))
    model(text, text).backward()
    report = ferrofuse.torch.explain(optimizer.step)
    [graph] = report.graphs
    assert [region.outputs for region in graph.regions] == [4 * len(list(model.parameters()))] and not graph.eager


def test_a_write_comes_after_all_that_reads_the_old_value():
    def swap(x, y):
        old = x.t() * 1.0
        sums = old @ y
        x.copy_(y * 2 + 1)
        return sums + x, old[0] + 1

    given = [torch.arange(9.0).reshape(3, 3), torch.ones(3, 3)]
    expected = [x.clone() for x in given]
    assert all(map(torch.equal, torch.compile(swap, backend=backend)(*given), swap(*expected)))
    assert torch.equal(given[0], expected[0])


@pytest.mark.parametrize(
    "made_in, mode",
    [
        (torch.enable_grad, torch.enable_grad),
        (torch.enable_grad, torch.no_grad),
        (torch.enable_grad, torch.inference_mode),
        (torch.inference_mode, torch.no_grad),
    ],
)
def test_copies_have_memory_of_their_own(made_in, mode):
    def copies(x, v):
        return x * 2 + v, x.clone(), x[1:].clone(), x * 1, x.t().contiguous().t(), v.clone(), v[1:].clone(), v + 0

    with made_in():
        given = torch.rand(3, 3), torch.rand(3)
    before = [x.clone() for x in given]
    with mode():
        for output, expected in zip(torch.compile(copies, backend=backend)(*given), copies(*before)):
            assert torch.equal(output, expected) and output.is_inference() == expected.is_inference()
            output.zero_()
    assert all(map(torch.equal, given, before))


def test_numbers_of_python_are_arguments():
    def scaled(x, by):
        return (x * by + 1) * (by - 2)

    counted = torch._dynamo.testing.CompileCounterWithBackend("eager")
    counted.backend = backend
    run = torch.compile(scaled, backend=counted, dynamic=True)
    for by in (1.5, 2.5, 3.5, 7.25):
        x = torch.arange(5.0)
        assert torch.equal(run(x, by), scaled(x, by))
    assert counted.frame_count <= 2


def test_equal_regions_are_compiled_once():
    report = ferrofuse.torch.explain(compiled_models.Gpt(), *[torch.randint(0, 50, (2, 16))] * 2)
    forward, backward = report.graphs
    assert sum(region.compiled for region in forward.regions) <= len(forward.regions) - 5
    assert sum(region.compiled for region in backward.regions) <= len(backward.regions) - 9
    fused, total = report.counts()
    assert fused >= 0.95 * total


def test_definitions_that_were_used_last_are_kept(monkeypatch):
    monkeypatch.setattr(compiler, "MOST_KEPT", 2)

    def is_compiled(function):
        report = ferrofuse.torch.explain(function, torch.ones(3))
        return report.graphs[0].regions[0].compiled

    first, second, third = chain, lambda x: chain(x) + 2, lambda x: chain(x) * 3
    assert is_compiled(first) and is_compiled(second) and not is_compiled(first)
    assert is_compiled(third) and not is_compiled(first) and is_compiled(second)


def talkative(x):
    y = x * 2 + 1
    print("half way")
    return y.sin() + 1


def test_a_graph_break_may_have_no_reason():
    ended = SimpleNamespace(graph_break=True, user_stack=[], reason="\n")
    module = make_fx(lambda x: (x * 2,))(torch.ones(3))
    module.compile_subgraph_reason, breaks = ended, []
    _heard(Options(), [], breaks, module, [torch.ones(3)])
    assert breaks == [""]


def test_explain_says_what_became_of_a_function(capsys):
    x = torch.linspace(0, 1, 6, requires_grad=True)
    text = str(ferrofuse.torch.explain(talkative, x))
    line = talkative.__code__.co_firstlineno + 2
    head, tail = text.split("graph breaks:\n")
    assert head.splitlines() == [
        "graph     region  device  ops  views  inputs  outputs  bytes  definition",
        "forward   0       cpu     2    0      1       1        48     new",
        "forward   0       cpu     2    0      1       1        48     new",
        "backward  0       cpu     2    0      2       1        72     new",
        "fused: 6 of 7 ops that are neither views nor a library's",
        "left to eager:",
        "backward  1  aten.mul.Tensor  in a region of fewer than 2 ops",
    ]
    assert tail.startswith(f'File "{__file__}", line {line}, in talkative: ')
    assert capsys.readouterr().out == "half way\n" and x.grad is None
