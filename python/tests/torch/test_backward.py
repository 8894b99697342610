"""The five-output backward of a modulated layer norm from tensors of bf16, against torch's own backward."""

from pathlib import Path

import pytest
import torch

from ferrofuse import DataType, FusionDefinition

EXAMPLE = Path(__file__).parents[3] / "examples" / "modulated_layer_norm_backward.py"


def definition():
    text = EXAMPLE.read_text()
    names = {"FusionDefinition": FusionDefinition, "DataType": DataType}
    exec(text[text.index("def ") : text.index("\nwith FusionDefinition")], names)
    with FusionDefinition() as fd:
        names["modulated_layer_norm_backward"](fd)
    return fd


def inputs_of(samples, rows, columns):
    torch.manual_seed(0)
    weight, bias = (torch.randn(columns).bfloat16() for _ in range(2))
    scale = torch.randn(samples, 1, columns).bfloat16()
    grad, x = (torch.randn(samples, rows, columns).bfloat16() for _ in range(2))
    return weight, bias, scale, grad, x


def gradients(weight, bias, scale, grad, x, dtype):
    """torch's gradients of y = (norm(x) * weight + bias) * (1 + scale) + shift in a dtype."""
    shift = torch.zeros_like(scale)
    weight, bias, scale, shift, x = (t.to(dtype).requires_grad_() for t in (weight, bias, scale, shift, x))
    normalized = torch.nn.functional.layer_norm(x, x.shape[-1:], weight, bias, eps=1e-5)
    y = normalized * (1 + scale) + shift
    y.backward(grad.to(dtype))
    return [shift.grad[:, 0], scale.grad[:, 0], bias.grad, weight.grad, x.grad]


# The last is that of the demo: about 4 GB of doubles.
SIZES = [(3, 33, 64), (2, 128, 1024), (1, 1, 5), pytest.param((56, 1024, 1024), marks=pytest.mark.long)]


@pytest.mark.parametrize("sizes", SIZES)
def test_five_gradients_are_torchs(sizes):
    weight, bias, scale, grad, x = inputs_of(*sizes)
    wide = x.float()
    mean = wide.mean(dim=2)
    invstd = torch.rsqrt(wide.var(dim=2, keepdim=True, correction=0) + 1e-5)
    rows = weight.expand(sizes), bias.expand(sizes)
    outputs = definition().execute([*rows, scale, grad, mean, invstd, x])
    exact = gradients(weight, bias, scale, grad, x, torch.float64)
    eager = gradients(weight, bias, scale, grad, x, torch.bfloat16)
    for output, double, half in zip(outputs, exact, eager):
        assert output.dtype == torch.bfloat16 and output.shape == half.shape
        size = double.abs().max()
        ours, theirs = ((t.double() - double).abs().max() / size for t in (output, half))
        # `1 + scale` is rounded to bf16, so each term is off by 2^-9 of itself, and each result by another 2^-9.
        assert ours <= 2**-7, f"{ours} of the largest element"
        # torch rounds every step: where it is further off than we are, it is further from us than from the truth by ours.
        assert (output.double() - half.double()).abs().max() / size <= ours + theirs + 1e-9
