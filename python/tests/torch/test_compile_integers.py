"""torch.compile over integers of 8 and 16 bits: one region each, the same bits as eager."""

import ferrofuse.torch
import pytest
import torch
from ferrofuse.torch import backend

BYTES = torch.arange(0, 256, dtype=torch.int64).to(torch.uint8)
SIGNED = torch.arange(-128, 128, dtype=torch.int64).to(torch.int8)
SHORTS = (torch.arange(0, 256) * 257 - 32768).to(torch.int16)
FLOATS = torch.linspace(-300.0, 300.0, 256)
IMAGE = (torch.arange(2 * 3 * 8 * 16) * 37 % 256).to(torch.uint8).reshape(2, 3, 8, 16)
MEAN, DEVIATION = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])


LIMITS = torch.tensor([torch.iinfo(torch.int64).min + 1, torch.iinfo(torch.int64).max, -8, -7, 7, 8])
THIRD = torch.tensor([2])


def normalised(image):
    return (image.float() / 255 - MEAN[:, None, None]) / DEVIATION[:, None, None]


def quantised(x):
    return (x * 0.5 + 3).round().clamp(0, 255).to(torch.uint8)


def comparisons(x):
    found = [(x == n) ^ (x > n) for n in (-1, 256, -70000, 2**40 + 7)]
    return [*found, x.to(torch.int8) <= 200, x.to(torch.int32) >= 2**32 + 9, (x > 9) < 300, x != 300.0, x < 2**63 - 1]


def dequantised(x):
    return (x.float() - 12) * 0.02


EXACT = {
    "quantise": (quantised, FLOATS),
    "quantise to int8": (lambda x: (x / 0.7).round().clamp(-128, 127).to(torch.int8) + 0, FLOATS),
    "dequantise": (dequantised, SIGNED),
    "wraps": (lambda x, y: x * 3 + 200 - y, BYTES, BYTES.flip(0)),
    "promotes": (lambda x, y: (x + y) * 2, BYTES, SIGNED),
    "promotes to shorts": (lambda x, y: x * y - 7, SHORTS, BYTES),
    "bytes below zero": (lambda x: ((x * -1 + -3) // -100 ^ (x - -7) % -50) + torch.add(-x, x & -3, alpha=-2), BYTES),
    "filled with bytes below zero": (
        lambda x: torch.where(x > 9, x, -1) + torch.full_like(x, -2) * x.scatter(0, THIRD, -3) - x.masked_fill(x > 4, -5),
        BYTES,
    ),
    "negates": (lambda x: -x + x.abs(), SIGNED),
    "floors": (lambda x: x // 3 + x % 7, SIGNED),
    "floors at the limits": (lambda x: torch.stack([x // 3, x // -10, x // 7 + 1]), LIMITS),
    "floors at the limits of int32": (lambda x: torch.stack([x // 3, x // -10, x // 7 + 1]), LIMITS.to(torch.int32)),
    "scaled terms": (lambda x, y: torch.add(x, y, alpha=3) - torch.sub(x, y, alpha=5), SIGNED, BYTES),
    "scaled terms of floats": (lambda x, y: torch.add(x, y, alpha=2).double(), FLOATS, SHORTS.to(torch.int8)),
    "a narrow tensor and a wide one without axes": (
        lambda x, z: torch.stack([torch.minimum(x, z), torch.fmod(x, z), x.clamp(min=z), (x > z).to(x.dtype), x // z]),
        BYTES,
        torch.tensor(-3, dtype=torch.int16),
    ),
    "a factor cut to an integer": (lambda x: torch.addcmul(x, x, x, value=1.5) + 1, SIGNED),
    "truncates": (lambda x: torch.div(x, 3, rounding_mode="trunc") * 2, SIGNED),
    "bits": (lambda x: ~x & 0x3C | 1, BYTES),
    "shifts": (lambda x, y: (x << 3) + (x >> y % 9) - (2 << x % 4), BYTES, BYTES.flip(0)),
    "shifts to the right": (lambda x: (x >> 2) + torch.bitwise_right_shift(x, 9) + (x << 9), SIGNED),
    "shifts of shorts": (lambda x, y: (x >> y % 20) + torch.bitwise_left_shift(x, y % 20), SHORTS, BYTES),
    "compares": (lambda x, y: torch.where(x > 100, x, y) == y, BYTES, BYTES.flip(0)),
    "compares bytes with others": (lambda x: torch.stack(comparisons(x)), BYTES),
    "compares shorts with others": (lambda x: torch.stack(comparisons(x)), SHORTS),
    "clamps": (lambda x: x.clamp(-5, 100) + 1, BYTES),
    "sums": (lambda x: (x * 2).sum(0) + 1, BYTES),
    "extremes": (lambda x: (x * 2).amax(0) - (x + 1).amin(0), SIGNED),
    "cumsum": (lambda x: (x + 1).cumsum(0), BYTES),
    "floats that wrap": (lambda x: (x * 1.5).to(torch.uint8) + 0, FLOATS),
    "true division": (lambda x: x / 3 + 1, BYTES),
    "to bool": (lambda x: x.bool() & (x > 3), SHORTS),
    "of bools": (lambda x: (x > 3).to(torch.uint8) * 255, FLOATS),
    "signs": (lambda x: torch.sign(x) * 3, SIGNED),
    "signs of bools": (lambda x: torch.sign(x > 3) ^ (x > 9), SIGNED),
    "powers": (lambda x: x**2 + x**3, BYTES),
    "scattered floats": (lambda x: x.scatter(0, THIRD, 1.0) + x.scatter(0, THIRD, -2.7) - x * 2, LIMITS),
    "joined": (lambda x, y: torch.cat([x + 1, y]), BYTES, BYTES),
}


@pytest.mark.parametrize("name", EXACT)
def test_integers_are_eagers(name):
    function, *tensors = EXACT[name]
    report = ferrofuse.torch.explain(function, *tensors, options={"min_ops": 1})
    assert not any(graph.eager for graph in report.graphs), report
    got, expected = torch.compile(function, backend=backend)(*tensors), function(*tensors)
    assert got.dtype == expected.dtype
    torch.testing.assert_close(got, expected, rtol=2e-7, atol=0)


def test_images_are_normalised():
    report = ferrofuse.torch.explain(normalised, IMAGE, options={"min_ops": 1})
    assert not any(graph.eager for graph in report.graphs), report
    torch.testing.assert_close(torch.compile(normalised, backend=backend)(IMAGE), normalised(IMAGE))
