"""The dtypes of the language as NumPy knows them: names, what arithmetic is done in, what numbers to try."""

import dataclasses

import ml_dtypes
import numpy as np


@dataclasses.dataclass(frozen=True)
class DType:
    short: str  # as `ferrofuse ops` says it
    language: str  # as definitions say it
    torch: str  # as input lists say it
    file: str  # as safetensors files say it
    numpy: np.dtype

    @property
    def is_float(self):
        return self.short in FLOATS

    @property
    def is_complex(self):
        return self.numpy.kind == "c"

    @property
    def is_half(self):
        """Whether arithmetic is done in f32 instead."""
        return self.is_float and self.short not in ("f32", "f64")

    @property
    def is_unsigned(self):
        return self.numpy.kind == "u"

    @property
    def arithmetic(self):
        """The dtype of arithmetic, which integers wrap back from."""
        narrow = {"i8": "i32", "i16": "i32", "u8": "i32", "u16": "i32", "u32": "i64"}
        return ALL["f32" if self.is_half else narrow.get(self.short, self.short)]

    @property
    def start(self):
        """Where small whole numbers begin that are laid out: above what the dtype has not."""
        return 0.0625 if self.short == "f8e8m0" else 0.0 if self.is_unsigned else -4.0

    @property
    def smallest(self):
        """The smallest number above zero."""
        return float(ml_dtypes.finfo(self.numpy).smallest_subnormal)

    @property
    def largest(self):
        return float(ml_dtypes.finfo(self.numpy).max)

    def rounded(self, wide):
        """The nearest numbers of this dtype. One without zero and sign takes the smallest, and magnitudes."""
        if self.short == "f8e8m0":
            wide = np.maximum(np.abs(wide), np.exp2(-127.0))
        return wide.astype(self.numpy)

    def spacing(self, x):
        """The distance of neighbouring numbers around each x."""
        info = ml_dtypes.finfo(self.numpy)
        _, exponent = np.frexp(np.where(np.isfinite(x), np.abs(x), 0).astype(np.longdouble))
        step = np.ldexp(np.longdouble(1), exponent - 1 - info.nmant)
        return np.maximum(step, np.longdouble(float(info.smallest_subnormal)))


def _all():
    rows = [
        ("bool", "Bool", "bool", "BOOL", np.bool_),
        ("i8", "Char", "int8", "I8", np.int8),
        ("i16", "Short", "int16", "I16", np.int16),
        ("i32", "Int32", "int32", "I32", np.int32),
        ("i64", "Int", "int64", "I64", np.int64),
        ("u8", "Byte", "uint8", "U8", np.uint8),
        ("u16", "UInt16", "uint16", "U16", np.uint16),
        ("u32", "UInt32", "uint32", "U32", np.uint32),
        ("u64", "UInt64", "uint64", "U64", np.uint64),
        ("f8e4m3", "Float8_e4m3fn", "float8_e4m3fn", "F8_E4M3", ml_dtypes.float8_e4m3fn),
        ("f8e5m2", "Float8_e5m2", "float8_e5m2", "F8_E5M2", ml_dtypes.float8_e5m2),
        ("f8e8m0", "Float8_e8m0fnu", "float8_e8m0fnu", "F8_E8M0", ml_dtypes.float8_e8m0fnu),
        ("f16", "Half", "float16", "F16", np.float16),
        ("bf16", "BFloat16", "bfloat16", "BF16", ml_dtypes.bfloat16),
        ("f32", "Float", "float32", "F32", np.float32),
        ("f64", "Double", "float64", "F64", np.float64),
        ("c64", "ComplexFloat", "complex64", "C64", np.complex64),
        ("c128", "ComplexDouble", "complex128", "C128", np.complex128),
    ]
    return {short: DType(short, language, torch, file, np.dtype(kind)) for short, language, torch, file, kind in rows}


FLOATS = ("f8e4m3", "f8e5m2", "f8e8m0", "f16", "bf16", "f32", "f64")
ALL = _all()


def of(array):
    """The dtype of an array."""
    return next(dtype for dtype in ALL.values() if dtype.numpy == array.dtype)


def _special_floats(dtype):
    info = ml_dtypes.finfo(dtype.numpy)
    # Where the format has no infinity or no sign, what NumPy rounds to is as good a number as any.
    magnitudes = [0, dtype.smallest, 3 * dtype.smallest, float(info.smallest_normal), float(info.max), np.inf]
    magnitudes += [0.5, 1, 1.5, 2, 2.5, 3, np.pi / 2, np.pi, 4, 10, 20, 64, 87.5, 90, 104, 1e-3, 1e-6]
    return [sign * x for x in magnitudes for sign in (1, -1)] + [np.nan]


def numbers(short, count=160):
    """Numbers of a dtype that ops find hard, then random ones of many magnitudes; always the same."""
    dtype, random = ALL[short], np.random.default_rng(17)
    if short == "bool":
        return random.integers(0, 2, count).astype(np.bool_)
    if dtype.is_complex:
        part = numbers({"c64": "f32", "c128": "f64"}[short], count)
        return (part + 1j * random.permutation(part)).astype(dtype.numpy)
    if not dtype.is_float:
        info = np.iinfo(dtype.numpy)
        edges = [0, 1, 2, 3, 7, 31, 32, 63, 64, 100, info.min, info.min + 1, info.max, info.max - 1]
        edges += [] if dtype.is_unsigned else [-1, -2, -3, -7, -31, -64, -100]
        near = random.integers(0 if dtype.is_unsigned else -50, 50, count)
        wide = random.integers(info.min, info.max, count, dtype=dtype.numpy)
        return np.array([*edges, *near, *wide][:count], dtype.numpy)
    normal = random.standard_normal(count)
    wide = normal * np.exp2(random.integers(-30, 30, count))
    with np.errstate(all="ignore"):
        return np.array([*_special_floats(dtype), *np.stack([normal, wide], 1).ravel()][:count]).astype(dtype.numpy)


def common(short, count=24):
    """Fewer numbers, for ops that try every pair."""
    dtype = ALL[short]
    if short == "bool":
        return np.array([False, True])
    if dtype.is_complex:
        return numbers(short, 160)[:: 160 // count]
    if not dtype.is_float:
        info = np.iinfo(dtype.numpy)
        signed = [0, 1, 2, 3, 5, 12, 31, 40, 64, info.max, info.min]
        return np.array(signed if dtype.is_unsigned else [*signed, -1, -2, -3, -12], dtype.numpy)
    values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2, -2, 3, -3.25, 5.75, 20, 1e-3, dtype.smallest, dtype.largest]
    with np.errstate(all="ignore"):
        return np.array([*values, np.inf, -np.inf, np.nan]).astype(dtype.numpy)
