"""Attention loses masks that are causal or mask nothing, and no others."""

import pytest
import torch
from torch.fx.experimental.proxy_tensor import make_fx

from ferrofuse.torch.masks import without_masks

LENGTH = 12
attention = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu
backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward


def places(length):
    return torch.arange(length)[:, None], torch.arange(length)[None, :]


def causal(length):
    query, key = places(length)
    return key <= query


def with_infinities(length):
    return torch.where(causal(length), 0.0, -torch.inf)


def over_heads(length):
    return (torch.ones(length, length, dtype=torch.bool) & causal(length)).expand(2, 1, length, length)


def everything(length):
    return torch.ones(1, 1, 1, length, dtype=torch.bool)


def windowed(length):
    query, key = places(length)
    return (key <= query) & (query - key < 4)


def shifted(length):
    query, key = places(length)
    return key < query + 2


def biased(length):
    return torch.where(causal(length), 0.5, -torch.inf)


def drawn(length):
    return causal(length) & (torch.rand(length, length) < 2)


def step(mask):
    """Attention and its gradients, with a mask of its own."""

    def run(q, k, v):
        options = {"attn_mask": mask(q.shape[-2]), "scale": 0.5}
        if options["attn_mask"].dtype == torch.bool:
            options["attn_mask"] = torch.where(options["attn_mask"], 0.0, -torch.inf)
        out, logsumexp = attention(q, k, v, **options)
        return out, *backward(torch.cos(out), q, k, v, out, logsumexp, 0.0, False, **options)

    return run


def operands():
    torch.manual_seed(0)
    return [torch.randn(2, 3, LENGTH, 8) for _ in range(3)]


def masks_of(module):
    """Of each attention: whether it has a mask, and whether it is causal."""
    calls = [node for node in module.graph.nodes if "scaled_dot" in str(node.target)]
    assert len(calls) == 2
    return {(node.kwargs.get("attn_mask") is not None, True in node.args) for node in calls}


@pytest.mark.parametrize(
    "mask, is_causal", [(causal, True), (with_infinities, True), (over_heads, True), (everything, False)]
)
def test_a_mask_that_says_no_more_goes(mask, is_causal):
    module = make_fx(step(mask), tracing_mode="fake")(*operands())
    assert masks_of(module) == {(True, False)}
    without_masks(module)
    assert masks_of(module) == {(False, is_causal)}
    assert not any("arange" in str(node.target) for node in module.graph.nodes)
    for got, expected in zip(module(*operands()), step(mask)(*operands())):
        torch.testing.assert_close(got, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("mask", [windowed, shifted, biased, drawn])
def test_any_other_mask_stays(mask):
    module = make_fx(step(mask), tracing_mode="fake")(*operands())
    without_masks(module)
    assert masks_of(module) == {(True, False)}


def test_masks_of_inputs_and_of_symbolic_lengths_stay():
    module = make_fx(step(causal), tracing_mode="symbolic")(*operands())
    without_masks(module)
    assert masks_of(module) == {(True, False)}
    given = torch.zeros(LENGTH, LENGTH)
    module = make_fx(lambda given, *x: step(lambda _: given)(*x), tracing_mode="fake")(given, *operands())
    without_masks(module)
    assert masks_of(module) == {(True, False)}


def test_a_mask_is_looked_at_for_each_pair_of_lengths():
    """For a single query the first key alone is causal; for more it is not."""

    def run(one, q, k, v):
        mask = torch.where(torch.arange(LENGTH) < 1, 0.0, -torch.inf)[None, :]
        return [attention(x, k, v, attn_mask=mask)[0] for x in (one, q)]

    inputs = [torch.randn(2, 3, 1, 8), *operands()]
    module = make_fx(run, tracing_mode="fake")(*inputs)
    without_masks(module)
    assert masks_of(module) == {(False, True), (True, False)}
    for got, expected in zip(module(*inputs), run(*inputs)):
        torch.testing.assert_close(got, expected)


@pytest.mark.parametrize("mask", [causal, windowed])
def test_a_compiled_step_gives_what_eager_gives(mask):
    def loss(q, k, v):
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask(q.shape[-2])).sin().sum()

    torch._dynamo.reset()
    eager, fused = ([x.requires_grad_() for x in operands()] for _ in range(2))
    expected = loss(*eager)
    got = torch.compile(loss, backend="ferrofuse")(*fused)
    torch.testing.assert_close(got, expected)
    expected.backward()
    got.backward()
    for one, other in zip(fused, eager):
        torch.testing.assert_close(one.grad, other.grad, rtol=1e-5, atol=1e-6)
