"""What definition files need of torch to list their inputs, in NumPy: constructors with a dtype, and their methods.

Numbers are drawn from NumPy's generator, so they are not torch's.
"""

import types

import ml_dtypes
import numpy as np


class Array(np.ndarray):
    """An array with the methods that lists of inputs call."""

    def to(self, dtype):
        return self.astype(dtype)

    def as_strided(self, sizes, strides, offset=0):
        words = np.asarray(self).reshape(-1)[offset:]
        plain = words.view(f"u{words.itemsize}") if words.itemsize <= 8 else words
        strided = np.lib.stride_tricks.as_strided(plain, sizes, [stride * words.itemsize for stride in strides])
        return strided.view(words.dtype).view(Array)


def module(seed):
    """A stand-in for the module `torch`, whose draws follow the seed."""
    random = np.random.default_rng(seed)

    def made(make):
        def constructor(*sizes, dtype=np.float32):
            shape = sizes[0] if sizes and isinstance(sizes[0], (tuple, list)) else sizes
            return np.asarray(make(tuple(shape))).astype(dtype).view(Array)

        return constructor

    def randint(low, high, shape, dtype=np.int64):
        return random.integers(low, high, tuple(shape)).astype(dtype).view(Array)

    def arange(*limits, dtype=None):
        return np.arange(*limits, dtype=dtype).view(Array)

    names = {
        "randn": made(random.standard_normal),
        "rand": made(random.random),
        "ones": made(np.ones),
        "zeros": made(np.zeros),
        "randint": randint,
        "arange": arange,
    }
    integers = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
    dtypes = ["bool", *integers, "float16", "float32", "float64", "complex64", "complex128"]
    names.update({name: np.dtype(name) for name in dtypes})
    small = ["bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e8m0fnu"]
    names.update({name: np.dtype(getattr(ml_dtypes, name)) for name in small})
    return types.SimpleNamespace(**names)
