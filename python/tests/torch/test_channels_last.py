"""Convolutions with groups take images channels last, and nothing that leaves a graph shows it."""

import pytest
import torch
from torch import nn
from torch.fx.experimental.proxy_tensor import make_fx
from torch._subclasses.fake_tensor import FakeTensorMode

import ferrofuse.torch
from ferrofuse.torch.channels_last import channels_last
from ferrofuse.torch.nodes import op_of, results


class Block(nn.Module):
    """An inverted residual block with squeeze and excitation."""

    def __init__(self, channels=16, groups=None):
        super().__init__()
        self.expand = nn.Conv2d(channels, 2 * channels, 1, bias=False)
        self.norm = nn.BatchNorm2d(2 * channels)
        self.depthwise = nn.Conv2d(2 * channels, 2 * channels, 3, padding=1, groups=groups or 2 * channels)
        self.gate = nn.Conv2d(2 * channels, 2 * channels, 1)
        self.project = nn.Conv2d(2 * channels, channels, 1)

    def forward(self, x):
        y = torch.nn.functional.silu(self.norm(self.expand(x)))
        y = torch.nn.functional.hardswish(self.depthwise(y))
        y = y * torch.sigmoid(self.gate(y.mean((2, 3), keepdim=True)))
        return x + self.project(y)


def traced(function, *inputs):
    return make_fx(function, tracing_mode="fake")(*inputs)


def strides(tensor):
    """Those of axes that are longer than 1: the others say nothing."""
    return [stride for stride, size in zip(tensor.stride(), tensor.shape) if size > 1]


def layouts(module):
    """Whether each image of a convolution is channels last."""
    images = [node.args[0] for node in module.graph.nodes if op_of(node) == "aten.convolution.default"]
    return [results(image)[0].is_contiguous(memory_format=torch.channels_last) for image in images]


def convolved(x, weight):
    groups = 8 // weight.shape[1]
    return torch.ops.aten.convolution(x.sin(), weight, None, [1, 1], [1, 1], [1, 1], False, [0, 0], groups)


def weight(groups):
    return torch.randn(8, 8 // groups, 3, 3)


def test_only_convolutions_with_groups_gain():
    for groups, expected in ((1, [False]), (2, [True]), (8, [True])):
        module = traced(convolved, torch.randn(2, 8, 5, 6), weight(groups))
        channels_last(module)
        assert layouts(module) == expected, groups


def test_the_rewritten_graph_computes_the_same_and_gives_the_same_strides():
    def function(x, grouped, dense):
        y = convolved(x, grouped)
        repeated = y[:1].expand(3, 8, 5, 6), y.sum(1, keepdim=True).expand(2, 3, 5, 6)
        return y, y.view(2, -1), y.permute(0, 2, 3, 1), (y + 1).sum(1), convolved(y, dense), *repeated

    inputs = torch.randn(2, 8, 5, 6), weight(8), weight(1)
    module = traced(function, *inputs)
    expected = module(*inputs)
    channels_last(module)
    assert layouts(module) == [True, True]
    for got, want in zip(module(*inputs), expected):
        torch.testing.assert_close(got, want)
        assert got.stride() == want.stride()
    fakes = [results(node)[0] for node in module.graph.nodes if results(node)]
    assert all(isinstance(fake.fake_mode, FakeTensorMode) for fake in fakes)


def test_strides_of_axes_of_one_are_given_without_a_copy():
    def gradient(x, grouped, pointwise):
        y = convolved(x, grouped)
        given = y.cos(), y, pointwise, None, [1, 1], [0, 0], [1, 1], False, [0, 0], 1
        return torch.ops.aten.convolution_backward(*given, [False, True, False])[1]

    inputs = torch.randn(2, 8, 5, 6), weight(8), torch.randn(8, 8, 1, 1)
    module = traced(gradient, *inputs)
    module.graph.eliminate_dead_code()
    expected = module(*inputs)
    channels_last(module)
    got, [*_, output] = module(*inputs), module.graph.nodes
    torch.testing.assert_close(got, expected)
    assert op_of(output.args[0]) == "aten.as_strided.default" and got.stride() == expected.stride()


@pytest.mark.parametrize("shape", [(3, 8, 1, 7), (3, 8, 7, 1), (3, 8, 1, 1), (3, 8, 2, 7)])
@pytest.mark.parametrize("mode", [torch.enable_grad, torch.no_grad])
def test_images_with_axes_of_one_are_flattened(mode, shape):
    def flattened(x, weight):
        return convolved(x, weight).relu().flatten(1)

    torch._dynamo.reset()
    x = torch.randn(shape, requires_grad=mode is torch.enable_grad), weight(4)
    with mode():
        got, want = torch.compile(flattened, backend=ferrofuse.torch.backend)(*x), flattened(*x)
    torch.testing.assert_close(got, want)
    assert got.stride() == want.stride()


@pytest.mark.parametrize(
    "seen",
    [
        lambda y: torch.as_strided(y, (4,), (1,)),
        lambda y: y.view(torch.int32),
    ],
)
def test_graphs_that_ask_for_strides_stay(seen):
    def function(x, weight):
        y = convolved(x, weight)
        return y, seen(y)

    module = traced(function, torch.randn(2, 8, 5, 6), weight(8))
    before = str(module.graph)
    channels_last(module)
    assert str(module.graph) == before


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("groups", [None, 2])
def test_a_block_trains_as_in_eager(groups, dynamic):
    torch.manual_seed(0)
    torch._dynamo.reset()
    model, x = Block(groups=groups), torch.randn(2, 16, 9, 7, requires_grad=True)
    other = Block(groups=groups)
    other.load_state_dict(model.state_dict())
    compiled = torch.compile(other, backend=ferrofuse.torch.backend, dynamic=dynamic)
    outs = []
    for step in (model, compiled):
        x.grad = None
        out = step(x)
        out.square().sum().backward()
        outs.append((out, x.grad.clone(), [p.grad for p in (model if step is model else other).parameters()]))
    (out, grad, grads), (own, own_grad, own_grads) = outs
    for got, want in [(own, out), (own_grad, grad), *zip(own_grads, grads)]:
        torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
        assert strides(got) == strides(want)
    torch.testing.assert_close(other.norm.running_var, model.norm.running_var)


def test_inference_takes_images_channels_last_too():
    torch._dynamo.reset()
    model, x = Block().eval(), torch.randn(2, 16, 9, 7)
    compiled = torch.compile(model, backend=ferrofuse.torch.backend)
    with torch.no_grad():
        want, got = model(x), compiled(x)
    torch.testing.assert_close(got, want, rtol=1e-4, atol=1e-4)
    assert got.stride() == want.stride()
