"""A case: a call of an op on operands, and what NumPy says it gives. Tables make them; `running` runs them."""

import dataclasses
from collections.abc import Sequence

import numpy as np

import dtypes

STORAGE = 128  # elements behind an operand that is laid out: -4, -3.9375 … 3.9375, exact in halves


@dataclasses.dataclass(frozen=True)
class Layout:
    """Sizes and strides of an operand, in elements."""

    name: str
    sizes: tuple[int, ...]
    strides: tuple[int, ...]


ROWS = Layout("row-major", (5, 7), (7, 1))
COLUMNS = Layout("column-major", (5, 7), (1, 5))
STEPS = Layout("with steps", (5, 7), (24, 3))
EXPANDED = Layout("expanded", (5, 7), (0, 1))
EMPTY = Layout("of size zero", (5, 0), (7, 1))
ZERO_D = Layout("0-d", (), ())
LAYOUTS = (ROWS, COLUMNS, STEPS, EXPANDED, EMPTY, ZERO_D)


@dataclasses.dataclass(frozen=True, eq=False)
class Operand:
    """An array given to the op, as it is, or laid out in memory as a layout says."""

    values: np.ndarray
    layout: Layout | None = None

    @property
    def dtype(self):
        return dtypes.of(self.values)


def dense(values, short=None):
    """An operand that is row-major."""
    values = np.asarray(values)
    return Operand(values if short is None else values.astype(dtypes.ALL[short].numpy))


def laid_out(short, layout):
    """The numbers from -4 (from 0 without a sign), as a layout says; the same array stands for the same input."""
    key = (short, layout)
    if key not in _LAID_OUT:
        dtype = dtypes.ALL[short]
        numbers = first(short) + np.arange(STORAGE) / 16
        flat = numbers.astype(dtype.numpy)
        # NumPy takes strides of its own dtypes only, so the places are strided and not the numbers.
        places = np.arange(STORAGE)
        strides = [stride * places.itemsize for stride in layout.strides]
        _LAID_OUT[key] = Operand(flat[np.lib.stride_tricks.as_strided(places, layout.sizes, strides)], layout)
    return _LAID_OUT[key]


def first(short):
    return dtypes.ALL[short].start


_LAID_OUT: dict = {}


@dataclasses.dataclass(frozen=True)
class Result:
    """What an output shall be: floats as wide as they are known, all else as it is.

    `ulps` are units in the last place of what arithmetic is done in; rounding to `dtype` comes on top, and `absolute`
    where terms cancel. With no ulps and nothing absolute, zeros have the sign they should.
    """

    dtype: str
    values: np.ndarray
    ulps: float = 0.0
    absolute: np.ndarray | float = 0.0
    layout: str = ""


@dataclasses.dataclass(frozen=True)
class Case:
    """`call` is text of the language with `{0}`, `{1}` … for the operands."""

    op: str
    call: str
    operands: Sequence[Operand]
    results: Sequence[Result]

    @property
    def label(self):
        described = [f"{operand.dtype.short}{list(operand.values.shape)}" for operand in self.operands]
        layouts = [operand.layout.name for operand in self.operands if operand.layout]
        return " ".join([self.call.format(*described), *layouts])


def wide(values):
    """Floats as wide as NumPy computes; complex numbers, integers and bools as they are."""
    dtype = dtypes.of(values)
    if not dtype.is_float:
        return values
    return values.astype(np.longdouble if dtype.short == "f64" else np.float64)
